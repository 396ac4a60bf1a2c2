"""Jinja templates and the one function that renders them."""
