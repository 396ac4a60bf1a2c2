"""What the server offers, as plain tables: listing it loads nothing of the store."""
