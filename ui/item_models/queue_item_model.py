"""The item model of the queue: what runs, what waits in order, what failed, what is finished."""

from collections.abc import Iterable, Set
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionRange,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSignalBlocker,
    QStringListModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QImage, QPixmap

from app.library.checkpoints import STARTER_NAME, ListedCheckpoint
from app.notices.wording import worded
from app.queue.jobs import Job, JobState
from app.session import Session
from engine.api.weight_suffixes import weights_name
from ui.job_labels import job_title, upscaler_name
from ui.labels import checkpoint_label, duration, size_label, steps_label
from ui.queue_changes import on_queue_changes
from ui.thumbnails import ThumbnailStore

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_MIME = "application/x-safelight-jobs"
_ORDER = {JobState.RUNNING: 0, JobState.WAITING: 1, JobState.FAILED: 2, JobState.DONE: 3}


class QueueRow(msgspec.Struct, frozen=True):
    """A job as it is drawn. `shape` is its width and height in pixels.

    `remark` is its state, or why it failed; `fraction` that of a running job, in [0, 1).
    """

    job: Job
    title: str
    about: str
    remark: str
    shape: tuple[int, int]
    picture: QPixmap | None = None
    fraction: float | None = None


class QueueItemModel(QStringListModel):
    """An item model with one row for each job that was not cancelled; waiting ones are dragged.

    Qt counts the rows, of empty texts, without Python: a list asks for the count at each row that
    it lays out.
    """

    # Before Qt keeps the place of each selected row, which takes it long for thousands.
    rearranging = Signal()

    def __init__(
        self, session: Session, pictures: ThumbnailStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._pictures = session, pictures
        self._ids: list[str] = []
        self._shown = False
        on_queue_changes(session.queue, self, self._refresh)
        session.progress.changed.connect(self._on_progress)
        session.progress.preview_changed.connect(self._on_progress)
        pictures.ready.connect(self._on_picture)

    def show(self, *, shown: bool) -> None:
        """Follow the queue while the list is visible; ten thousand rows cost time."""
        self._shown = shown
        self._refresh()

    def job_at(self, row: int) -> Job | None:
        """Return the job of a row; None if it is gone."""
        return self._session.queue.job(self._ids[row]) if 0 <= row < len(self._ids) else None

    def row_of(self, job: str) -> int:
        """Return the row of a job; -1 if it has none."""
        return self._ids.index(job) if job in self._ids else -1

    def jobs_in(self, top: int, bottom: int) -> list[str]:
        """Return the jobs of the rows from `top` to `bottom`, both included."""
        return self._ids[top : bottom + 1]

    def selection_of(self, jobs: Set[str]) -> QItemSelection:
        """Return a selection of those jobs that have a row; neighbours are one range."""
        rows = (row for row, name in enumerate(self._ids) if name in jobs)
        selection = QItemSelection()
        # In a range, a row less its place among the rows is the same.
        for _, group in groupby(enumerate(rows), lambda pair: pair[1] - pair[0]):
            together = [row for _, row in group]
            # Qt's `index` asks whether there is such a row, for each of many.
            top, bottom = (self.createIndex(row, 0) for row in (together[0], together[-1]))
            selection.append(QItemSelectionRange(top, bottom))
        return selection

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a job's row, and its words for screen readers."""
        job = self.job_at(index.row()) if index.isValid() else None
        if job is None:
            return None
        if role == ROW_ROLE:
            return self._row(job)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            row = self._row(job)
            return ", ".join(filter(None, (row.title, row.remark, row.about)))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Waiting jobs can be dragged, and dropped between others."""
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        job = self.job_at(index.row())
        if job is not None and job.state is JobState.WAITING:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802 (Qt's name)
        """Jobs are moved, never copied, by a drag."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:  # noqa: N802 (Qt's name)
        """Return the one type of dragged data."""
        return [_MIME]

    def dragged(self, jobs: Iterable[str]) -> QMimeData:
        """Return what a drag of jobs, of these ids in their order, carries."""
        data = QMimeData()
        data.setData(_MIME, "\n".join(jobs).encode())
        return data

    def dropMimeData(  # noqa: N802 (Qt's name)
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Put the dragged jobs before a row. Returns False, so that the view removes no row."""
        if data.hasFormat(_MIME):
            jobs = data.data(_MIME).toStdString().split("\n")
            target = parent.row() if parent.isValid() else row
            self._session.jobs_in_queue.place(jobs, self._waiting_from(target, frozenset(jobs)))
        return False

    def _waiting_from(self, row: int, moved: Set[str]) -> str | None:
        """Return the first waiting job from a row on that is not moved itself."""
        start = len(self._ids) if row < 0 else row
        following = (self._session.queue.job(name) for name in self._ids[start:])
        waiting = (job.id for job in following if job and job.state is JobState.WAITING)
        return next((name for name in waiting if name not in moved), None)

    def _refresh(self) -> None:
        jobs = [job for job in self._session.queue.jobs if job.state in _ORDER]
        # The latest of those that are finished first.
        over = [job for job in reversed(jobs) if job.state is JobState.DONE]
        rest = sorted(
            (job for job in jobs if job.state is not JobState.DONE),
            key=lambda job: _ORDER[job.state],
        )
        wanted = [job.id for job in (*rest, *over)] if self._shown else []
        if wanted != self._ids:
            self._rearrange(wanted)
        elif wanted:
            self.dataChanged.emit(self.index(0), self.index(len(wanted) - 1))

    def _rearrange(self, wanted: list[str]) -> None:
        """Take a new order; the selection stays with its jobs."""
        self.rearranging.emit()
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        names = [self._ids[index.row()] for index in before]
        rows = {name: row for row, name in enumerate(wanted)} if names else {}
        missing = len(wanted) - self.rowCount()
        self._ids = wanted
        with QSignalBlocker(self):
            self.insertRows(self.rowCount(), max(0, missing))
        after = [self.index(rows[name]) if name in rows else QModelIndex() for name in names]
        self.changePersistentIndexList(before, after)
        with QSignalBlocker(self):
            self.removeRows(len(wanted), max(0, -missing))
        self.layoutChanged.emit()

    def _on_progress(self, *_: object) -> None:
        running = self._session.queue.running
        if self._shown and running is not None and self._ids[:1] == [running.id]:
            self.dataChanged.emit(self.index(0), self.index(0))

    def _on_picture(self, path: str) -> None:
        for row, name in enumerate(self._ids if self._shown else ()):
            job = self._session.queue.job(name)
            if job is not None and path in job.images:
                self.dataChanged.emit(self.index(row), self.index(row))

    def _row(self, job: Job) -> QueueRow:
        shape = self._session.jobs_in_queue.shape(job.request)
        about = [self._model_name(job)]
        if all(shape):
            about.append(size_label(*shape))
        if job.generation is not None and job.generation.steps:
            about.append(steps_label(job.generation.steps))
        is_running = job.state is JobState.RUNNING
        return QueueRow(
            job=job,
            title=job_title(job)[:300] or self.tr("Without a prompt"),
            about=" · ".join(about),
            remark=self._remark(job),
            shape=shape if all(shape) else (1, 1),
            picture=self._preview() if is_running else self._picture(job),
            fraction=self._session.progress.fraction if is_running else None,
        )

    def _model_name(self, job: Job) -> str:
        if job.upscale is not None:
            return upscaler_name(job.upscale.upscaler)
        path = Path((job.generation and job.generation.checkpoint) or "")
        is_starter = path == self._session.checkpoints.starter
        name = STARTER_NAME if is_starter else weights_name(path.name)
        return checkpoint_label(ListedCheckpoint(name, path))

    def _remark(self, job: Job) -> str:
        match job.state:
            case JobState.RUNNING if job.cancelling:
                return self.tr("Stopping…")
            case JobState.RUNNING:
                left = self._session.progress.seconds_left
                return self.tr("Now") if left is None else duration(left)
            case JobState.FAILED:
                return worded(job.error.text) if job.error is not None else self.tr("Failed")
            case JobState.DONE:
                return self.tr("Finished")
            case _:
                seconds = self._session.jobs_in_queue.seconds(job.request)
                return duration(seconds) if seconds is not None else ""

    def _preview(self) -> QPixmap | None:
        preview = self._session.progress.preview
        if preview is None:
            return None
        width, height = preview.width, preview.height
        image = QImage(preview.pixels, width, height, 3 * width, QImage.Format.Format_RGB888)
        return QPixmap.fromImage(image)

    def _picture(self, job: Job) -> QPixmap | None:
        if not job.images:
            return None
        path = job.images[-1]
        row = self._session.output_pictures.row_of(path)
        thumbnail = None if row is None else self._pictures.get(self._session.output_pictures[row])
        return thumbnail.pixmap if thumbnail is not None else None
