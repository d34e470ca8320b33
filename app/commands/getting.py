"""Getting models from links: what a link leads to, and its download once a person agrees."""

from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.commands.downloads import DownloadCommands
from app.downloads.connection import Stopped
from app.downloads.entries import Download, DownloadState, Purpose
from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.free_names import with_free_name
from app.downloads.links import Link, read_link
from app.downloads.lookup import look_up, sender_of, source_of, whole_size
from app.downloads.model_pages import OfferedFile, Page
from app.downloads.site_keys import SiteKeys
from app.downloads.terms import Terms
from engine.api.model_files import ModelKind
from engine.durable import replace_file

# The folders below that of models, by kind; whole models lie in it.
_FOLDERS = {
    ModelKind.LORA: "Lora",
    ModelKind.EMBEDDING: "embeddings",
    ModelKind.VAE: "vae",
    ModelKind.TEXT_ENCODER: "text_encoders",
    ModelKind.DENOISER: "diffusion_models",
    ModelKind.CONTROLNET: "controlnet",
    ModelKind.IP_ADAPTER: "ipadapter",
    ModelKind.VISION_ENCODER: "clip_vision",
    ModelKind.UPSCALER: "upscale_models",
}
_SIGN_IN = (401, 403)


class Stage(Enum):
    """The stage of the look-up of a link."""

    IDLE = auto()
    ASKING = auto()
    OFFERED = auto()
    FAILED = auto()


class Offer(msgspec.Struct, frozen=True):
    """A model that a link leads to, for a person to agree to: nothing of it is here yet.

    `hosts` would be connected to for the file at `chosen`.
    """

    link: Link
    page: Page
    chosen: int
    hosts: tuple[str, ...]

    @property
    def file(self) -> OfferedFile:
        """The file that is chosen."""
        return self.page.files[self.chosen]


class ModelGetting(QObject):
    """Looks links up and downloads what they lead to. Nothing is asked before a person says so."""

    changed = Signal()
    # A model has arrived: its path.
    arrived = Signal(str)

    def __init__(
        self,
        models: Path,
        downloads: DownloadCommands,
        background: Background,
        keys: SiteKeys,
        terms: Terms,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._models, self._downloads = models, downloads
        self._background, self._keys, self._terms = background, keys, terms
        # The link that was asked for last.
        self._asked = ""
        self.stage = Stage.IDLE
        self.offer: Offer | None = None
        self.problem: DownloadProblem | None = None
        self._wanted = self._placing = 0
        self._done = {
            download.id for download in downloads.entries if download.state is DownloadState.DONE
        }
        downloads.changed.connect(self._on_download)

    @property
    def entries(self) -> tuple[Download, ...]:
        """The downloads of models, the latest last."""
        every = self._downloads.entries
        return tuple(download for download in every if download.purpose is Purpose.MODEL)

    @property
    def wants_key(self) -> bool:
        """True if a site gave nothing because it wants to know who asks."""
        return self.problem is not None and self.problem.status in _SIGN_IN

    def look_up(self, text: str) -> bool:
        """Ask the host of a pasted link what it leads to; return False if the text is no link."""
        link = read_link(text)
        if link is None:
            return False
        self._asked = text
        number = self._begin()

        def ask() -> Offer | DownloadProblem:
            try:
                page = look_up(link, lambda: self._wanted != number, self._terms)
                return self._with_sender(Offer(link, page, 0, ()), number)
            except DownloadError as error:
                return error.problem

        self._background.run(ask, lambda found: self._take(found, number))
        return True

    def choose(self, chosen: int) -> None:
        """Choose another file of the offer, and ask where it comes from."""
        offer = self.offer
        if offer is None or offer.chosen == chosen:
            return
        number = self._begin()

        def ask() -> Offer | DownloadProblem:
            try:
                return self._with_sender(
                    msgspec.structs.replace(offer, chosen=chosen, hosts=()), number
                )
            except DownloadError as error:
                return error.problem

        self._background.run(ask, lambda found: self._take(found, number))

    def keep_key(self, host: str, key: str) -> None:
        """Keep a person's key for a host, and ask again. Raises ValueError for no key."""
        self._keys.keep(host, key)
        if self._asked:
            self.look_up(self._asked)

    def cancel(self) -> None:
        """Give up what is being asked, and forget the offer."""
        self._wanted += 1
        self._put(Stage.IDLE)

    def close(self) -> None:
        """Give up what is being asked, so that nobody waits for a server."""
        self._wanted += 1

    def folder_of(self, kind: ModelKind) -> Path:
        """Return the folder into which models of a kind are downloaded."""
        below = _FOLDERS.get(kind)
        return self._models / below if below else self._models

    def find_place(self, kind: ModelKind, then: Callable[[Path], None]) -> None:
        """Call `then` with the path that the offered file would get as a model of a kind.

        A file that has its name is read for that, on another thread. `then` is not called once
        another place is asked for, or the offer is given up.
        """
        offer, folder = self.offer, self.folder_of(kind)
        self._placing += 1
        placing, number = self._placing, self._wanted
        if offer is None:
            return

        def is_unwanted() -> bool:
            return (self._placing, self._wanted) != (placing, number)

        def find() -> Path | None:
            entries = self._downloads.entries
            with suppress(Stopped, ValueError):
                source = source_of(offer.file, offer.hosts)
                return folder / with_free_name(source, folder, entries, is_unwanted).file_name
            return None

        def take(place: Path | None) -> None:
            if place is not None and not is_unwanted():
                then(place)

        self._background.run(find, take)

    def download(self, kind: ModelKind) -> None:
        """Download the offered file, from the hosts that were shown, as a model of a kind."""
        offer = self.offer
        if offer is None:
            return
        number = self._begin()
        folder = self.folder_of(kind)

        def is_unwanted() -> bool:
            return self._wanted != number

        def complete() -> Offer | DownloadProblem:
            try:
                source = source_of(self._with_size(offer, number), offer.hosts)
                source = with_free_name(source, folder, self._downloads.entries, is_unwanted)
                if offer.page.card:
                    _keep_card(folder, source.file_name, offer.page.card)
            except DownloadError as error:
                return error.problem
            except Stopped:
                return DownloadProblem(code=DownloadCode.CANCELLED, file=offer.file.name)
            except (ValueError, OSError) as error:
                code = DownloadCode.WRONG_ANSWER
                return DownloadProblem(code=code, file=offer.file.name, detail=str(error))
            title = offer.page.title or source.file_name
            self._downloads.add(title, Purpose.MODEL, (source,), folder)
            return offer

        def take(found: Offer | DownloadProblem) -> None:
            if isinstance(found, DownloadProblem):
                self._take(found, number)
            elif number == self._wanted:
                self._put(Stage.IDLE)

        self._background.run(complete, take)

    def _with_sender(self, offer: Offer, number: int) -> Offer:
        """Return the offer with its file's hosts, and what those state. Raises DownloadError."""
        file = offer.file
        sender = sender_of(file, lambda: self._wanted != number, self._terms)
        told = msgspec.structs.replace(
            file,
            name=sender.name or file.name if not file.sha256 else file.name,
            # What a server announces is what it sends; a page may round.
            size=sender.size or file.size,
            sha256=file.sha256 or sender.sha256,
        )
        files = tuple(
            told if at == offer.chosen else file for at, file in enumerate(offer.page.files)
        )
        hosts = tuple(dict.fromkeys((offer.link.host, sender.host)))
        return msgspec.structs.replace(
            offer, page=msgspec.structs.replace(offer.page, files=files), hosts=hosts
        )

    def _with_size(self, offer: Offer, number: int) -> OfferedFile:
        if offer.file.size:
            return offer.file
        size = whole_size(offer.file, offer.hosts, lambda: self._wanted != number, self._terms)
        return msgspec.structs.replace(offer.file, size=size)

    def _begin(self) -> int:
        self._wanted += 1
        self._put(Stage.ASKING, self.offer)
        return self._wanted

    def _take(self, found: Offer | DownloadProblem, number: int) -> None:
        if number != self._wanted:
            return
        if isinstance(found, DownloadProblem):
            self._put(Stage.FAILED, problem=found)
        else:
            self._put(Stage.OFFERED, found)

    def _put(
        self, stage: Stage, offer: Offer | None = None, problem: DownloadProblem | None = None
    ) -> None:
        self.stage, self.offer, self.problem = stage, offer, problem
        self.changed.emit()

    def _on_download(self, entry: Download) -> None:
        if entry.purpose is not Purpose.MODEL:
            return
        if entry.state is DownloadState.DONE and entry.id not in self._done:
            self._done.add(entry.id)
            self.arrived.emit(str(entry.folder / entry.files[0].file_name))
        elif entry.state is not DownloadState.DONE:
            self._done.discard(entry.id)


def _keep_card(folder: Path, name: str, card: bytes) -> None:
    """Put a site's description beside the place of a file. Raises OSError."""
    replace_file((folder / name).with_suffix(".civitai.info"), card)
