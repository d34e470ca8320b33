"""The form: its values, what fills them, and how they outlive the window."""
