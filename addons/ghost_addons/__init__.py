"""Thin adapters between mitmproxy flows and the decision core."""
