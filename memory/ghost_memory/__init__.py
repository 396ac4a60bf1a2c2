"""What agents remember: memories, decisions, tasks, found again without a model, a key or a network."""
