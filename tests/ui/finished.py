"""Widgets that are made in slices, made whole for a test."""

from PySide6.QtWidgets import QWidget

from ui.slices import Slices


def finish(widget: QWidget) -> None:
    """Do at once what a widget has to do in slices."""
    for slices in widget.findChildren(Slices):
        slices.finish()
