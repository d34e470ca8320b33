"""The list of all models follows the folders; the engine lists them."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.background import Background
from app.engine.client import EngineClient
from app.library.model_notes import ModelNotes
from app.library.model_store import ModelStore
from engine.api.checkpoints import CheckpointInfo
from engine.api.messages import QueryFailed
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.values import ErrorInfo
from tests.app.sessions import Staged
from tests.app.silent_process import CRASH, SilentProcess
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.jobs.test_lora_index import KEYS


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    """A session on the real engine."""
    staged = Staged(tmp_path, qtbot, None)
    staged.paths.models.mkdir(parents=True)
    yield staged
    staged.end()


def listed(staged: Staged) -> Staged:
    staged.start()
    staged.session.models.store.refresh()
    staged.wait(
        lambda: staged.session.models.store.is_listed and not staged.session.models.store.is_listing
    )
    return staged


def kinds(staged: Staged) -> dict[str, ModelKind]:
    return {model.name: model.kind for model in own(staged.session.models.store) if model.is_read}


def own(store: ModelStore) -> list[ModelInfo]:
    """Return the files without the starter."""
    found = [model for model in store.models if not store.is_starter(model)]
    assert store.has_own == bool(found)
    return found


def test_files_of_every_kind_come_and_go_without_being_asked_for(staged: Staged) -> None:
    models = staged.paths.models
    write_sparse(models / "ink.safetensors", KEYS)
    listed(staged)
    assert kinds(staged) == {"ink": ModelKind.LORA}
    write_sparse(models / "fix.safetensors", listings.ldm_vae())
    staged.wait(lambda: kinds(staged) == {"ink": ModelKind.LORA, "fix": ModelKind.VAE})
    (models / "ink.safetensors").unlink()
    (models / "fix.safetensors").rename(models / "other.safetensors")
    staged.wait(lambda: kinds(staged) == {"other": ModelKind.VAE})


def test_a_list_that_fails_is_asked_for_once_more_and_not_for_ever(
    qtbot: QtBot, tmp_path: Path
) -> None:
    # Once a form with control layers asked as soon as it heard that there was no list.
    process, background = SilentProcess(tmp_path), Background(1)
    store = ModelStore(EngineClient(process, process), tuple, tmp_path / "starter", background)

    def look(_is_listing: bool) -> None:
        store.list_once()

    store.listing_changed.connect(look)
    store.list_once()
    asked: list[int] = []
    for _ in range(10):
        query = store.listing.query
        if query is not None:
            asked.append(query)
            process.say(QueryFailed(query=query, error=CRASH))
    assert len(asked) == 2
    # Whoever comes back to the window has another look.
    store.refresh_if_asked_for()
    assert store.is_listing
    background.close()


def test_one_list_of_folders_serves_models_and_loras_and_the_form(
    staged: Staged, tmp_path: Path
) -> None:
    comfy = tmp_path / "ComfyUI"
    for name in ("checkpoints", "loras", "vae"):
        (comfy / "models" / name).mkdir(parents=True)
    mix = write_sparse(comfy / "models" / "checkpoints" / "mix.safetensors", listings.sdxl())
    write_sparse(comfy / "models" / "loras" / "ink.safetensors", KEYS)
    write_sparse(comfy / "models" / "vae" / "fix.safetensors", listings.ldm_vae())
    session = listed(staged).session
    session.models.folders.add(comfy)
    staged.wait(lambda: len(kinds(staged)) == 3)
    staged.wait(lambda: [info.name for info in session.loras.loras] == ["ink"])
    staged.wait(lambda: mix in [entry.path for entry in session.checkpoints.entries])
    # Parts are no models to choose.
    assert "vae/fix" not in [entry.name for entry in session.checkpoints.entries]
    (watched,) = [folder for folder in session.models.folders.watched if folder.path == comfy]
    assert watched.files == 3
    session.models.folders.remove(comfy)
    staged.wait(lambda: not kinds(staged))
    staged.wait(lambda: mix not in [entry.path for entry in session.checkpoints.entries])
    undo = session.notices.notices[-1].undo
    assert undo is not None
    undo()
    staged.wait(lambda: len(kinds(staged)) == 3)


def test_the_form_follows_a_folder_that_goes_and_comes_back(staged: Staged, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mix = write_sparse(disk / "mix.safetensors", listings.sdxl())
    session = listed(staged).session
    session.models.folders.add(disk)
    staged.wait(lambda: bool(kinds(staged)))
    session.generation.checkpoint = mix
    checkpoints = session.checkpoints
    staged.wait(lambda: isinstance(checkpoints.answer(mix), CheckpointInfo))
    disk.rename(tmp_path / "away")
    staged.wait(lambda: isinstance(checkpoints.answer(mix), ErrorInfo))
    (tmp_path / "away").rename(disk)
    staged.wait(lambda: isinstance(checkpoints.answer(mix), CheckpointInfo))


def test_a_folder_that_vanishes_is_missing_and_not_forgotten(
    staged: Staged, tmp_path: Path
) -> None:
    disk = tmp_path / "media" / "usb"
    disk.mkdir(parents=True)
    write_sparse(disk / "ink.safetensors", KEYS)
    folders = listed(staged).session.models.folders
    folders.add(disk)
    staged.wait(lambda: bool(kinds(staged)))
    staged.wait(lambda: not staged.session.models.store.is_listing)
    disk.rename(tmp_path / "away")
    staged.wait(lambda: not kinds(staged))
    staged.wait(lambda: folders.watched[-1].is_missing)
    assert folders.gone == (disk,)
    (tmp_path / "away").rename(disk)
    staged.wait(lambda: bool(kinds(staged)))
    staged.wait(lambda: not folders.watched[-1].is_missing)


def test_a_hash_is_computed_when_it_is_asked_for(staged: Staged) -> None:
    path = write_sparse(staged.paths.models / "fix.safetensors", listings.ldm_vae())
    store = listed(staged).session.models.store
    told: list[str] = []
    store.hash_changed.connect(told.append)
    assert own(store)[0].sha256 == ""
    store.hash(str(path))
    assert store.hashed_percent(str(path)) == 0
    staged.wait(lambda: bool(own(store)[0].sha256))
    assert own(store)[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert store.hashed_percent(str(path)) is None
    assert set(told) == {str(path)}
    # Now that it is known, nothing is read again.
    store.hash(str(path))
    staged.wait(lambda: store.hashed_percent(str(path)) is None)


def test_a_hash_that_cannot_be_computed_is_given_up_and_asked_for_again(staged: Staged) -> None:
    path = write_sparse(staged.paths.models / "fix.safetensors", listings.ldm_vae())
    store = listed(staged).session.models.store
    store.hash(str(path))
    staged.wait(lambda: not store._hash_queries)  # pyright: ignore[reportPrivateUsage]
    # It was just written, so its hash waits until its times are certain: a change comes first.
    os.utime(path, ns=(1, 1))
    staged.wait(lambda: store.is_unhashed(str(path)))
    assert store.hashed_percent(str(path)) is None
    store.hash(str(path))
    assert not store.is_unhashed(str(path))
    staged.wait(lambda: bool(own(store)[0].sha256))


def test_the_starter_is_listed_by_its_name_and_is_not_thrown_away(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = listed(staged).session
    (starter,) = session.models.store.models
    assert Path(starter.path) == session.checkpoints.starter
    assert (starter.name, starter.kind) == ("starter", ModelKind.CHECKPOINT)
    assert starter.families
    assert not starter.problem
    assert not session.model.can_trash(starter)
    begun: list[object] = []

    def run(work: object, done: object) -> None:
        begun.append(work)

    monkeypatch.setattr(session.background, "run", run)
    session.model.trash(starter)
    assert begun == []


def model(path: str, identity: str = "") -> ModelInfo:
    return ModelInfo(path=path, name="a", root="/", size=1, modified_ns=1, identity=identity)


def test_a_note_outlives_the_session_and_follows_a_file_that_is_moved(tmp_path: Path) -> None:
    notes = ModelNotes(tmp_path)
    notes.keep(model("/a", "1-ab"), "  good at boats ")
    notes.keep(model("/folder"), "of a folder")
    notes.flush()
    later = ModelNotes(tmp_path)
    assert later.of(model("/elsewhere/b", "1-ab")) == "good at boats"
    assert later.of(model("/folder")) == "of a folder"
    assert later.of(model("/a", "2-cd")) == ""
    later.keep(model("/x", "1-ab"), "")
    later.flush()
    assert ModelNotes(tmp_path).of(model("/a", "1-ab")) == ""


def test_a_note_that_was_made_before_the_file_was_read_stays_with_it(tmp_path: Path) -> None:
    notes = ModelNotes(tmp_path)
    notes.keep(model("/a"), "good at boats")
    assert notes.of(model("/a", "1-ab")) == "good at boats"
    notes.keep(model("/a", "1-ab"), "and at fog")
    assert notes.of(model("/moved", "1-ab")) == "and at fog"
    notes.keep(model("/a", "1-ab"), "")
    assert notes.of(model("/a", "1-ab")) == notes.of(model("/a")) == ""


def test_damaged_notes_are_put_aside_and_told_of(tmp_path: Path) -> None:
    (tmp_path / "model-notes.json").write_text("{")
    notes = ModelNotes(tmp_path)
    assert notes.problem is not None
    assert notes.of(model("/a")) == ""
