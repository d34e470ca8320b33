"""The list of the queue's jobs, with its buttons, keys and menu."""

from collections.abc import Iterable
from functools import partial
from itertools import chain

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QSignalBlocker,
    Qt,
)
from PySide6.QtGui import QCursor, QDrag, QDropEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu

from app.commands.queue import QueueCommands
from app.commands.retries import may_need_device, may_need_seed
from app.queue.jobs import Job, JobState
from ui.delegates.queue_delegate import QueueDelegate
from ui.device_labels import device_name
from ui.dock.queue_actions import QueueAction, queue_actions
from ui.item_models.queue_item_model import QueueItemModel
from ui.keys import bind_key
from ui.labels import size_label
from ui.theme.theme import Theme

# Of so many selected rows Qt does not keep each one's place.
_MANY = 500


class QueueList(QListView):
    """A list in which jobs are dragged to other places, and acted on by keys and by a menu."""

    def __init__(self, theme: Theme, jobs: QueueItemModel, commands: QueueCommands) -> None:
        super().__init__()
        self._jobs, self._commands = jobs, commands
        self.queue_actions = queue_actions(commands)
        # What their keys do, and entries of the menu.
        self.deeds = {
            action.name: bind_key(self, action.name, partial(self.act, action))
            for action in self.queue_actions
        }
        self.setAccessibleName(self.tr("Pictures in the queue"))
        self.setModel(jobs)
        # The row of the current job before the model takes another order; -1 for none.
        self._row = -1
        # The selected jobs meanwhile, where they are many.
        self._kept: frozenset[str] = frozenset()
        jobs.rearranging.connect(self._keep_selection)
        jobs.layoutChanged.connect(self._select_again)
        self.setItemDelegate(QueueDelegate(theme, self))
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)
        self.customContextMenuRequested.connect(self._show_menu)
        self.doubleClicked.connect(self._on_double_click)
        theme.changed.connect(self.viewport().update)

    @property
    def selected(self) -> list[Job]:
        """The selected jobs, in the order of the list."""
        rows = chain.from_iterable(range(top, bottom + 1) for top, bottom in self._ranges())
        return [job for job in map(self._jobs.job_at, rows) if job is not None]

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the first and the last row of each range of selected rows, in their order."""
        # All of ten thousand rows are one of them, but ten thousand indexes.
        selection = self.selectionModel().selection()
        return sorted((span.top(), span.bottom()) for span in selection.toList())

    def act(self, action: QueueAction) -> None:
        """Run an action on the selected jobs that it fits."""
        jobs = [job.id for job in self.selected if action.suits(job)]
        if jobs:
            action.act(jobs)

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 (Qt's name)
        """Do nothing: Qt would read every job for each letter, and hardly anybody types them."""

    def startDrag(self, supportedActions: Qt.DropAction) -> None:  # noqa: N802, N803 (Qt's)
        """Drag the selected jobs that wait; Qt would ask for the flags and place of each."""
        waiting = [job.id for job in self.selected if job.state is JobState.WAITING]
        if not waiting:
            return
        row, pressed = self.visualRect(self.currentIndex()), QCursor.pos()
        drag = QDrag(self)
        drag.setMimeData(self._jobs.dragged(waiting))
        drag.setPixmap(self.viewport().grab(row))
        drag.setHotSpot(self.viewport().mapFromGlobal(pressed) - row.topLeft())
        drag.exec(Qt.DropAction.MoveAction)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 (Qt's name)
        """Hand the jobs to the model; a QListView would first keep the place of each."""
        QAbstractItemView.dropEvent(self, event)

    def _keep_selection(self) -> None:
        """Keep what is selected; take it from Qt, which would keep each of many rows."""
        self._row, self._kept = self.currentIndex().row(), frozenset()
        ranges = self._ranges()
        if sum(bottom - top + 1 for top, bottom in ranges) > _MANY:
            self._kept = frozenset(
                chain.from_iterable(self._jobs.jobs_in(*span) for span in ranges)
            )
            with QSignalBlocker(self.selectionModel()):
                self.selectionModel().clearSelection()

    def _select_again(self) -> None:
        """Select the jobs that were selected, or what follows the current one."""
        if self._kept:
            selection = self._jobs.selection_of(self._kept)
            self._kept = frozenset()
            chosen = QItemSelectionModel.SelectionFlag.ClearAndSelect
            # Told, the view would look for the place of each range, of which copies behind each
            # of many jobs make as many as jobs. All rows are drawn anew in any case.
            with QSignalBlocker(self.selectionModel()):
                self.selectionModel().select(selection, chosen)
            self.viewport().update()
        self._select_what_follows()

    def _select_what_follows(self) -> None:
        """Select what came to the place of the current job, where that is gone.

        A key can so be pressed again. The model follows the queue a moment later, so this waits
        for the model, not for the action.
        """
        if self._row < 0 or self.currentIndex().isValid():
            return
        index = self._jobs.index(min(self._row, self._jobs.rowCount() - 1))
        if index.isValid():
            chosen = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.selectionModel().setCurrentIndex(index, chosen)

    def _on_double_click(self, index: QModelIndex) -> None:
        job = self._jobs.job_at(index.row())
        if job is not None:
            self._commands.edit(job.id)

    def _show_menu(self, place: QPoint) -> None:
        menu = self.make_menu()
        if not menu.isEmpty():
            menu.popup(self.viewport().mapToGlobal(place))

    def make_menu(self) -> QMenu:
        """Return a menu of what can be done with the selected jobs."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        jobs = self.selected
        for action in self.queue_actions:
            if action.fits(jobs):
                menu.addAction(self.deeds[action.name])
        smaller = self.smaller_words(jobs)
        if smaller:
            menu.addAction(smaller).triggered.connect(self.retry_smaller)
        self._add_other_retries(menu, jobs)
        return menu

    def _add_other_retries(self, menu: QMenu, jobs: list[Job]) -> None:
        commands = self._commands
        of_seed = [job.id for job in jobs if may_need_seed(job)]
        if of_seed:
            again = menu.addAction(self.tr("Retry with another seed"))
            again.triggered.connect(lambda: commands.retry_with_new_seed(of_seed))
        of_device = [job for job in jobs if may_need_device(job)]
        devices = commands.other_devices(of_device[0]) if of_device else ()
        names = [job.id for job in of_device]
        for device in devices:
            words = self.tr("Retry on {device}").format(device=device_name(device))
            # An ampersand in a device's name is no mark of a key.
            again = menu.addAction(words.replace("&", "&&"))
            again.triggered.connect(partial(self._retry_on, names, device.backend))

    def _retry_on(self, jobs: list[str], backend: str) -> None:
        self._commands.retry_on(jobs, backend)

    def smaller_words(self, jobs: Iterable[Job]) -> str:
        """Return the text of the retry at a smaller size; empty if it fits none of the jobs."""
        sizes = {self._commands.smaller_size(job) for job in jobs if job.error}
        sizes.discard(None)
        if len(sizes) > 1:
            return self.tr("Retry at smaller sizes")
        return "".join(
            self.tr("Retry at {size}").format(size=size_label(*size)) for size in sizes if size
        )

    def retry_smaller(self) -> None:
        """Queue the selected jobs that failed again, each at its next smaller size."""
        self._commands.retry_smaller([job.id for job in self.selected])
