"""Files of the application's own that survive crashes and damage."""
