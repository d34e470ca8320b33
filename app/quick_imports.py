"""Imports beside PySide, without the look into each module's source that it takes."""

from importlib import import_module


def read_no_sources() -> None:
    """Keep PySide from reading the source of every module that is imported from now on.

    It looks for modules that use PySide, as `from __feature__ import` could give Qt's methods other
    names in them. Nothing here does that. The look takes as long as a small module itself, and
    Python keeps each source that was read. Raises ImportError where a library is missing.
    """
    import_module("PySide6.QtCore")
    feature = import_module("shibokensupport.feature")
    # Modules that are not in its list are passed over by PySide.
    vars(feature)["feature_imported"] = _pass_over


def _pass_over(module: object) -> None:
    """Note nothing about a module that was imported."""
