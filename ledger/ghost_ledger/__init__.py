"""The signed, append-only record and everything that can check it."""
