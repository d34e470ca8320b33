"""The user's models as cards: search, filters, and the pane about the current one."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.notices.kinds import account
from app.session import Session
from engine.api.model_files import ModelInfo, ModelKind
from ui.actions import ActionName, Actions
from ui.checkpoint_labels import family_about
from ui.delegates.model_delegate import ModelDelegate
from ui.item_models.model_item_model import ModelItemModel, ModelOrder
from ui.keys import bind_key
from ui.model_labels import count_label, kinds_label
from ui.models.details import ModelDetails
from ui.models.invitation import Invitation
from ui.picture_actions import reveal
from ui.shared_keys import begin_search
from ui.theme.metrics import CONTROL_HEIGHT, DETAILS_WIDTH, L, M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.card_view import CardView
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import buddy_label, plain_label, plain_tooltip, rule
from ui.widgets.line_field import MOST_SEARCHED, LineField

# Below this width the filters are below the search, and the pane about a model is narrower.
_WIDE, _NARROW_DETAILS = 1080, 280
# Below this height the invitation has its buttons alone.
_TALL = 480
# The most folders that a tooltip names.
_MOST_NAMED = 10


class YourModels(QWidget):
    """The list of models with its filters at the top, and the details at the side."""

    def __init__(
        self, session: Session, theme: Theme, actions: Actions, pictures: ThumbnailStore
    ) -> None:
        super().__init__()
        self._session = session
        self.item_model = ModelItemModel(session, pictures, self)
        self.search = LineField(MOST_SEARCHED)
        self.kind, self.family, self.order = (ChoiceBox(theme) for _ in range(3))
        self.broken = QPushButton()
        self.broken.setCheckable(True)
        self.broken.setProperty("role", "chip")
        # Leads to the folders.
        self.gone = QPushButton()
        self.gone.setProperty("role", "chip")
        self.count = plain_label("", "caption")
        self.list = CardView(theme, self.item_model, self.tr("Your models"))
        self.list.draw_by(ModelDelegate(theme, self.list))
        # Beneath the reason why there is no list.
        self.again = QPushButton(self.tr("Try again"))
        self.invitation = Invitation()
        self.details = ModelDetails(session, theme)
        self._kept = ""
        self._fill()
        self._lay_out()
        self._connect()
        self._show_gone()
        self.addAction(actions[ActionName.FIND])
        actions[ActionName.FIND].triggered.connect(begin_search(self, self.search))
        self._on_models()

    def current(self) -> ModelInfo | None:
        """Return the current model; None if there is none."""
        index = self.list.currentIndex()
        return self.item_model.info_at(index.row()) if index.isValid() else None

    def choose(self, path: str) -> None:
        """Make a model the current one, if it is shown."""
        row = self.item_model.row_of(path)
        if row is not None:
            index = self.item_model.index(row)
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(index, flags)
            self.list.scrollTo(index)

    def _fill(self) -> None:
        self.search.setPlaceholderText(self.tr("Name, family, trigger word or base model"))
        self.search.setClearButtonEnabled(True)
        self.search.setFixedHeight(CONTROL_HEIGHT)
        self.order.addItem(self.tr("By name"), ModelOrder.NAME.value)
        self.order.addItem(self.tr("Newest first"), ModelOrder.NEWEST.value)
        self.order.addItem(self.tr("Largest first"), ModelOrder.LARGEST.value)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Put the filters below the search in a narrow window, and leave words out of a low one."""
        super().resizeEvent(event)
        is_wide = self.width() >= _WIDE
        to = QBoxLayout.Direction
        self._top.setDirection(to.LeftToRight if is_wide else to.TopToBottom)
        self._top.setSpacing(M if is_wide else S)
        self.details.setFixedWidth(DETAILS_WIDTH if is_wide else _NARROW_DETAILS)
        self.invitation.show_words(shown=self.height() >= _TALL)

    def _make_top(self) -> QBoxLayout:
        """Lay out the search and the filters beside or below it."""
        top = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        top.setContentsMargins(L, 0, L, 0)
        top.addWidget(self.search, 1)
        self.search.setAccessibleName(self.tr("Search"))
        filters = QHBoxLayout()
        filters.setSpacing(S)
        for name, box in (
            (self.tr("Kind"), self.kind),
            (self.tr("Family"), self.family),
            (self.tr("Sort"), self.order),
        ):
            filters.addWidget(buddy_label(name, box))
            filters.addWidget(box, 1)
            if box is not self.order:
                filters.addSpacing(S)
        top.addLayout(filters)
        return top

    def _lay_out(self) -> None:
        self._top = top = self._make_top()
        foot = QHBoxLayout()
        foot.setContentsMargins(L, 0, L, S)
        foot.setSpacing(M)
        foot.addWidget(self.count)
        foot.addStretch()
        foot.addWidget(self.gone)
        foot.addWidget(self.broken)
        column = QVBoxLayout()
        column.setContentsMargins(0, M, 0, 0)
        column.setSpacing(S)
        column.addLayout(top)
        grid = QHBoxLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        # Where a line begins, which margins do not follow.
        grid.addSpacing(L - S)
        grid.addWidget(self.list)
        column.addLayout(grid, 1)
        column.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        low = QHBoxLayout()
        low.setContentsMargins(L, 0, L, S)
        low.addWidget(self.invitation)
        column.addLayout(low)
        column.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(column, 1)
        row.addWidget(rule(Qt.Orientation.Vertical))
        row.addWidget(self.details)

    def _connect(self) -> None:
        session, item_model = self._session, self.item_model
        self.search.textChanged.connect(item_model.search)
        self.order.activated.connect(self._on_order)
        self.kind.activated.connect(self._on_filter)
        self.family.activated.connect(self._on_filter)
        self.broken.toggled.connect(self._on_filter)
        item_model.modelAboutToBeReset.connect(self._keep_current)
        item_model.modelReset.connect(self._on_reset)
        self.list.selectionModel().currentChanged.connect(self._show_current)
        self.again.clicked.connect(session.models.store.refresh)
        self.list.activated.connect(self._use)
        bind_key(self.list, ActionName.TRASH_MODEL, self._trash)
        self.details.reveal.connect(self._reveal)
        session.models.store.changed.connect(self._on_models)
        session.models.folders.changed.connect(self._show_gone)
        session.models.store.listing_changed.connect(self._tell)
        session.checkpoints.families_changed.connect(self._on_models)

    def _show_gone(self) -> None:
        """Tell of folders whose models are not listed because they are not there."""
        gone = self._session.models.folders.gone
        self.gone.setVisible(bool(gone))
        words = self.tr("{n} folders are not there").format(n=self.locale().toString(len(gone)))
        self.gone.setText(self.tr("1 folder is not there") if len(gone) == 1 else words)
        self.gone.setToolTip(plain_tooltip(*map(str, gone[:_MOST_NAMED])))

    def _use(self) -> None:
        model = self.current()
        if model is not None:
            self._session.model.use(model)

    def _reveal(self, path: str) -> None:
        reveal(path, self._session.notices)

    def _trash(self) -> None:
        model = self.current()
        if model is not None:
            self._session.model.trash(model)

    def _on_order(self, row: int) -> None:
        self.item_model.sort_by(ModelOrder(self.order.itemData(row)))

    def _on_filter(self, *_: object) -> None:
        kind = self.kind.currentData()
        self.item_model.filter_by(
            None if kind is None else ModelKind(kind),
            self.family.currentData() or "",
            broken=self.broken.isChecked(),
        )
        self._tell()

    def _on_models(self) -> None:
        """Offer the kinds and families that there are, and tell of the number of files."""
        models = self._session.models.store.models
        usable = [model for model in models if not model.problem]
        kinds = {model.kind for model in usable}
        families = {family for model in usable for family in model.families}
        title = self._session.checkpoints.family_title
        _offer(
            self.kind,
            self.tr("All"),
            [(kinds_label(kind), kind.value) for kind in ModelKind if kind in kinds],
        )
        _offer(
            self.family,
            self.tr("All"),
            sorted((title(family), family) for family in families),
            partial(family_about, self._session),
        )
        broken = len(models) - len(usable)
        if not broken:
            self.broken.setChecked(False)
        self.broken.setVisible(bool(broken))
        text = self.tr("{n} cannot be used").format(n=self.locale().toString(broken))
        self.broken.setText(text)
        self._on_filter()
        self._show_current()

    def _keep_current(self) -> None:
        model = self.current()
        self._kept = model.path if model is not None else self._kept

    def _on_reset(self) -> None:
        """Select the model that was current, or the first."""
        row = self.item_model.row_of(self._kept) or 0
        index = self.item_model.index(row)
        if index.isValid():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(index, flags)
        self._show_current()
        self._tell()

    def _show_current(self, *_: object) -> None:
        self.details.show_model(self.current())

    def _tell(self, *_: object) -> None:
        store = self._session.models.store
        unread = sum(not model.is_read for model in store.models) if store.is_listing else 0
        shown, group = self.item_model.rowCount(), self.item_model.group_size
        # Before the folders are listed, nothing is known of their files.
        is_known = store.is_listed or group > 0
        self.count.setText(count_label(shown, group, unread) if is_known else "")
        self.invitation.setVisible(store.is_listed and not store.has_own)
        failure = store.failure
        self.again.setVisible(failure is not None and not group)
        if shown:
            self.list.tell("")
        elif group:
            self.list.tell(self.tr("No model has these words and is of this kind."))
        elif failure is not None:
            text = self.tr("Your models could not be listed. {reason}")
            self.list.tell(text.format(reason=account(failure)))
        else:
            self.list.tell("" if store.is_listed else self.tr("Looking for your models…"))


def _offer(
    box: ChoiceBox,
    every: str,
    choices: list[tuple[str, str]],
    about: Callable[[str], str] = lambda _: "",
) -> None:
    """Fill a box with choices after that of all; the present choice stays if it is among them."""
    wanted = [(every, None), *choices]
    if [(box.itemText(row), box.itemData(row)) for row in range(box.count())] == wanted:
        return
    chosen = box.currentData()
    box.clear()
    for text, value in wanted:
        box.add_choice(text, value, about(value) if value is not None else "")
    box.setCurrentIndex(max(0, box.findData(chosen)) if chosen is not None else 0)
