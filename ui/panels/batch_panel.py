"""The pictures of a batch side by side, while they are made and afterwards."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.decoding import Decoded, decode
from app.queue.jobs import Job, JobState
from app.queue.progress import Preview
from app.session import Session
from ui.pictures import preview_image
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.batch_cell import BatchCell

# The longest side of a picture in the grid, in device pixels.
_LONGEST = 1024
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class BatchPanel(QWidget):
    """A grid of the batch's pictures; one that is pressed is shown alone. Arrow keys move."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.cells: dict[str, BatchCell] = {}
        # The picture's path that each cell shows, or will show.
        self._paths: dict[str, str] = {}
        self._columns = 1
        self.setAccessibleName(self.tr("Pictures of this batch"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(M, M, M, M)
        self._grid.setSpacing(S)
        session.batch.changed.connect(self.refresh)
        session.progress.preview_changed.connect(self._on_preview)
        session.view.path_changed.connect(self._mark)
        theme.changed.connect(self.update)

    def refresh(self) -> None:
        """Show the jobs of the batch, if the grid is visible."""
        if not self.isVisible():
            return
        jobs = self._session.batch.shown
        if [job.id for job in jobs] != list(self.cells):
            self._make_cells(jobs)
        first = self._session.batch.number(jobs[0].id) if jobs else 1
        for number, job in enumerate(jobs, first):
            self._show_job(job, number)
        self._mark()

    def _make_cells(self, jobs: tuple[Job, ...]) -> None:
        for job in self.cells.keys() - {job.id for job in jobs}:
            self.cells.pop(job).deleteLater()
            self._paths.pop(job, None)
        known = self.cells
        self.cells = {job.id: known.get(job.id) or self._make_cell(job) for job in jobs}
        self._arrange()

    def _make_cell(self, job: Job) -> BatchCell:
        cell = BatchCell(self._theme)
        cell.clicked.connect(partial(self._open, job.id))
        cell.show_sheet(self._shape(job), failed=False)
        return cell

    def _show_job(self, job: Job, number: int) -> None:
        cell = self.cells[job.id]
        states = {
            JobState.WAITING: self.tr("Picture {n} of {all}, waiting"),
            JobState.RUNNING: self.tr("Picture {n} of {all}, being made"),
            JobState.FAILED: self.tr("Picture {n} of {all}, failed"),
        }
        name = states.get(job.state, self.tr("Picture {n} of {all}"))
        cell.setAccessibleName(name.format(n=number, all=self._session.batch.count))
        if job.images:
            self._read(job.id, job.images[-1])
        elif job.state is JobState.FAILED:
            cell.show_sheet(self._shape(job), failed=True)

    def _read(self, job: str, path: str) -> None:
        if self._paths.get(job) == path:
            return
        self._paths[job] = path

        def show(decoded: Decoded) -> None:
            if self._paths.get(job) == path and job in self.cells:
                self.cells[job].show_image(decoded.image)

        self._session.background.run(lambda: decode(path, QSize(_LONGEST, _LONGEST)), show)

    def _on_preview(self, preview: Preview | None) -> None:
        if preview is None or preview.job not in self.cells or not self.isVisible():
            return
        room = self.cells[preview.job].size() * self.devicePixelRatioF()

        def enlarge() -> QImage:
            return preview_image(preview.pixels, preview.width, preview.height, room)

        def show(image: QImage) -> None:
            if preview.job in self.cells and preview.job not in self._paths:
                self.cells[preview.job].show_image(image)

        self._session.background.run(enlarge, show)

    def _open(self, job: str) -> None:
        """Show a picture, or the one that is being made, alone."""
        state = next((shown for shown in self._session.batch.jobs if shown.id == job), None)
        if state is not None and state.images:
            self._session.view.choose(state.images[-1])
        elif state is not None and state.state is JobState.RUNNING:
            self._session.view.alone = True

    def _mark(self) -> None:
        shown = self._session.view.path
        for job, cell in self.cells.items():
            cell.mark(marked=shown is not None and self._paths.get(job) == shown)

    def _shape(self, job: Job) -> QSize:
        effective = self._session.generation.effective
        request = job.request
        return QSize(request.width or effective.width, request.height or effective.height)

    # --- layout ---

    def _arrange(self) -> None:
        """Place the cells in as many columns as make the pictures largest."""
        cells = list(self.cells.values())
        if not cells:
            return
        jobs = self._session.batch.shown
        shape = self._shape(jobs[0])
        scale = self._scale_with(len(cells), shape)
        self._columns = max(range(1, len(cells) + 1), key=scale)
        # The pictures stay together in the middle.
        width = round(shape.width() * scale(self._columns) + S) * self._columns
        aside = max(M, (self.width() - width) // 2)
        self._grid.setContentsMargins(aside, M, aside, M)
        for cell in cells:
            self._grid.removeWidget(cell)
        for number, cell in enumerate(cells):
            self._grid.addWidget(cell, *divmod(number, self._columns))

    def _scale_with(self, count: int, shape: QSize) -> Callable[[int], float]:
        """Return the function from a number of columns to the pictures' scale."""

        def scale(columns: int) -> float:
            rows = -(-count // columns)
            width = (self.width() - 2 * M - (columns - 1) * S) / columns
            height = (self.height() - 2 * M - (rows - 1) * S) / rows
            return min(width / shape.width(), height / shape.height())

        return scale

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Place the cells anew."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Show what became of the batch meanwhile."""
        super().showEvent(event)
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the focus between the pictures by arrows; Enter shows one alone."""
        cells = list(self.cells.values())
        focused = next((number for number, cell in enumerate(cells) if cell.hasFocus()), None)
        key = Qt.Key(event.key())
        if focused is not None and key in _ARROWS:
            across, down = _ARROWS[key]
            across = -across if self.isRightToLeft() else across
            wanted = focused + across + down * self._columns
            if 0 <= wanted < len(cells):
                cells[wanted].setFocus(Qt.FocusReason.TabFocusReason)
        elif focused is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            cells[focused].click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Fill the background."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._theme.colours.canvas))
