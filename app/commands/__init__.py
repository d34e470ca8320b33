"""The commands of the window, each with what it needs of the application's state."""
