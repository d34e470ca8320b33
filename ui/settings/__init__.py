"""The place of the settings: sections of rows, a search over them, shortcuts, privacy, about."""
