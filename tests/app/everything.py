"""Everything that a session keeps for the next one: changed, and read back."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from PySide6.QtCore import QCoreApplication, QEventLoop
from pytestqt.qtbot import QtBot

from app.downloads.entries import Purpose
from app.downloads.source import Source
from app.form.presets import PresetPart
from app.gallery.query import GalleryQuery
from app.gallery.rows import Results
from app.library.checkpoint_declarations import CheckpointDeclaration
from app.session import Session
from engine.api.model_files import ModelInfo
from engine.api.request import CheckpointOverride, GenerateRequest
from engine.api.values import PredictionType
from tests.app.fake_engine import Plan
from tests.app.gallery.made import ours, write
from tests.app.requests import generation_of
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

MODEL = ModelInfo(path="/models/mix.safetensors", name="mix", root="/models", size=1, modified_ns=1)
_DECLARED = CheckpointDeclaration(override=CheckpointOverride(prediction=PredictionType.V))
_SITE = "civitai.com"
# The files that these functions have written, which is all that a session keeps.
FILES = frozenset(
    {
        *("queue.jsonl", "marks.jsonl", "session.json", "checkpoints.json", "loras.json"),
        *("presets.json", "prompts.json", "model-settings.json", "model-notes.json"),
        *("gallery_folders.json", "gallery_view.json", "downloads.json", "site-keys.json"),
        *("packs.json", "settings.toml"),
    }
)


class ProgramBot:
    """Waits as pytest-qt's does, in a program that is no test."""

    def waitUntil(self, condition: Callable[[], bool], *, timeout: int) -> None:  # noqa: N802
        end = monotonic() + timeout / 1000
        while not condition():
            if monotonic() > end:
                raise TimeoutError
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
            # Without events that returns at once; others need the processor, too.
            sleep(0.002)


def session_in(folder: Path, bot: QtBot | None = None) -> Staged:
    """Return a session whose engine never gets ready, and whose gallery has a picture."""
    waits = bot or ProgramBot()
    command = fake_command(Plan(never_ready=True))
    staged = Staged(folder, waits, command, QUICK)  # pyright: ignore[reportArgumentType]
    show_picture(staged)
    return staged


def show_picture(staged: Staged) -> None:
    """Put a picture where the gallery finds it, and wait until it did."""
    path = staged.paths.output / "a.png"
    if not path.exists():
        write(path, ours(1, "a cat"))
    index = staged.session.gallery_index
    index.rescan()
    staged.wait(lambda: index.id_of(str(path)) is not None)


def change(staged: Staged, number: int) -> None:
    """Change all of it; another number makes other values."""
    session = staged.session
    session.settings.change(quality=number)
    session.generation.prompt = f"prompt {number}"
    session.generation.steps = number
    session.checkpoint.declare(_DECLARED)
    session.presets.save(f"preset {number}", list(PresetPart))
    session.earlier.history.add(f"earlier {number}", "")
    session.model.note(MODEL, f"note {number}")
    session.loras.memory.add_folder(Path(f"/loras/{number}"))
    session.gallery_index.add_folder(staged.paths.state.parent / f"pictures {number}")
    session.gallery_habits.keep_search(GalleryQuery(words=f"words {number}"))
    session.gallery_index.rate(picture_ids(session, staged), number % 5 + 1)
    session.jobs_in_queue.pause(paused=True)
    session.queue.submit(GenerateRequest(prompt=f"job {number}", seed=number), staged.paths.output)
    session.packs.decline_offer()
    source = Source("http://127.0.0.1:1/a", (), f"{number}.bin", 10, "0" * 64)
    folder = staged.paths.state.parent / "downloads"
    session.downloads.pause(
        session.downloads.add(f"download {number}", Purpose.MODEL, (source,), folder)
    )
    session.models.getting.keep_key(_SITE, f"key{number}")
    # It joins the queue once its journal's thread has tried to write it.
    staged.wait(lambda: f"job {number}" in session.earlier.history.prompts[0].prompt)


def picture_ids(session: Session, staged: Staged) -> tuple[int, ...]:
    """Return the ids of the gallery's pictures."""
    found: list[Results] = []
    session.gallery_index.search(GalleryQuery(), found.append)
    staged.wait(lambda: bool(found))
    return tuple(found[0].ids)


def kept(staged: Staged) -> dict[str, object]:
    """Return all of it as a session has it."""
    session = staged.session
    rows = session.gallery_index.rows(picture_ids(session, staged))
    return {
        "settings": session.settings.now.quality,
        "form": (session.generation.prompt, session.generation.steps),
        "declaration": session.generation.declaration,
        "presets": [preset.name for preset in session.presets.store.presets],
        "prompts": [prompt.prompt for prompt in session.earlier.history.prompts],
        "note": session.model.note_of(MODEL),
        "folders of models": session.loras.memory.folders,
        "folders of pictures": [folder.path.name for folder in session.gallery_index.folders],
        "searches": session.gallery_habits.habits.searches,
        "stars": [row.rating for row in rows],
        "queue": ([generation_of(job).prompt for job in session.queue.jobs], session.queue.paused),
        "downloads": [(entry.title, entry.state) for entry in session.downloads.entries],
    }
