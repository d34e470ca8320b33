"""The bars at the top of the canvas: a problem of the engine, and the latest notice."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QVBoxLayout, QWidget

from app.engine.process import EngineState
from app.notices.notices import Notice
from app.notices.remedies import NoticeAction, advice, pack_wanted
from app.notices.report import error_report
from app.paths import nearest_folder
from app.session import Session
from ui.actions import ActionName, Actions
from ui.labels import size_label
from ui.theme.theme import Theme
from ui.widgets.notice_bar import NoticeBar

# The window's action that lets the user choose, for each remedy that needs a choice.
_CHOSEN_BY = {
    NoticeAction.CHOOSE_CHECKPOINT: ActionName.OPEN,
    NoticeAction.CHOOSE_START_PICTURE: ActionName.OPEN_START,
}


class NoticePanel(QWidget):
    """A bar for the engine's problem and a bar for the latest notice, each hidden without one."""

    def __init__(
        self,
        session: Session,
        theme: Theme,
        actions: Actions,
        show_runtimes: Callable[[str], object],
    ) -> None:
        """Create the bars; `show_runtimes` opens the runtimes at a pack."""
        super().__init__()
        self._session, self._actions = session, actions
        self._show_runtimes = show_runtimes
        # The notice whose button last asked for a choice.
        self._asking: Notice | None = None
        self.engine_bar = NoticeBar(theme)
        self.engine_bar.dismiss.hide()
        self._force_stop = self.engine_bar.add_button(self.tr("Force stop"))
        self._start_again = self.engine_bar.add_button(self.tr("Start again"))
        self._copy_problem = self.engine_bar.add_button(self.tr("Copy report"))
        self.notice_bar = NoticeBar(theme)
        self.remedies = {action: self._add_remedy(action) for action in NoticeAction}
        self.copy_report = self.notice_bar.add_button(self.tr("Copy report"))
        self.copy_all = self.notice_bar.add_button(self.tr("Copy all"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.engine_bar)
        layout.addWidget(self.notice_bar)
        self._connect()
        self._refresh_engine()
        self._refresh_notice()

    def _connect(self) -> None:
        session = self._session
        session.engine.state_changed.connect(self._refresh_engine)
        session.engine.problem_changed.connect(self._refresh_engine)
        session.notices.changed.connect(self._refresh_notice)
        session.generation.checkpoint_changed.connect(self._on_chosen)
        session.generation.inputs_changed.connect(self._on_chosen)
        self._force_stop.clicked.connect(session.engine.force_stop)
        self._start_again.clicked.connect(session.engine.start_again)
        self._copy_problem.clicked.connect(self._on_copy_problem)
        self.notice_bar.dismiss.clicked.connect(self._on_dismiss)
        self.copy_report.clicked.connect(self._on_copy_report)
        self.copy_all.clicked.connect(self._on_copy_all)

    def _add_remedy(self, action: NoticeAction) -> QPushButton:
        button = self.notice_bar.add_button("")
        button.clicked.connect(partial(self._on_remedy, action))
        return button

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
            self.engine_bar.tell(problem.message, advice(problem), failure=True)
        self._force_stop.setVisible(hangs)
        self._start_again.setVisible(not hangs)
        self._copy_problem.setVisible(not hangs)
        self.engine_bar.setVisible(hangs or problem is not None)

    def _refresh_notice(self) -> None:
        notice = self._notice()
        if notice is not None:
            self.notice_bar.tell(
                notice.message,
                notice.hint,
                failure=notice.error is not None,
                details=notice.details,
            )
            self.copy_all.setVisible(not self.notice_bar.says_all)
            self.copy_report.setVisible(notice.error is not None)
            for action, button in self.remedies.items():
                label = self._label(action, notice) if action in notice.actions else ""
                button.setText(label)
                button.setVisible(bool(label))
        self.notice_bar.setVisible(notice is not None)

    def _notice(self) -> Notice | None:
        notices = self._session.notices.notices
        return notices[-1] if notices else None

    def _label(self, action: NoticeAction, notice: Notice) -> str:
        """Return the text of an action's button; empty if the action is impossible."""
        if action is NoticeAction.RETRY_SMALLER:
            sizes = self._session.remedies.smaller_sizes(notice)
            if len(sizes) > 1:
                return self.tr("Try smaller sizes")
            return "".join(self.tr("Try {size}").format(size=size_label(*one)) for one in sizes)
        return {
            NoticeAction.RETRY: self.tr("Try again"),
            NoticeAction.CHOOSE_FOLDER: self.tr("Choose another folder…"),
            NoticeAction.CHOOSE_CHECKPOINT: self.tr("Choose a model…"),
            NoticeAction.CHOOSE_START_PICTURE: self.tr("Choose a picture…"),
            NoticeAction.LORA_FOLDERS: self.tr("LoRA folders…"),
            NoticeAction.RUNTIMES: self.tr("Runtimes…"),
            NoticeAction.CHECK_DEVICES: self.tr("Check the hardware again"),
            NoticeAction.UNDO_CHANGE: self.tr("Undo"),
            NoticeAction.MAKE_AGAIN: self.tr("Make it again"),
            NoticeAction.UNDO_TRASH: self.tr("Put back"),
            NoticeAction.CANCEL_ALL: self.tr("Cancel all"),
        }[action]

    def _on_dismiss(self) -> None:
        notice = self._notice()
        if notice is not None:
            self._session.remedies.dismiss(notice)

    def _on_remedy(self, action: NoticeAction) -> None:
        notice = self._notice()
        if notice is None:
            return
        if action is NoticeAction.CHOOSE_FOLDER:
            self._choose_folder(notice)
        elif action is NoticeAction.LORA_FOLDERS:
            self._session.remedies.dismiss(notice)
            self._show_lora_folders()
        elif action is NoticeAction.RUNTIMES:
            self._session.remedies.dismiss(notice)
            self._show_runtimes(pack_wanted(notice.error))
        elif action in _CHOSEN_BY:
            # The notice stays until the user has chosen.
            self._asking = notice
            self._actions[_CHOSEN_BY[action]].trigger()
        else:
            self._session.remedies.act(notice, action)

    def _show_lora_folders(self) -> None:
        # Here, as the window starts sooner without its dialogs.
        from ui.dialogs.lora_folders_dialog import LoraFoldersDialog

        LoraFoldersDialog(self._session, self.window()).open()

    def _choose_folder(self, notice: Notice) -> None:
        before = nearest_folder(self._session.gallery.folder.parent)
        title = self.tr("A folder for pictures")
        folder = QFileDialog.getExistingDirectory(self, title, before)
        if folder:
            self._session.remedies.save_elsewhere(notice, Path(folder))

    def _on_chosen(self, *_: object) -> None:
        """Dismiss the notice that asked for a choice; reading the chosen file may take a moment."""
        if self._asking is not None:
            self._session.remedies.dismiss(self._asking)
            self._asking = None

    def _on_copy_report(self) -> None:
        notice = self._notice()
        if notice is not None and notice.error is not None:
            QApplication.clipboard().setText(error_report(notice.error))

    def _on_copy_all(self) -> None:
        notice = self._notice()
        if notice is not None:
            lines = (notice.message, notice.hint, *notice.details)
            QApplication.clipboard().setText("\n".join(line for line in lines if line))

    def _on_copy_problem(self) -> None:
        if self._session.engine.problem is not None:
            QApplication.clipboard().setText(error_report(self._session.engine.problem))
