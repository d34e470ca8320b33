"""The checkpoints to choose from, and what the engine says of them."""

from pathlib import Path

import msgspec
from pytestqt.qtbot import QtBot

from app.library.checkpoints import STARTER_NAME
from app.paths import starter_checkpoint
from engine.api.checkpoints import CheckpointInfo
from engine.api.messages import CheckpointHashed
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from ui.labels import checkpoint_summary


def test_the_engine_is_asked_when_it_is_ready(staged: Staged) -> None:
    store, starter = staged.session.checkpoints, starter_checkpoint()
    assert store.answer(starter) is None
    staged.start()
    staged.wait(lambda: store.answer(starter) is not None)
    answer = store.answer(starter)
    assert isinstance(answer, CheckpointInfo)
    assert answer.default_size == 256
    assert staged.session.generation.suggestions.side == 256


def test_a_file_that_is_no_checkpoint_is_an_error_that_says_why(
    staged: Staged, tmp_path: Path
) -> None:
    page = tmp_path / "page.safetensors"
    page.write_bytes(b"<!DOCTYPE html>")
    staged.start()
    staged.session.open_file(page)
    store = staged.session.checkpoints
    staged.wait(lambda: store.answer(page) is not None)
    answer = store.answer(page)
    assert isinstance(answer, ErrorInfo)
    assert answer.code is ErrorCode.CHECKPOINT_NOT_SAFETENSORS
    assert store.entries[-1].path == page


def test_the_models_folder_is_listed_beside_what_was_opened(staged: Staged, tmp_path: Path) -> None:
    store, models = staged.session.checkpoints, staged.paths.models
    (models / "sub").mkdir(parents=True)
    (models / "sub" / "b.safetensors").touch()
    (models / "a.safetensors").touch()
    elsewhere = tmp_path / "c.safetensors"
    elsewhere.touch()
    store.add(elsewhere)
    store.add(elsewhere)
    store.add(models / "a.safetensors")
    store.refresh()
    staged.wait(lambda: len(store.entries) == 4 and store.entries[1].name == "a")
    names = [entry.name for entry in store.entries]
    assert names == [STARTER_NAME, "a", "sub/b", "c"]


def test_a_dot_in_the_name_of_an_opened_folder_begins_no_suffix(
    staged: Staged, tmp_path: Path
) -> None:
    folder = tmp_path / "stable-diffusion-v1.5"
    folder.mkdir()
    store = staged.session.checkpoints
    store.add(folder)
    assert store.entries[-1].name == folder.name


def test_an_engine_that_dies_of_a_checkpoint_is_asked_once_more(
    tmp_path: Path, qtbot: QtBot
) -> None:
    # The first engine ends after Hello and Ready, the second does not.
    plan = Plan(ends_after=2, once=str(tmp_path / "once"))
    staged = Staged(tmp_path, qtbot, fake_command(plan), QUICK)
    store, starter = staged.session.checkpoints, starter_checkpoint()
    staged.session.start()
    staged.wait(lambda: store.answer(starter) is not None)
    answer = store.answer(starter)
    # The fake one knows no checkpoints; that it said so shows that it was asked.
    assert isinstance(answer, ErrorInfo)
    assert answer.code is ErrorCode.NOT_AVAILABLE
    staged.end()


def test_the_hash_is_added_to_what_is_known_of_a_checkpoint(staged: Staged) -> None:
    store, starter = staged.session.checkpoints, starter_checkpoint()
    staged.start()
    staged.wait(lambda: store.answer(starter) is not None)
    before = store.answer(starter)
    assert isinstance(before, CheckpointInfo)
    looked: list[object] = []
    hashing: list[tuple[Path, int]] = []

    def note_look(path: Path, answer: object) -> None:
        looked.append((path, answer))

    def note_hashing(path: Path, percent: int) -> None:
        hashing.append((path, percent))

    store.looked.connect(note_look)
    store.hashing.connect(note_hashing)

    def hear(path: str, done: int, sha256: str | None = None) -> None:
        event = CheckpointHashed(path=path, done_bytes=done, total_bytes=200, sha256=sha256)
        staged.session.client.checkpoint_hashed.emit(event)

    hear(str(starter), 90)
    hear(str(starter), 200)
    hear("/elsewhere", 200, "cd" * 32)
    assert hashing == [(starter, 45), (starter, 99)]
    assert store.answer(starter) == before
    hear(str(starter), 200, "ab" * 32)
    after = msgspec.structs.replace(before, sha256="ab" * 32)
    assert store.answer(starter) == after
    assert looked == [(starter, after)]
    unhashed = checkpoint_summary(before, "SDXL")
    assert unhashed + " · hash at 45 %" == checkpoint_summary(before, "SDXL", 45)
    assert unhashed + " · hash ababababab" == checkpoint_summary(after, "SDXL", 45)


def test_families_are_called_what_the_engine_says(staged: Staged) -> None:
    store = staged.session.checkpoints
    assert store.family_title("sd1") == "sd1"
    staged.start()
    staged.wait(lambda: store.answer(starter_checkpoint()) is not None)
    titles = [store.family_title(family.name) for family in store.families]
    stable_diffusion = ["Stable Diffusion 1", "Stable Diffusion 2", "SDXL", "SDXL refiner"]
    assert titles == [
        *stable_diffusion,
        "Flux.1",
        "Z-Image",
        "Chroma",
        "Stable Diffusion 3 and 3.5",
        "FLUX.2 klein",
    ]
    assert store.family_title("of another version") == "of another version"
