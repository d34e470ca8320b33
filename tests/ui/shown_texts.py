"""Every text that the open windows show or say, also in lists, menus and what is folded away."""

from collections.abc import Iterator

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
# Of a long list the first rows say what the others do.
_MOST_ROWS = 60


def shown_texts() -> set[str]:
    """The texts of all windows that are open; what a person typed is none of them."""
    found = {text for window in QApplication.topLevelWidgets() for text in _of_window(window)}
    return found - {""}


def _of_window(window: QWidget) -> Iterator[str]:
    if window.isHidden():
        return
    yield window.windowTitle()
    for widget in (window, *window.findChildren(QWidget)):
        yield from _of_widget(widget)
        for action in widget.actions():
            yield from _of_action(action)


def _of_action(action: QAction) -> Iterator[str]:
    if action.isSeparator():
        return
    yield action.text()
    yield action.toolTip()
    menu = action.menu()
    if isinstance(menu, QMenu):
        for entry in menu.actions():
            yield from _of_action(entry)


def _of_widget(widget: QWidget) -> Iterator[str]:
    yield widget.accessibleName()
    yield widget.accessibleDescription()
    yield widget.toolTip()
    match widget:
        case QLabel() | QAbstractButton():
            yield widget.text()
        case QGroupBox():
            yield widget.title()
        case QLineEdit() | QPlainTextEdit():
            yield widget.placeholderText()
        case QTabBar():
            yield from (widget.tabText(number) for number in range(widget.count()))
        case QComboBox() | QAbstractItemView():
            yield from _of_model(widget.model())
        case _:
            pass


def _of_model(model: QAbstractItemModel | None) -> Iterator[str]:
    for row in range(min(model.rowCount(QModelIndex()), _MOST_ROWS) if model else 0):
        assert model is not None
        if (
            model.data(model.index(row, 0), Qt.ItemDataRole.AccessibleDescriptionRole)
            == "separator"
        ):
            # A mark of Qt's, which draws such a row as a line.
            continue
        for role in _ROLES:
            text = model.data(model.index(row, 0), role)
            if isinstance(text, str):
                yield text
