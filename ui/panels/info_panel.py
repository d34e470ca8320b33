"""The line under the canvas: the running job's progress, or the picture's settings."""

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.session import Session
from engine.api.values import Phase
from ui.actions import REUSING, ActionName, Actions
from ui.labels import duration, phase_label, settings_summary, size_label, step_duration
from ui.pictures import ReadPicture
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import ElidedLabel

# The interval of updates between steps, in which the time left decreases too.
_TICK_MS = 500
_BAR_PARTS = 1000
# "Almost done" replaces a shorter time left, if this fraction of the job is done.
_ALMOST_S, _ALMOST = 1.5, 0.85
_BUTTONS = (
    (ActionName.COPY_PICTURE, "copy"),
    (ActionName.REVEAL, "reveal"),
    (ActionName.TRASH, "trash"),
)


_USE = ActionName.USE_SETTINGS
_OF_A_PICTURE = (*REUSING, ActionName.START_FROM, ActionName.COPY_PATH)


class InfoPanel(QWidget):
    """Two lines of text, and buttons for actions on the picture."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self._picture: ReadPicture | None = None
        self._actions = actions
        self.setProperty("role", "panel")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, _BAR_PARTS)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.title = ElidedLabel()
        self.detail = ElidedLabel("caption")
        self.watch = QPushButton(self.tr("Follow live"))
        self.use = QPushButton(self.tr("Reuse"))
        self.use.setToolTip(f"{actions[_USE].text()} ({actions.key(_USE)})")
        self.reuse = IconButton(theme, "chevron", self.tr("What to use of it…"))
        self.menu = QMenu(self)
        for name in REUSING:
            self.menu.addAction(actions[name])
        self.start = QPushButton(self.tr("Start from this"))
        self.start.setToolTip(actions.key(ActionName.START_FROM))
        self.buttons = [self._button(theme, name, icon) for name, icon in _BUTTONS]
        self._lay_out()
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._refresh)
        self.use.clicked.connect(actions[_USE].trigger)
        self.reuse.clicked.connect(self._show_menu)
        self.start.clicked.connect(actions[ActionName.START_FROM].trigger)
        self.watch.clicked.connect(session.view.follow)
        session.progress.changed.connect(self._refresh)
        session.view.live_changed.connect(self._refresh)
        session.view.path_changed.connect(self._refresh)
        self._refresh()

    def show_picture(self, picture: ReadPicture) -> None:
        """Show the settings of the picture on the canvas."""
        self._picture = picture
        self._refresh()

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.detail)
        row = QHBoxLayout()
        row.setContentsMargins(M, S, S, S)
        row.setSpacing(S)
        row.addLayout(words, 1)
        for button in (self.watch, self.use, self.reuse, self.start, *self.buttons):
            row.addWidget(button)
        row.addStrut(40)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addLayout(row)

    def _button(self, theme: Theme, name: ActionName, icon: str) -> IconButton:
        action = self._actions[name]
        button = IconButton(theme, icon, action.text())
        button.set_name(action.text(), self._actions.key(name))
        button.clicked.connect(action.trigger)
        return button

    def _show_menu(self) -> None:
        self.menu.popup(self.reuse.mapToGlobal(self.reuse.rect().bottomLeft()))

    def _refresh(self) -> None:
        progress, view = self._session.progress, self._session.view
        running = progress.job is not None
        live = self._session.pictures.is_live
        if running and not self._tick.isActive():
            self._tick.start()
        elif not running:
            self._tick.stop()
        self._refresh_bar()
        if live:
            self._tell(self._progress_title(), self._progress_detail())
        elif view.path is not None:
            self._tell_picture(view.path)
        else:
            folder = self._session.gallery.folder
            self._tell(
                self.tr("No picture yet"),
                self.tr("Pictures are saved in {folder}").format(folder=folder),
            )
        has_picture = view.path is not None and not live
        self.watch.setVisible(running and not view.live)
        for button in (self.use, self.reuse, self.start, *self.buttons):
            button.setVisible(has_picture)
        for name in (*_OF_A_PICTURE, *(n for n, _ in _BUTTONS)):
            self._actions[name].setEnabled(has_picture)

    def _refresh_bar(self) -> None:
        # The fraction of the whole job; an animation would take computing time from the engine.
        self.bar.setValue(round(_BAR_PARTS * self._session.progress.fraction))

    def _progress_title(self) -> str:
        progress = self._session.progress
        if progress.stopping:
            return self.tr("Stopping…")
        if progress.phase is None:
            return self.tr("Waiting for the engine…")
        label = phase_label(progress.phase, once=progress.once)
        if progress.phase is Phase.DENOISE and progress.total is not None:
            return self.tr("{phase} · step {done} of {total}").format(
                phase=label, done=progress.done, total=progress.total
            )
        left = progress.phase_seconds_left
        if progress.once and left is not None and left >= _ALMOST_S:
            # Shown even if the duration of the rest of the job is unknown.
            return self.tr("{phase}, about {time}").format(phase=label, time=duration(left))
        return self.tr("{phase}…").format(phase=label)

    def _progress_detail(self) -> str:
        progress = self._session.progress
        if progress.stopping:
            loads = progress.phase is Phase.COMPILE
            return self.tr("A network that is being loaded may be finished first") if loads else ""
        parts: list[str] = []
        left = progress.seconds_left
        if left is not None and left < _ALMOST_S:
            if progress.fraction >= _ALMOST:
                parts.append(self.tr("almost done"))
        elif left is not None:
            parts.append(self.tr("about {time} left").format(time=duration(left)))
        elif progress.is_overdue:
            parts.append(self.tr("this takes longer than it did before"))
        if progress.seconds_per_step is not None:
            parts.append(step_duration(progress.seconds_per_step))
        if not parts and progress.job is not None:
            job = self._session.queue.job(progress.job)
            parts.append(job.request.prompt if job else "")
        return " · ".join(parts)

    def _tell_picture(self, path: str) -> None:
        picture = self._picture
        if picture is None or picture.path != path:
            # The text changes together with the canvas, when the file has been read.
            return
        if picture.image.isNull():
            self._tell(self.tr("This file cannot be shown as a picture."), Path(path).name)
        elif picture.request is None:
            self._tell(Path(path).name, size_label(picture.width, picture.height))
        else:
            prompt = picture.request.prompt.strip()
            self._tell(prompt or self.tr("Without a prompt"), settings_summary(picture.request))

    def _tell(self, title: str, detail: str) -> None:
        self.title.setText(title)
        self.detail.setText(detail)
        self.bar.setAccessibleDescription(f"{title} {detail}"[:200])
