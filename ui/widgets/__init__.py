"""Controls that know nothing of the application."""
