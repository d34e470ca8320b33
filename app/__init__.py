"""The application without pixels: the command line, folders and, later, observable state."""
