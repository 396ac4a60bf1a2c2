"""`ghost demo`: the main job end to end on this machine, with the real commands and no network."""
