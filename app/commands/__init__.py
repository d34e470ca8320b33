"""The commands of the window, which act on the application's state."""
