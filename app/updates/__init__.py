"""Updates: a newer version beside the installed one, and the way back to the one before."""
