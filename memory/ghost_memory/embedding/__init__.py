"""Turning text into vectors: a table that is shipped, or a model that somebody serves."""
