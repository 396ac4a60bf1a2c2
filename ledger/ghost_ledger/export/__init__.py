"""Views of a session for people and scripts: computed from evidence, never evidence themselves."""
