"""What each agent client needs: environment, CA settings, profile."""
