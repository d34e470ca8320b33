"""General controls, independent of the application's state."""
