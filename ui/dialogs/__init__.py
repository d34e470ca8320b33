"""Dialogs that open from the main window."""
