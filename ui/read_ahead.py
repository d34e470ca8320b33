"""The code of the pages and dialogs, read before they are opened.

A window starts sooner without it. Read when a page is opened, it would hold the window up.
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from PySide6.QtCore import QObject

from app.background import Background
from ui.slices import Slices

# The second compiles large expressions, for longer than a frame.
_WITHOUT_QT = ("engine.metadata.readers", "tomllib")
# What others use comes first, that no piece brings much with it.
_PACKAGES = (
    "app.gallery",
    "ui.delegates",
    "ui.item_models",
    "ui.widgets",
    "ui.panels",
    "ui.gallery",
    "ui.models",
    "ui.settings",
    "ui.dialogs",
)


def read_ahead(background: Background, parent: QObject) -> None:
    """Begin to read: what knows nothing of Qt on another thread, then the pages in slices."""

    def begin(_: object) -> None:
        Slices(read_pages(), parent)

    background.run(lambda: [import_module(name) for name in _WITHOUT_QT], begin)


def read_pages() -> Iterator[None]:
    """Import all modules of the pages, one for each value."""
    for package in _PACKAGES:
        names = [module.name for module in iter_modules(import_module(package).__path__)]
        # A page imports most of the others.
        for name in sorted(names, key=lambda name: (name != "page", name), reverse=True):
            import_module(f"{package}.{name}")
            yield
