"""`ghost demo`: the main job end to end on this machine, with the real commands and no network."""

from ghost_cli.demo.command import demo

__all__ = ["demo"]
