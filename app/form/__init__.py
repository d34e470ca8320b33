"""The form: its values, the changes to them, and the file that keeps them for the next start."""
