"""The fixtures of the window, for the form that follows the family's features."""

from tests.ui.conftest import dark_theme, theme

__all__ = ["dark_theme", "theme"]
