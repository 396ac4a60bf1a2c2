"""Revisions, oldest first; a released revision is never edited."""
