"""Commands for packs: install, pause, try, repair and remove them, and go back.

A pack's wheels are an entry in the list of downloads; once they are here, the pack is installed on
a thread of its own, while pictures are made. The engine uses it from its next start on.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.background import Background
from app.commands.downloads import DownloadCommands
from app.commands.pack_memory import PackMemory
from app.commands.pack_rows import PackAction, PackRow, PackStage, standing
from app.commands.state import AppState
from app.downloads.entries import Download, DownloadState, Purpose
from app.downloads.terms import Terms
from app.engine.device_state import DeviceState
from app.engine.process import EngineState
from app.paths import Paths
from engine.api.values import ErrorInfo
from engine.errors import Cancelled, EngineError

if TYPE_CHECKING:
    from app.commands.pack_shelf import Shelf
    from app.packs.catalogue import Pack
    from app.packs.installation import Installation, Outcome, Progress, Stage, Wishes

# The time that merges the changes of a download, ten a second, into one refresh.
_SETTLE_MS = 100
# The time that the window has for itself, before another thread loads the code of packs.
_AFTER_START_MS = 300


class PackCommands(QObject):
    """The packs of this machine as rows, and the one that is offered, None without an offer."""

    # `rows` or `offer` have changed.
    changed = Signal()
    # A pack's id and its `Progress`, from the thread that installs it.
    _progressed = Signal(str, object)

    def __init__(
        self,
        state: AppState,
        devices: DeviceState,
        downloads: DownloadCommands,
        paths: Paths,
        terms: Terms,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._state, self._devices, self._downloads = state, devices, downloads
        self._folder, self._terms = paths.packs, terms
        self._memory = PackMemory(paths.state)
        self.problem = self._memory.problem
        self.rows: tuple[PackRow, ...] = ()
        self._shelf: Shelf | None = None
        # Installations and repairs that wait or run, with the wish to stop each.
        self._stages: dict[str, Stage | None] = {}
        self._stops: dict[str, Event] = {}
        # Packs that the running engine does not have; true also after one was removed.
        self._ready: set[str] = set()
        self._is_restart_due = False
        # True until a new engine told of its devices.
        self._awaits_devices = True
        # True if a removed pack was in use, so that its files are still here.
        self._has_leftovers = False
        # Packs whose first use is to be told, once the new engine knows how its devices did.
        self._news: set[str] = set()
        self._problems: dict[str, ErrorInfo] = {}
        # One thread: the store of packs has one writer at a time.
        self._background = Background(1, self)
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self._publish)
        self._connect()

    def _connect(self) -> None:
        self._progressed.connect(self._on_progress)
        self._background.failed.connect(self._state.notices.tell_error)
        self._downloads.changed.connect(self._on_download)
        self._downloads.removed.connect(self._refresh_soon)
        devices = self._devices
        self._state.client.devices_found.connect(self._on_devices_found)
        for news in (devices.devices_changed, devices.machine_changed, devices.checking_changed):
            news.connect(self._refresh_soon)
        self._state.queue.job_changed.connect(self._restart_if_idle)
        self._state.queue.job_removed.connect(self._restart_if_idle)

    @property
    def offer(self) -> PackRow | None:
        """The pack that is offered on the first start, until a person answers."""
        # Before, it is not known which runtimes are here already.
        known = self._devices.machine is not None and not self._devices.checking
        if not known or self._memory.is_answered or any(row.installed for row in self.rows):
            return None
        first = next((row for row in self.rows if not row.reason), None)
        return first if first and first.stage is PackStage.AVAILABLE else None

    @property
    def busy(self) -> PackRow | None:
        """The pack that is being downloaded or installed now."""
        still = (PackStage.AVAILABLE, PackStage.INSTALLED, PackStage.READY, PackStage.PAUSED)
        moving = (row for row in self.rows if row.stage not in (*still, PackStage.WAITING))
        return next(moving, None)

    def start(self) -> None:
        """Read what is installed soon, and go on with installations of the last session."""
        QTimer.singleShot(_AFTER_START_MS, self, lambda: self._read_again(self._go_on))

    def act(self, pack: str, action: PackAction) -> None:
        """Run the action of a pack's button."""
        known = self._shelf.packs.get(pack) if self._shelf is not None else None
        if known is None:
            return
        self._problems.pop(pack, None)
        match action:
            case PackAction.INSTALL | PackAction.UPGRADE | PackAction.RESUME:
                self._memory.answer()
                self._memory.end(pack)
                self._download(known)
            case PackAction.PAUSE:
                self._with_download(pack, self._downloads.pause)
            case PackAction.CANCEL:
                self._cancel(pack)
            case PackAction.USE_NOW:
                self._restart_engine()
            case PackAction.REPAIR:
                self._run(known, lambda work, wishes: work.repair(known, wishes))
            case PackAction.GO_BACK:
                self._run(known, lambda work, wishes: work.roll_back(known, wishes))
            case PackAction.REMOVE:
                self._run(known, lambda work, _wishes: work.remove(pack))
        self._publish()

    def install_file(self, path: Path) -> None:
        """Install the pack that a file or a folder of wheels belongs to, without network."""
        packs = self._shelf.packs.values() if self._shelf is not None else ()
        names = {path.name} if path.is_file() else {wheel.name for wheel in path.glob("*.whl")}
        found = [pack for pack in packs if names & {wheel.file_name for wheel in pack.wheels}]
        if not found:
            self._state.notices.tell(
                self.tr("{name} is no part of a runtime for this computer.").format(name=path.name),
                self.tr("A file of another version or for another system has another name."),
            )
            return
        pack = max(found, key=lambda build: len(names & {w.file_name for w in build.wheels}))
        self._memory.answer()
        self._run(pack, lambda work, wishes: work.install(pack, wishes, source=path))
        self._publish()

    def decline_offer(self) -> None:
        """Offer no pack by itself any more; the list of runtimes has them all."""
        self._memory.answer()
        self.changed.emit()

    def close(self) -> None:
        """Stop what is being installed; it goes on at the next start."""
        for stop in self._stops.values():
            stop.set()
        self._background.close()
        for pack in self._stages:
            self._memory.end(pack)
        self._memory.close()

    def _download(self, pack: "Pack") -> None:
        from app.packs.store import PackStore

        folder = PackStore(self._folder).downloads / pack.id
        name = self._downloads.add(pack.title, Purpose.PACK, pack.wheels, folder)
        if (entry := self._entry(name)) is not None:
            self._on_download(entry)

    def _cancel(self, pack: str) -> None:
        if pack in self._stops:
            self._stops[pack].set()
        self._with_download(pack, self._downloads.remove)

    def _run(
        self,
        pack: "Pack",
        work: "Callable[[Installation, Wishes], Outcome | bool]",
        name: str = "",
    ) -> None:
        """Change the installed packs on the other thread; `name` is the download it came by."""
        if pack.id in self._stages:
            return
        from app.packs.installation import Installation, Wishes
        from app.packs.store import PackStore

        stop = self._stops[pack.id] = Event()
        self._stages[pack.id] = None
        installation = Installation(PackStore(self._folder), terms=self._terms)
        wishes = Wishes(partial(self._progressed.emit, pack.id), stop.is_set)

        def run() -> "Outcome | bool | ErrorInfo | None":
            try:
                wishes.check()
                return work(installation, wishes)
            except Cancelled:
                return None
            except EngineError as error:
                return error.info

        self._background.run(run, partial(self._on_ended, pack, name))

    def _on_ended(
        self, pack: "Pack", name: str, answer: "Outcome | bool | ErrorInfo | None"
    ) -> None:
        """Take over how a change ended; None: it was stopped, a bool: the pack was removed."""
        self._stages.pop(pack.id, None)
        self._stops.pop(pack.id, None)
        self._memory.end(pack.id)
        if name:
            self._downloads.remove(name)
        if isinstance(answer, ErrorInfo):
            self._problems[pack.id] = answer
            self._state.notices.tell_error(answer)
        elif answer is not None:
            self._is_restart_due = True
            self._has_leftovers |= answer is False
            self._ready -= {pack.id}
            if not isinstance(answer, bool):
                self._ready |= {pack.id}
                self._news |= {pack.id}
        self._read_again(self._restart_if_idle)

    def _on_progress(self, pack: str, progress: "Progress") -> None:
        if pack in self._stages and self._stages[pack] is not progress.stage:
            self._stages[pack] = progress.stage
            self._publish()

    def _on_download(self, entry: Download) -> None:
        self._refresh_soon()
        pack = self._pack_of(entry)
        if pack is None:
            return
        if entry.state is DownloadState.FAILED and entry.problem is not None:
            from app.commands.pack_shelf import problem_of

            self._state.notices.tell_error(problem_of(entry.problem))
        if entry.state is not DownloadState.DONE:
            return
        self._memory.begin(pack.id)
        self._run(pack, lambda work, wishes: work.install(pack, wishes), entry.id)

    def _go_on(self) -> None:
        """Install what the last session had downloaded, unless that ended the computer.

        A download of another version than the one that is offered, as after an update, is of no
        use.
        """
        for entry in self._downloads.entries:
            pack = self._pack_of(entry)
            if pack is not None and self._memory.may_go_on(pack.id):
                self._on_download(entry)
            elif pack is None and entry.purpose is Purpose.PACK:
                # Packs' downloads are in folders of their names.
                offered = self._shelf.packs.get(entry.folder.name) if self._shelf else None
                if offered is not None and offered.wheels:
                    self._downloads.remove(entry.id)

    def _read_again(self, then: Callable[[], object]) -> None:
        def read() -> "Shelf | ErrorInfo":
            # Here, as the window starts sooner without it.
            from app.commands.pack_shelf import read_shelf

            try:
                return read_shelf(self._folder)
            except EngineError as error:
                return error.info

        def take(answer: "Shelf | ErrorInfo") -> None:
            if isinstance(answer, ErrorInfo):
                self._state.notices.tell_error(answer)
                return
            self._shelf = answer
            then()
            self._publish()

        self._background.run(read, take)

    def _refresh_soon(self, *_: object) -> None:
        if not self._settled.isActive():
            self._settled.start()

    def _publish(self) -> None:
        if self._shelf is None:
            return
        from app.commands.pack_shelf import Doings, make_rows

        entries = ((self._pack_of(entry), entry) for entry in self._downloads.entries)
        doings = Doings(
            downloads={pack.id: entry for pack, entry in entries if pack is not None},
            under_way=dict(self._stages),
            ready=frozenset(self._ready),
            machine=self._devices.machine,
            devices=self._devices.devices,
            chosen=self._devices.chosen,
            is_checked=not (self._devices.checking or self._awaits_devices),
            problems=dict(self._problems),
        )
        self.rows = make_rows(self._shelf, doings)
        self.changed.emit()
        self._tell_news()

    def _on_devices_found(self) -> None:
        self._awaits_devices = False
        self._refresh_soon()
        if self._has_leftovers:
            self._has_leftovers = False
            self._background.run(self._tidy, lambda _: None)

    def _tidy(self) -> None:
        """Delete the files that the engine before this one still used."""
        from app.packs.store import PackStore

        store = PackStore(self._folder)
        with suppress(EngineError), store.locked():
            store.tidy()

    def _tell_news(self) -> None:
        """Tell how the packs do that the engine has had since its last start."""
        for row in self.rows:
            is_known = row.remark or row.times_as_fast is not None
            if row.id in self._news - self._ready and is_known:
                self._news.discard(row.id)
                self._state.notices.tell(standing(row))

    def _pack_of(self, entry: Download) -> "Pack | None":
        """Return the pack whose wheels a download is; None for another's, or another version's."""
        packs = self._shelf.packs.values() if self._shelf is not None else ()
        return next((pack for pack in packs if pack.wheels and pack.wheels == entry.files), None)

    def _entry(self, name: str) -> Download | None:
        return next((entry for entry in self._downloads.entries if entry.id == name), None)

    def _with_download(self, pack: str, act: Callable[[str], None]) -> None:
        for entry in self._downloads.entries:
            found = self._pack_of(entry)
            if found is not None and found.id == pack:
                act(entry.id)

    def _restart_if_idle(self, *_: object) -> None:
        """Start the engine anew with the packs that are ready, unless it has pictures to make."""
        jobs = self._state.queue.jobs
        if self._is_restart_due and all(job.state.is_over for job in jobs):
            self._restart_engine()

    def _restart_engine(self) -> None:
        self._is_restart_due = False
        self._ready.clear()
        self._awaits_devices = True
        if self._state.client.engine_state is not EngineState.STOPPED:
            self._state.client.restart_engine()
        self._refresh_soon()
