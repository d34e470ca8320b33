"""Pictures of states beside the main ones: `python -m tests.ui.side_pictures FOLDER`.

Dialogs of word lists, embeddings and folders, downloads on their way, a picture beside what it
was made from; then the places at 150 and 200 %, as on a screen of 1920 x 1080. Each scale is a
process of its own, as Qt reads it once. Real widgets, the real engine, the starter.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog

from app.downloads.entries import DownloadState, Purpose
from app.downloads.source import Source
from app.downloads.terms import Terms
from app.engine.client import EngineClient
from app.engine.process import EngineProcess
from app.paths import Paths, starter_checkpoint
from app.queue.job_queue import JobQueue
from app.session import Session
from app.settings.values import Language
from tests.app.downloads.faulty_server import FaultyServer, refuse, running, stall_after
from tests.checkpoints.files import write_sparse
from tests.ui.page_pictures import Album
from tests.ui.screenshots import PROMPTS, Photographer
from ui.actions import ActionName
from ui.application import Application
from ui.dialogs.lora_folders_dialog import LoraFoldersDialog
from ui.languages.use import use_language
from ui.models.page import ModelsPage
from ui.places import Place

# The scale in percent, and what a screen of 1920 x 1080 has room for then.
SCALES = {150: (1280, 720), 200: (960, 540)}
LISTS = {
    "animal": "a fox\nan owl\na hare\ntwo otters\n",
    "weather": "by day\nat night\nat dusk\nin the mist\n",
    "colour": "red\nblue\n",
}
EMBEDDINGS = ("easynegative", "bad-hands-5", "charcoal-sketch", "old-postcard")
_BYTES = 2_000_000


def word_lists(photographer: Photographer, album: Album) -> None:
    """The dialog of word lists, without any and with some."""
    store = photographer.session.wildcards
    _dialog(album, "h1-no-word-lists", photographer.window.form.show_lists(""))
    store.folder.mkdir(parents=True, exist_ok=True)
    for name, words in LISTS.items():
        (store.folder / f"{name}.txt").write_text(words)
    store.refresh()
    photographer.wait_for("lists", lambda: len(store.lists) == len(LISTS))
    dialog = photographer.window.form.show_lists("")
    dialog.names.setCurrentRow(0)
    _dialog(album, "h2-word-lists", dialog)


def embeddings(photographer: Photographer, album: Album) -> None:
    """The dialog of embeddings, which opens where there are any."""
    session, panel = photographer.session, photographer.window.form.embeddings
    folder = session.checkpoints.models / "embeddings"
    folder.mkdir(parents=True)
    for name in EMBEDDINGS:
        write_sparse(folder / f"{name}.safetensors", {"emb_params": (8, 768)})
    session.loras.refresh()
    photographer.wait_for("embeddings", lambda: bool(session.embeddings.names))
    dialog = panel.browse()
    dialog.list.setCurrentIndex(dialog.model.index(0, 0))
    _dialog(album, "h3-embeddings", dialog)


def folders(photographer: Photographer, album: Album) -> None:
    """The dialog of folders of models, without any and with two."""
    session, window = photographer.session, photographer.window
    for state in ("h4-no-folders", "h5-folders"):
        dialog = LoraFoldersDialog(session, window)
        dialog.show()
        _dialog(album, state, dialog)
        for name in ("ComfyUI/models", "stable-diffusion-webui/models"):
            folder = photographer.private / name
            folder.mkdir(parents=True, exist_ok=True)
            session.loras.add_folder(folder)


def downloads(photographer: Photographer, album: Album) -> None:
    """One download half here, one that waits for it, and one that failed."""
    session, window = photographer.session, photographer.window
    answers = [refuse(404), stall_after(_BYTES // 2)]
    with running(FaultyServer(bytes(_BYTES), answers)) as server:
        folder = photographer.private / "files"

        def add(title: str, url: str) -> str:
            name = f"{title}.safetensors"
            source = Source(url, (), name, _BYTES, "0" * 64)
            return session.downloads.add(title, Purpose.MODEL, (source,), folder)

        failed = add("portrait-mix-v4", server.url)
        photographer.wait_for(
            "failure",
            lambda: any(
                entry.id == failed and entry.state is DownloadState.FAILED
                for entry in session.downloads.entries
            ),
        )
        add("DreamShaper_8_pruned", server.url)
        add("seaside", server.url)
        photographer.wait_for(
            "half", lambda: any(entry.bytes_done for entry in session.downloads.entries)
        )
        _dialog(album, "h6-downloads", window.windows.show_downloads())
        window.places.open(Place.MODELS)
        (page,) = window.findChildren(ModelsPage)
        page.show_view(1)
        album.keep("h7-get-models-downloading")
        for entry in session.downloads.entries:
            session.downloads.remove(entry.id)
    window.places.open(Place.CREATE)


def before_and_after(photographer: Photographer, album: Album) -> None:
    """A picture beside the one that it was made from."""
    session, window = photographer.session, photographer.window
    start = session.output_pictures[0].path
    window.form.inputs.start_from(start)
    photographer.wait_for("start", lambda: bool(session.generation.inputs))
    session.generation.prompt = PROMPTS[2]
    session.jobs.generate()
    photographer.wait_for_jobs(2)
    album.keep("h8-redrawn", seconds=1.5)
    album.press(ActionName.COMPARE_START)
    album.keep("h9-before-and-after")
    album.press(ActionName.COMPARE_START)
    session.generation.clear_choices()


def _dialog(album: Album, state: str, dialog: QDialog) -> None:
    album.keep(state, dialog)
    dialog.reject()


def scaled(photographer: Photographer, album: Album) -> None:
    """Every place, and the queue and details over Create."""
    album.keep("i1-result", seconds=1.5)
    for action in (ActionName.DETAILS, ActionName.QUEUE):
        album.press(action)
    album.keep("i2-queue-and-details")
    for action in (ActionName.QUEUE, ActionName.DETAILS):
        album.press(action)
    for number, place in enumerate((Place.GALLERY, Place.MODELS, Place.SETTINGS), 3):
        photographer.window.places.open(place)
        album.keep(f"i{number}-{place}", seconds=2)
    photographer.window.places.open(Place.CREATE)
    _dialog(album, "i6-devices", photographer.window.windows.show_devices())


def _session(paths: Paths) -> Session:
    """Return a session that downloads from a server on this machine, too."""
    process = EngineProcess(paths)
    client = EngineClient(process)
    queue = JobQueue(client, paths.state)
    terms = Terms(loopback_http=True)
    return Session(paths, starter_checkpoint(), process, client, queue, terms=terms)


def _here(folder: Path, scale: int) -> None:
    """Photograph in this process, whose scale is set."""
    application = Application()
    use_language(application, Language.SYSTEM)
    with tempfile.TemporaryDirectory() as private:
        photographer = Photographer(application, folder, Path(private), _session)
        album = Album(photographer, f"{scale}", SCALES.get(scale, (1280, 720)))
        try:
            # A new window takes no more than the screen has, a moment after it is shown.
            photographer.settle()
            if scale in SCALES:
                album.keep("i0-first-run", seconds=2)
            album.begin()
            whole = (word_lists, embeddings, folders, downloads, before_and_after)
            for part in (scaled,) if scale in SCALES else whole:
                part(photographer, album)
        finally:
            # A window that is shown when it is destroyed may crash the process.
            photographer.window.close()
            photographer.session.close()
            photographer.window.close_background()
    QGuiApplication.quit()


def main(folder: Path) -> None:
    """Photograph the states at 100 %, then the places at each scale."""
    folder.mkdir(parents=True, exist_ok=True)
    for scale in (100, *SCALES):
        variables = {**os.environ, "QT_SCALE_FACTOR": str(scale / 100)}
        if not os.environ.get("DISPLAY"):
            variables.setdefault("QT_QPA_PLATFORM", "offscreen")
        command = [sys.executable, "-m", "tests.ui.side_pictures", str(folder), str(scale)]
        subprocess.run(command, env=variables, check=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _here(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
