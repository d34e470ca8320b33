"""The list of earlier prompts: search, use and forget them."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHBoxLayout,
    QListView,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.form.prompt_history import WrittenPrompt
from app.session import Session
from ui.action_names import ActionName
from ui.delegates.prompt_delegate import PromptDelegate
from ui.item_models.prompt_item_model import PromptItemModel
from ui.key_tips import show_key
from ui.keys import bind_key
from ui.theme.metrics import CONTROL_HEIGHT, L, M, S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable, plain_label
from ui.widgets.line_field import MOST_SEARCHED, LineField
from ui.window_place import room_for

_SIZE = QSize(640, 520)
# Keys of the search field that move in the list.
_OF_LIST = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_WHOLE_LINES = 4


class PromptsDialog(QDialog):
    """A dialog that puts an earlier prompt into the form, with its negative prompt."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._commands = session.earlier
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Earlier prompts"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.model = PromptItemModel(self._commands.history, self)
        self.search = LineField(MOST_SEARCHED)
        self.list = QListView()
        self.whole = plain_label("", "caption", wrap=True)
        self.use = QPushButton(self.tr("Use"))
        self.forget = QPushButton(self.tr("Forget"))
        self.clear = QPushButton(self.tr("Forget all"))
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out(theme)
        self._connect()
        self._on_reset()

    def current(self) -> WrittenPrompt | None:
        """Return the chosen prompt; None if there is none."""
        index = self.list.currentIndex()
        return self.model.prompt_at(index.row()) if index.isValid() else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Give the arrow keys of the search field to the list."""
        is_press = event.type() is QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and event.key() in _OF_LIST:
            QApplication.sendEvent(self.list, event)
            return True
        return super().eventFilter(watched, event)

    def _lay_out(self, theme: Theme) -> None:
        self.search.setPlaceholderText(self.tr("Search in earlier prompts"))
        self.search.setAccessibleName(self.tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.search.setFixedHeight(CONTROL_HEIGHT)
        self.search.installEventFilter(self)
        self.list.setAccessibleName(self.tr("Earlier prompts"))
        self.list.setModel(self.model)
        self.list.setItemDelegate(PromptDelegate(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.whole.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.whole.setFixedHeight(_WHOLE_LINES * self.whole.fontMetrics().lineSpacing())
        about = self.tr("They are kept on this computer only.")
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        show_key(self.use, ActionName.USE_EARLIER)
        show_key(self.forget, ActionName.FORGET_EARLIER)
        for button in (self.use, self.forget, self.clear, self.close_button):
            button.setAutoDefault(False)
        buttons.addWidget(self.use)
        buttons.addWidget(self.forget)
        buttons.addWidget(self.clear)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(L, L, L, M)
        column.setSpacing(S)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        column.addWidget(self.whole)
        column.addWidget(plain_label(about, "caption", wrap=True))
        column.addLayout(buttons)
        self.search.setFocus()

    def _connect(self) -> None:
        self.search.textChanged.connect(self.model.search)
        self.search.returnPressed.connect(self._use)
        self.list.doubleClicked.connect(self._use)
        self.list.selectionModel().currentChanged.connect(self._show_current)
        self.model.modelAboutToBeReset.connect(self._keep_row)
        self.model.modelReset.connect(self._on_reset)
        self.use.clicked.connect(self._use)
        self.forget.clicked.connect(self._forget)
        self.clear.clicked.connect(self._commands.clear)
        self.close_button.clicked.connect(self.accept)
        bind_key(self.list, ActionName.USE_EARLIER, self._use)
        bind_key(self.list, ActionName.FORGET_EARLIER, self._forget)
        self._row = 0

    def _use(self, *_: object) -> None:
        prompt = self.current()
        if prompt is not None:
            self._commands.use(prompt)
            self.accept()

    def _forget(self) -> None:
        prompt = self.current()
        if prompt is not None:
            self._commands.remove(prompt)

    def _keep_row(self) -> None:
        self._row = max(self.list.currentIndex().row(), 0)

    def _on_reset(self) -> None:
        """Choose the row that was chosen, or the last before it."""
        row = min(self._row, self.model.rowCount() - 1)
        self.list.setCurrentIndex(self.model.index(row))
        self._show_current()

    def _show_current(self, *_: object) -> None:
        prompt = self.current()
        for button in (self.use, self.forget):
            button.setEnabled(prompt is not None)
        is_empty = not self._commands.history.prompts
        self.clear.setEnabled(not is_empty)
        if prompt is not None:
            self.whole.setText(breakable(prompt.prompt))
        elif is_empty:
            self.whole.setText(self.tr("Prompts that you make pictures of are listed here."))
        else:
            self.whole.setText(self.tr("No earlier prompt has these words."))
