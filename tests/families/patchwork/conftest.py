"""The fixtures of the window, for the form that follows the family's features."""

from tests.ui.conftest import theme

__all__ = ["theme"]
