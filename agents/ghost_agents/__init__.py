"""What each agent client needs: environment, CA settings, profile, and helpers for Python clients."""

from ghost_agents.clients import possess_langchain, possess_openai, possess_requests

__all__ = ["possess_langchain", "possess_openai", "possess_requests"]
