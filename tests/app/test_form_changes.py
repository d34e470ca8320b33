"""Whatever replaces what the form holds can be undone, and takes only what it says."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.form.changes import FormChanges, Reuse
from app.form.fields import Form
from app.form.presets import Preset, PresetPart
from app.library.checkpoint_declarations import CheckpointDeclaration
from app.notices.remedies import NoticeAction
from engine.api.request import CheckpointOverride, ComponentFiles, SeedOptions
from engine.api.values import PredictionType
from engine.metadata.png import TextChunk, insert_text_chunks
from engine.metadata.record import record_chunks
from tests.app.fake_engine import Plan
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.metadata.records import PLAIN, PNG


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    staged = Staged(tmp_path, qtbot, fake_command(Plan()), QUICK)
    form = staged.session.generation
    form.prompt, form.steps, form.width, form.height, form.count = "mine", 11, 320, 256, 4
    form.seed, form.seed_locked = 99, True
    form.clip_skip, form.seed_options = 2, SeedOptions(variation_seed=3)
    form.start_from("/pictures/photo.png", 320, 256)
    yield staged
    staged.end()


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    path.write_bytes(insert_text_chunks(PNG, record_chunks(PLAIN)))
    return path


PREDICTS_V = CheckpointOverride(prediction=PredictionType.V)
PRESET = Preset(
    name="plain",
    parts=(PresetPart.PROMPTS, PresetPart.SETTINGS),
    form=Form(prompt="a boat", steps=7),
)
CHANGES: dict[str, Callable[[FormChanges, Path], None]] = {
    "settings": lambda changes, picture: changes.use_settings(picture),
    "everything": lambda changes, picture: changes.use_settings(picture, Reuse.EVERYTHING),
    "prompt": lambda changes, picture: changes.use_settings(picture, Reuse.PROMPT),
    "seed": lambda changes, picture: changes.use_settings(picture, Reuse.SEED),
    "surprise": lambda changes, picture: changes.surprise(),
    "reset": lambda changes, picture: changes.reset(),
    "start": lambda changes, picture: changes.start_from(str(picture), 640, 640),
    "noise": lambda changes, picture: changes.start_anew(),
    "model": lambda changes, picture: changes.choose_checkpoint(Path("/models/other.safetensors")),
    "opened": lambda changes, picture: changes.open_checkpoint(Path("/models/other.safetensors")),
    "text": lambda changes, picture: changes.use_text("a boat\nSteps: 7, Sampler: Euler, Seed: 1"),
    "preset": lambda changes, picture: changes.use_preset(PRESET),
    "postcard": lambda changes, picture: changes.use_starter("a boat"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_replacement_can_be_undone_and_done_again(
    staged: Staged, picture: Path, change: str
) -> None:
    session = staged.session
    before = session.generation.form
    CHANGES[change](session.changes, picture)
    staged.wait(lambda: session.generation.form != before)
    after = session.generation.form
    for wanted in (before, after, before):
        (notice,) = session.notices.notices
        assert notice.actions == (NoticeAction.UNDO_CHANGE,)
        session.remedies.act(notice, NoticeAction.UNDO_CHANGE)
        assert session.generation.form == wanted


def test_every_way_to_change_the_form_is_among_these() -> None:
    ways = {name for name in vars(FormChanges) if not name.startswith("_")}
    known = {"use_settings", "reset", "surprise", "start_from", "start_anew"}
    known |= {"choose_checkpoint", "open_checkpoint", "use_preset", "use_starter", "use_text"}
    # To forget the settings of the chosen model is to reset them.
    others = {
        "undo",
        "step_back",
        "step_forward",
        "apply",
        "remembered",
        "remembered_changed",
        "forget",
        "staticMetaObject",
    }
    assert ways - known == others


def test_a_replacement_that_changes_nothing_says_nothing(staged: Staged) -> None:
    staged.session.changes.reset()
    (notice,) = staged.session.notices.notices
    staged.session.remedies.dismiss(notice)
    staged.session.changes.reset()
    assert staged.session.notices.notices == ()


def test_a_notice_of_the_form_goes_once_it_is_stale_and_can_be_undone_still(
    staged: Staged,
) -> None:
    changes, form = staged.session.changes, staged.session.generation
    notices, before = staged.session.notices, staged.session.generation.form

    def told() -> list[str]:
        return [notice.message for notice in notices.notices]

    changes.open_checkpoint(Path("/models/first.safetensors"))
    changes.open_checkpoint(Path("/models/second.safetensors"))
    assert told() == ["second is the model now."]
    changes.surprise()
    assert told() == ["The prompt is an example now."]
    form.checkpoint = Path("/models/third.safetensors")
    assert told() == []
    for _ in range(3):
        staged.session.remedies.undo_latest()
    assert form.form == before


def test_texts_typed_since_a_change_are_not_undone_with_it(staged: Staged) -> None:
    changes, form = staged.session.changes, staged.session.generation
    changes.reset()
    form.prompt, form.negative_prompt = "typed since", "also typed"
    staged.session.remedies.undo_latest()
    assert (form.prompt, form.negative_prompt, form.steps) == ("typed since", "also typed", 11)
    # A text that the change replaced comes back.
    changes.surprise()
    form.prompt, form.negative_prompt = "typed into the example", "more"
    staged.session.remedies.undo_latest()
    assert (form.prompt, form.negative_prompt) == ("typed since", "more")


@pytest.mark.parametrize("locked", [True, False])
def test_settings_are_all_but_the_seed_and_how_many(
    staged: Staged, picture: Path, locked: bool
) -> None:
    form = staged.session.generation
    form.seed_locked = locked
    staged.session.pictures.use_settings(picture)
    staged.wait(lambda: form.prompt == PLAIN.request.prompt)
    assert form.steps == PLAIN.request.steps
    assert (form.seed, form.seed_locked, form.count) == (99, locked, 4)
    assert form.seed_options.variation_seed == 3
    assert form.inputs == ()


def test_a_prompt_is_the_prompt_alone(staged: Staged, picture: Path) -> None:
    form = staged.session.generation
    before = form.form
    staged.session.pictures.use_settings(picture, Reuse.PROMPT)
    staged.wait(lambda: form.prompt == PLAIN.request.prompt)
    negative = PLAIN.request.negative_prompt
    wanted = msgspec.structs.replace(before, prompt=form.prompt, negative_prompt=negative)
    assert form.form == wanted


def test_a_seed_is_the_seed_alone_and_is_kept(staged: Staged, picture: Path) -> None:
    form = staged.session.generation
    form.seed_locked = False
    staged.session.pictures.use_settings(picture, Reuse.SEED)
    staged.wait(lambda: form.seed == PLAIN.request.seed)
    assert form.seed_locked
    assert (form.prompt, form.steps) == ("mine", 11)
    assert form.seed_options == PLAIN.request.seed_options
    assert form.clip_skip == 2


def test_a_size_that_a_start_picture_sets_is_said(staged: Staged, picture: Path) -> None:
    staged.session.pictures.start_from(str(picture), 256, 384)
    form = staged.session.generation
    (notice,) = staged.session.notices.notices
    assert f"{form.width} × {form.height}" in notice.message  # noqa: RUF001


@pytest.mark.parametrize("change", ["reset", "preset", "model"])
def test_settings_that_tell_no_size_leave_that_of_a_start_picture(
    staged: Staged, picture: Path, change: str
) -> None:
    form = staged.session.generation
    CHANGES[change](staged.session.changes, picture)
    assert (form.width, form.height, form.clip_skip) == (320, 256, None)
    assert not form.has_choices or change == "preset"
    (notice,) = staged.session.notices.notices
    assert "last used" not in notice.message


def test_a_preset_with_a_size_gives_it_to_a_start_picture(staged: Staged) -> None:
    form = staged.session.generation
    sized = msgspec.structs.replace(PRESET, form=Form(width=640, height=512))
    staged.session.changes.use_preset(sized)
    assert (form.width, form.height) == (640, 512)


def test_a_preset_without_a_size_leaves_it_to_the_model(staged: Staged) -> None:
    form = staged.session.generation
    form.inputs = ()
    staged.session.changes.use_preset(PRESET)
    assert (form.width, form.height) == (None, None)


def drawn_with(path: Path, models: str) -> Path:
    """A picture of AUTOMATIC1111 that names these models."""
    text = f"a house\nSteps: 5, Sampler: Euler, Seed: 8, {models}"
    path.write_bytes(insert_text_chunks(PNG, [TextChunk("parameters", text)]))
    return path


def test_declarations_of_a_model_stay_with_settings_of_other_tools(
    staged: Staged, picture: Path, tmp_path: Path
) -> None:
    session, form = staged.session, staged.session.generation
    model = staged.paths.models / "dream.safetensors"
    model.parent.mkdir(parents=True, exist_ok=True)
    model.write_bytes(b"weights")
    session.checkpoints.refresh()
    staged.wait(lambda: len(session.checkpoints.entries) == 2)
    session.changes.choose_checkpoint(model)
    declared = CheckpointDeclaration(components=ComponentFiles(text_encoder="/models/text"))
    session.checkpoint.declare(declared)
    # Whether the picture names the model, another one that is not there, or none.
    for names in ("Model: dream", "Model: gone", "Version: v1.10.1"):
        form.prompt = "mine"
        session.changes.use_settings(drawn_with(tmp_path / "b.png", names))
        staged.wait(lambda: form.prompt == "a house")
        assert (form.checkpoint, form.declaration) == (model, declared)
    # A picture of Safelight tells all of its own model.
    missing = msgspec.structs.replace(PLAIN.request, override=PREDICTS_V, checkpoint="/gone")
    record = msgspec.structs.replace(PLAIN, request=missing)
    picture.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    session.changes.use_settings(picture)
    staged.wait(lambda: form.prompt == PLAIN.request.prompt)
    assert form.declaration == declared
    there = msgspec.structs.replace(missing, checkpoint=str(model))
    record = msgspec.structs.replace(PLAIN, request=there)
    picture.write_bytes(insert_text_chunks(PNG, record_chunks(record)))
    session.changes.use_settings(picture)
    staged.wait(lambda: form.declaration != declared)
    assert form.declaration == CheckpointDeclaration(override=PREDICTS_V)


def test_a_postcard_starts_from_nothing_where_a_canvas_was_grown(staged: Staged) -> None:
    form = staged.session.generation
    form.grow((64, 0, 0, 0), 320, 256)
    staged.session.changes.use_starter("a boat")
    assert form.build_request().inputs == ()
    assert not form.build_request().mask_options.expands


def test_models_that_another_tool_names_are_those_of_the_users_folder(
    staged: Staged, tmp_path: Path
) -> None:
    session, models = staged.session, staged.paths.models
    for name in ("sd15/dream", "soft", "a/twice", "b/twice"):
        (models / name).parent.mkdir(parents=True, exist_ok=True)
        (models / f"{name}.safetensors").write_bytes(b"weights")
    session.checkpoints.refresh()
    staged.wait(lambda: len(session.checkpoints.entries) == 5)
    form = session.generation
    hires = "Denoising strength: 0.7, Hires upscale: 2, Hires checkpoint: soft [0123456789]"
    picture = drawn_with(tmp_path / "b.png", f"Model: dream, {hires}, Version: v1.10.1")
    session.changes.use_settings(picture)
    staged.wait(lambda: form.checkpoint == models / "sd15/dream.safetensors")
    (second,) = form.second_passes
    assert second.checkpoint == str(models / "soft.safetensors")
    assert not session.notices.notices[-1].details
    # Of two files only the user knows which one it was, unless it is chosen.
    session.changes.use_settings(drawn_with(tmp_path / "c.png", "Model: twice"))
    staged.wait(lambda: bool(session.notices.notices[-1].details))
    assert form.checkpoint == models / "sd15/dream.safetensors"
    session.changes.choose_checkpoint(models / "b/twice.safetensors")
    session.changes.use_settings(drawn_with(tmp_path / "d.png", "Model: twice, Version: v1.10.1"))
    staged.wait(lambda: "d.png" in session.notices.notices[-1].message)
    assert form.checkpoint == models / "b/twice.safetensors"
    assert not session.notices.notices[-1].details


def test_the_vae_that_another_tool_names_comes_with_its_model(
    staged: Staged, tmp_path: Path
) -> None:
    session, models, form = staged.session, staged.paths.models, staged.session.generation
    (models / "vae").mkdir(parents=True, exist_ok=True)
    for name in ("dream.safetensors", "vae/taesdxl_decoder.pth"):
        (models / name).write_bytes(b"weights")
    session.checkpoints.refresh()
    staged.wait(lambda: len(session.checkpoints.entries) == 2)
    names = "Model: dream, VAE: taesdxl, Version: v1.10.1"
    session.changes.use_settings(drawn_with(tmp_path / "b.png", names))
    staged.wait(lambda: form.checkpoint == models / "dream.safetensors")
    assert form.components.vae == str(models / "vae/taesdxl_decoder.pth")
    assert not session.notices.notices[-1].details
    form.components = ComponentFiles()
    session.changes.use_text(f"a boat\nSteps: 7, Sampler: Euler, Seed: 1, {names}")
    staged.wait(lambda: form.prompt == "a boat")
    assert form.components.vae == str(models / "vae/taesdxl_decoder.pth")
