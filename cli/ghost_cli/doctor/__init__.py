"""`ghost doctor`: what would go wrong here, and the command that mends it."""
