"""Commands on a model of the list: use it, give it a part, trash it, note something."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.commands.models import model_name
from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.preprocessors import CannyOptions
from engine.api.request import ComponentFiles
from engine.api.second_passes import SecondPass
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Staged]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    yield staged
    staged.end()


def model(path: Path, kind: ModelKind, **facts: object) -> ModelInfo:
    usual = {"path": str(path), "name": path.stem, "root": str(path.parent), "size": 1}
    return ModelInfo(**usual | facts, modified_ns=1, kind=kind)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("sub/mix.v1", "mix.v1"),
        ("Diffusers/models--stabilityai--sdxl-turbo/snapshots/71153311d3db", "sdxl-turbo"),
        ("snapshots/mix", "mix"),
    ],
)
def test_a_model_is_called_as_people_know_it(tmp_path: Path, name: str, shown: str) -> None:
    assert model_name(model(tmp_path / "x", ModelKind.CHECKPOINT, name=name)) == shown


def test_each_kind_is_used_in_its_own_way(staged: Staged, tmp_path: Path) -> None:
    session, form = staged.session, staged.session.generation
    used: list[None] = []
    session.model.used.connect(lambda: used.append(None))
    form.prompt = "a boat"
    for name, kind in (
        ("mix", ModelKind.CHECKPOINT),
        ("ink", ModelKind.LORA),
        ("easy", ModelKind.EMBEDDING),
        ("fix", ModelKind.VAE),
    ):
        entry = model(tmp_path / f"{name}.safetensors", kind)
        assert session.model.can_use(entry)
        session.model.use(entry)
    assert form.checkpoint == tmp_path / "mix.safetensors"
    assert [lora.file for lora in form.loras] == [str(tmp_path / "ink.safetensors")]
    assert form.prompt.startswith("a boat, ")
    assert "easy" in form.prompt
    assert form.used_components.vae == str(tmp_path / "fix.safetensors")
    assert len(used) == 4
    told = {notice.message for notice in session.notices.notices}
    assert len(told) == 2, "what the form tells last, and the word in the prompt"
    for left in (3, 2, 1, 0):
        change = session.notices.latest_change
        assert change is not None, f"{left + 1} changes can be undone still"
        session.notices.revert(change)
    assert session.notices.latest_change is None
    assert form.prompt == "a boat"
    assert form.loras == ()
    assert not form.used_components.vae


def test_a_file_that_nothing_can_use_is_not_used(staged: Staged, tmp_path: Path) -> None:
    commands = staged.session.model
    broken = model(tmp_path / "a", ModelKind.CHECKPOINT, problem="It is a web page.")
    assert not commands.can_use(broken)
    assert not commands.can_use(model(tmp_path / "a", ModelKind.TEXT_ENCODER))


def test_networks_begin_a_layer_whose_picture_is_still_to_choose(
    staged: Staged, tmp_path: Path
) -> None:
    session, form = staged.session, staged.session.generation
    canny = model(tmp_path / "canny.safetensors", ModelKind.CONTROLNET)
    session.model.use(canny)
    (layer,) = form.controls
    assert (layer.image, layer.network, layer.preprocessor) == ("", canny.path, CannyOptions())
    # A layer that lacks a network gets it.
    form.controls = (ControlLayer(image="/a.png"),)
    session.model.use(canny)
    assert [(control.image, control.network) for control in form.controls] == [
        ("/a.png", canny.path)
    ]
    undo = session.notices.notices[-1].undo
    assert undo is not None
    undo()
    assert [control.network for control in form.controls] == [None]
    adapter = model(tmp_path / "plus.safetensors", ModelKind.IP_ADAPTER)
    session.model.use(adapter)
    assert form.image_prompts == (ImagePrompt(image="", adapter=adapter.path),)


def test_a_vision_encoder_reads_the_pictures_of_all_image_prompts(
    staged: Staged, tmp_path: Path
) -> None:
    session, form = staged.session, staged.session.generation
    encoder = model(tmp_path / "vit.safetensors", ModelKind.VISION_ENCODER)
    session.model.use(encoder)
    assert form.image_prompts == (ImagePrompt(image="", encoder=encoder.path),)
    form.image_prompts = (ImagePrompt(image="/a.png"), ImagePrompt(image="/b.png"))
    session.model.use(encoder)
    assert [image_prompt.encoder for image_prompt in form.image_prompts] == [encoder.path] * 2


def test_an_upscaler_enlarges_in_the_last_pass_and_is_offered_first_for_pictures(
    staged: Staged, tmp_path: Path
) -> None:
    session, form = staged.session, staged.session.generation
    upscaler = model(tmp_path / "sharp.pth", ModelKind.UPSCALER)
    session.model.use(upscaler)
    assert form.second_passes == (SecondPass(upscaler=upscaler.path),)
    assert session.upscales.latest == upscaler.path
    form.second_passes = (SecondPass(), SecondPass(strength=0.3))
    session.model.use(upscaler)
    assert form.second_passes == (SecondPass(), SecondPass(strength=0.3, upscaler=upscaler.path))


def test_a_part_that_is_given_can_be_taken_back(staged: Staged, tmp_path: Path) -> None:
    session = staged.session
    mix = tmp_path / "mix.safetensors"
    session.model.supply(str(mix), "vae", "/vae.safetensors")
    session.checkpoint.open(mix)
    assert session.generation.used_components == ComponentFiles(vae="/vae.safetensors")
    undo = session.notices.notices[-1].undo
    assert undo is not None
    undo()
    assert session.generation.used_components == ComponentFiles()


def test_a_part_is_taken_back_without_those_that_were_given_after_it(
    staged: Staged, tmp_path: Path
) -> None:
    session = staged.session
    mix = tmp_path / "mix.safetensors"
    session.checkpoint.open(mix)
    session.model.supply(str(mix), "vae", "/vae.safetensors")
    undo = session.notices.notices[-1].undo
    session.model.supply(str(mix), "text_encoder", "/clip.safetensors")
    assert undo is not None
    undo()
    assert session.generation.used_components == ComponentFiles(text_encoder="/clip.safetensors")


def test_a_model_goes_to_the_trash_and_comes_back(staged: Staged, tmp_path: Path) -> None:
    session, path = staged.session, tmp_path / "mix.safetensors"
    path.write_bytes(b"weights")
    session.model.trash(model(path, ModelKind.CHECKPOINT))
    staged.wait(lambda: bool(session.notices.notices))
    assert not path.exists()
    undo = session.notices.notices[-1].undo
    assert undo is not None
    undo()
    staged.wait(path.exists)
    assert path.read_bytes() == b"weights"


def test_a_model_that_cannot_be_moved_is_told_of(staged: Staged, tmp_path: Path) -> None:
    staged.session.model.trash(model(tmp_path / "gone", ModelKind.LORA))
    staged.wait(lambda: bool(staged.session.notices.notices))
    assert staged.session.notices.notices[-1].error is not None


def test_on_windows_a_model_that_cannot_be_moved_may_be_in_use(
    staged: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    staged.session.model.trash(model(tmp_path / "gone", ModelKind.LORA))
    staged.wait(lambda: bool(staged.session.notices.notices))
    error = staged.session.notices.notices[-1].error
    assert error is not None
    assert "five minutes" in error.hint


def test_a_note_is_kept(staged: Staged, tmp_path: Path) -> None:
    entry = model(tmp_path / "mix", ModelKind.CHECKPOINT)
    staged.session.model.note(entry, "likes fog")
    staged.wait(lambda: staged.session.model.note_of(entry) == "likes fog")


def test_a_model_of_a_second_pass_is_inspected_once(
    staged: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its abilities the form knows which methods a pass can have."""
    session, form, asked = staged.session, staged.session.generation, list[Path]()

    def look(path: Path, *, will_be_used: bool) -> None:
        assert not will_be_used, "it would be hashed"
        asked.append(path)

    monkeypatch.setattr(session.checkpoints, "look", look)
    other = tmp_path / "other.safetensors"
    for strength in (0.3, 0.5):
        form.second_passes = tuple(
            SecondPass(checkpoint=name, strength=strength)
            for name in (str(other), "a name alone", str(form.checkpoint), None)
        )
    assert asked == [other]
