"""The top of the canvas: what the engine is in trouble with, and what there is to tell."""

from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.engine_process import EngineState
from app.notices import Notice, Remedy
from app.report import error_report
from app.session import Session
from ui.theme.theme import Theme
from ui.widgets.notice_bar import NoticeBar


class NoticePanel(QWidget):
    """One bar for the engine, one for the latest notice; nothing where all is well."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session = session
        self.engine_bar = NoticeBar(theme)
        self.engine_bar.dismiss.hide()
        self._force_stop = self.engine_bar.add_button(self.tr("Force stop"))
        self._start_again = self.engine_bar.add_button(self.tr("Start again"))
        self._copy_problem = self.engine_bar.add_button(self.tr("Copy report"))
        self.notice_bar = NoticeBar(theme)
        self.remedy = self.notice_bar.add_button("")
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
        session.engine_state_changed.connect(self._refresh_engine)
        session.engine_problem_changed.connect(self._refresh_engine)
        session.notices.changed.connect(self._refresh_notice)
        self._force_stop.clicked.connect(session.force_stop)
        self._start_again.clicked.connect(session.start_again)
        self._copy_problem.clicked.connect(self._on_copy_problem)
        self.notice_bar.dismiss.clicked.connect(self._on_dismiss)
        self.copy_report.clicked.connect(self._on_copy_report)
        self.copy_all.clicked.connect(self._on_copy_all)
        self.remedy.clicked.connect(self._on_remedy)

    def _refresh_engine(self) -> None:
        problem = self._session.engine_problem
        hangs = self._session.engine_state is EngineState.NOT_ANSWERING
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
            self.engine_bar.tell(problem.message, problem.hint, failure=True)
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
            self.remedy.setVisible(notice.remedy is not None)
            if notice.remedy is not None:
                self.remedy.setText(self._remedy_label(notice.remedy))
        self.notice_bar.setVisible(notice is not None)

    def _notice(self) -> Notice | None:
        notices = self._session.notices.notices
        return notices[-1] if notices else None

    def _remedy_label(self, remedy: Remedy) -> str:
        return {
            Remedy.RETRY: self.tr("Try again"),
            Remedy.UNDO_TRASH: self.tr("Put back"),
            Remedy.CANCEL_ALL: self.tr("Cancel all"),
        }[remedy]

    def _on_dismiss(self) -> None:
        notice = self._notice()
        if notice is not None:
            self._session.notices.dismiss(notice.number)

    def _on_remedy(self) -> None:
        notice = self._notice()
        if notice is not None:
            self._session.remedy(notice)

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
        if self._session.engine_problem is not None:
            QApplication.clipboard().setText(error_report(self._session.engine_problem))
