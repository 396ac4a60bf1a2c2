"""What every room needs: errors, ids, clock, paths, settings, secrets, engine."""
