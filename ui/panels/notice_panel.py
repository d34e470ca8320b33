"""The messages over the page: a problem of the engine, the latest failure, and notes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.commands.retries import fitting_files, parts_wanted
from app.engine.process import EngineState
from app.notices.kinds import explanation, title
from app.notices.notices import Notice
from app.notices.remedies import NoticeAction, pack_wanted, start_picture
from app.notices.wording import worded
from app.paths import nearest_folder
from app.session import Session
from engine.api.remedies import PartFile
from ui.actions import ActionName, Actions
from ui.checkpoint_labels import part_label
from ui.files.chooser import FileChooser
from ui.files.kinds import model_kinds
from ui.focus_return import FocusReturn
from ui.model_folder import ask_where
from ui.panels.notice_card import NoticeCard
from ui.picture_actions import open_folder
from ui.theme.metrics import S
from ui.theme.theme import Theme
from ui.widgets.notice_bar import NoticeBar

# The window's action to which a remedy leads.
_OPENED_BY = {
    NoticeAction.OPEN_PICTURE: ActionName.OPEN,
    NoticeAction.FREE_SPACE: ActionName.DEVICES,
    NoticeAction.UPDATES: ActionName.UPDATES,
    NoticeAction.EDIT: ActionName.EDIT_PROMPT,
}
# The most notes in sight, alone and beside a failure, which is high: another sends the oldest away.
_MOST_NOTES, _MOST_BESIDE_FAILURE = 3, 1
# Stands for the engine's problem among the numbers of notices, which begin with 0.
_ENGINE = -1


class NoticePanel(QWidget):
    """A bar for the engine's problem, a card for the latest failure, and cards of notes."""

    # Cards came or went.
    changed = Signal()
    # The path of a picture to start from.
    start_wanted = Signal(str)
    # Pictures to show, by their paths.
    pictures_wanted = Signal(object)

    def __init__(
        self,
        session: Session,
        theme: Theme,
        actions: Actions,
        show_runtimes: Callable[[str], object],
    ) -> None:
        """Create the bars; `show_runtimes` opens the runtimes at a pack."""
        super().__init__()
        self._session, self._theme, self._actions = session, theme, actions
        self._show_runtimes = show_runtimes
        # The notice whose button last asked for a start picture.
        self._asking: Notice | None = None
        self.engine_bar = NoticeBar(theme, self._problem_report)
        self.engine_bar.dismiss.hide()
        self._force_stop = self.engine_bar.add_button(self.tr("Force stop"))
        self._start_again = self.engine_bar.add_button(self.tr("Start again"))
        self._start_again.setProperty("role", "action")
        self._focus = FocusReturn(self)
        self._cards: dict[int, NoticeCard] = {}
        # The numbers of the cards that are folded away; the engine's problem is one of them.
        self._folded: frozenset[int] = frozenset()
        self._has_problem = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(S)
        self._column.addWidget(self.engine_bar)
        self._connect()
        self._refresh_engine()
        self._refresh_notices()

    @property
    def cards(self) -> tuple[NoticeCard, ...]:
        """The cards in sight: the latest failure, then the notes, the newest last."""
        return tuple(self._cards.values())

    @property
    def shown(self) -> int:
        """The number of messages in sight."""
        return len(self._present() - self._folded)

    @property
    def folded(self) -> int:
        """The number of messages that are folded away, with the failures behind a folded one."""
        every = {notice.number: notice for notice in self._session.notices.notices}
        behind = 0
        if any(number in every and every[number].error for number in self._folded):
            behind = sum(1 for number in every if number not in self._cards)
        return len(self._present() & self._folded) + behind

    def fold(self) -> None:
        """Fold the messages away that are in sight; those that come later are shown."""
        self._folded = self._present()
        self._show_unfolded()

    def unfold(self) -> None:
        """Show all messages again."""
        self._folded = frozenset()
        self._show_unfolded()

    def _present(self) -> frozenset[int]:
        engine = (_ENGINE,) if self._has_problem else ()
        return frozenset((*self._cards, *engine))

    def _show_unfolded(self) -> None:
        for number, card in self._cards.items():
            card.setVisible(number not in self._folded)
        self.engine_bar.setVisible(self._has_problem and _ENGINE not in self._folded)
        self.changed.emit()

    def _connect(self) -> None:
        session = self._session
        session.engine.state_changed.connect(self._refresh_engine)
        session.engine.problem_changed.connect(self._refresh_engine)
        session.notices.changed.connect(self._refresh_notices)
        session.generation.inputs_changed.connect(self._on_chosen)
        self._force_stop.clicked.connect(session.engine.force_stop)
        self._start_again.clicked.connect(session.engine.start_again)

    def _refresh_engine(self) -> None:
        problem = self._session.engine.problem
        hangs = self._session.engine.state is EngineState.NOT_ANSWERING
        if hangs:
            self.engine_bar.tell(
                self.tr("The engine is not answering."),
                self.tr(
                    "It may be busy with something large. You can wait, or stop it by force: "
                    "finished pictures are safe, and the one being made starts again."
                ),
                failure=False,
            )
        elif problem is not None:
            name, words = title(problem.code), worded(problem.text)
            self.engine_bar.tell(words, explanation(problem), failure=True, title=name)
        self._force_stop.setVisible(hangs)
        self._start_again.setVisible(not hangs)
        has_problem = hangs or problem is not None
        if has_problem != self._has_problem:
            self._has_problem, self._folded = has_problem, self._folded - {_ENGINE}
        self._show_unfolded()

    def _refresh_notices(self) -> None:
        notices = self._session.notices.notices
        every = [notice for notice in notices if notice.error is not None]
        failures = every[-1:]
        notes = [notice for notice in notices if notice.error is None]
        most = _MOST_BESIDE_FAILURE if failures else _MOST_NOTES
        for old in notes[:-most]:
            # It comes back here, without this one.
            self._session.notices.dismiss(old.number)
            return
        shown = {notice.number: notice for notice in (*failures, *notes)}
        for number in [number for number in self._cards if number not in shown]:
            card = self._cards.pop(number)
            self._focus.lead_out_of(card)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        for place, (number, notice) in enumerate(shown.items(), start=1):
            if number not in self._cards:
                self._cards[number] = self._card(notice)
                self._column.insertWidget(place, self._cards[number])
        self._cards = {number: self._cards[number] for number in shown}
        for failure in failures:
            self._cards[failure.number].tell_behind(len(every) - 1)
        self._show_unfolded()

    def _card(self, notice: Notice) -> NoticeCard:
        card = NoticeCard(self._theme, self._session.remedies, notice)
        card.acted.connect(partial(self._on_remedy, notice))
        card.dismiss.clicked.connect(partial(self._session.remedies.dismiss, notice))
        card.left.connect(partial(self._session.remedies.dismiss, notice))
        return card

    def _on_remedy(self, notice: Notice, action: NoticeAction) -> None:
        remedies = self._session.remedies
        asked: dict[NoticeAction, Callable[[Notice], object]] = {
            NoticeAction.CHOOSE_FOLDER: self._choose_folder,
            NoticeAction.FIND_CHECKPOINT: self._find_checkpoint,
            NoticeAction.CHOOSE_CHECKPOINT: self._choose_checkpoint,
            NoticeAction.SUPPLY_PARTS: self._supply_parts,
        }
        shown: dict[NoticeAction, Callable[[], object]] = {
            NoticeAction.LORA_FOLDERS: self._show_lora_folders,
            NoticeAction.RUNTIMES: lambda: self._show_runtimes(pack_wanted(notice.error)),
            NoticeAction.ABOUT_CHECKPOINT: self._show_checkpoint,
            NoticeAction.SHOW_STATE: lambda: open_folder(
                str(self._session.state_folder), self._session.notices
            ),
            NoticeAction.SHOW_SETTINGS: lambda: open_folder(
                str(self._session.settings.path.parent), self._session.notices
            ),
        }
        if action in asked:
            asked[action](notice)
        elif action is NoticeAction.START_FROM:
            remedies.dismiss(notice)
            self.start_wanted.emit(start_picture(notice.error))
        elif action is NoticeAction.SHOW_PICTURES:
            remedies.dismiss(notice)
            self.pictures_wanted.emit(notice.pictures)
        elif action is NoticeAction.CHOOSE_START_PICTURE:
            # The notice stays until the user has chosen.
            self._asking = notice
            self._actions[ActionName.OPEN_START].trigger()
        else:
            remedies.act(notice, action)
            if action in shown:
                shown[action]()
            elif action in _OPENED_BY:
                self._actions[_OPENED_BY[action]].trigger()

    def _show_lora_folders(self) -> None:
        # Here, as the window starts sooner without its dialogs.
        from ui.dialogs.lora_folders_dialog import LoraFoldersDialog

        LoraFoldersDialog(self._session, self.window()).open()

    def _show_checkpoint(self) -> None:
        from ui.dialogs.checkpoint_dialog import CheckpointDialog

        CheckpointDialog(self._session, self._theme, self.window()).open()

    def _choose_folder(self, notice: Notice) -> None:
        before = nearest_folder(self._session.output_pictures.folder.parent)
        title = self.tr("A folder for pictures")
        folder = FileChooser.open_folder(self, title, before)
        if folder:
            self._session.remedies.save_elsewhere(notice, Path(folder))

    def _find_checkpoint(self, notice: Notice) -> None:
        missing = self._session.remedies.missing_checkpoint(notice)
        file = ask_where(self._session, self, missing) if missing is not None else ""
        if file:
            self._session.remedies.use_found(notice, Path(file))

    def _choose_checkpoint(self, notice: Notice) -> None:
        file = self._asked_model(self.tr("A model for this picture"))
        if file:
            self._session.remedies.use_other(notice, Path(file))

    def _supply_parts(self, notice: Notice) -> None:
        files = fitting_files(notice)
        if not files:
            part = parts_wanted(notice)[0]
            named = self.tr("A file with this part: {part}").format(part=part_label(part))
            file = self._asked_model(named)
            files = (PartFile(component=part, path=file),) if file else ()
        if files:
            self._session.remedies.supply(notice, files)

    def _asked_model(self, title: str) -> str:
        """Return the file that the user chose; empty if none."""
        before = nearest_folder(self._session.checkpoints.models)
        return FileChooser.open_file(self, title, before, model_kinds())

    def _on_chosen(self, *_: object) -> None:
        """Dismiss the notice that asked for a start picture; to read it may take a moment."""
        if self._asking is not None:
            self._session.remedies.dismiss(self._asking)
            self._asking = None

    def _problem_report(self) -> str:
        problem = self._session.engine.problem
        return self._session.remedies.report_of(problem) if problem is not None else ""
