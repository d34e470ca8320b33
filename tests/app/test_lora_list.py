"""The LoRAs of the form: what is applied, what is left out and what is missing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from pytestqt.qtbot import QtBot

from app.form.fields import Extras
from app.form.generation import Suggestions
from app.form.lora_list import LoraFate
from engine.api.conventions import convention_of
from engine.api.features import Features
from engine.api.lora import LoraChoice, LoraHash
from engine.api.lora_files import LoraInfo
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName
from engine.metadata.png import TextChunk, insert_text_chunks
from engine.text.tags import reads_tags
from tests.app.fake_engine import Plan
from tests.app.layers import EVERY_OPTION, say_family
from tests.app.loras import BROKEN, FAST, HUGE, INK, LCM, LORAS, lora
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.checkpoints.files import CHECKPOINT, write_sparse
from tests.jobs.test_lora_index import KEYS

ELSEWHERE = """a cat <lora:seaside:0.8> <lora:ink:1>
Negative prompt: blurry
Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 512x512, Model: mix, \
Lora hashes: "seaside: 0123456789ab, ink: abababababab", Version: v1.10.1"""


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    staged = Staged(tmp_path, qtbot, fake_command(Plan(loras=LORAS)), QUICK)
    staged.start()
    staged.wait(lambda: staged.session.loras.is_listed)
    choose(staged, "sd1")
    yield staged
    staged.end()


def choose(staged: Staged, family: str, features: Features = EVERY_OPTION) -> None:
    """The engine says that the chosen checkpoint is of a family, and what it can do."""
    say_family(staged.session, family, features)


def fates(staged: Staged) -> list[LoraFate]:
    return [row.fate for row in staged.session.lora_list.rows]


def files(request: GenerateRequest) -> list[str]:
    return [choice.file for choice in request.loras]


def test_a_chosen_file_is_in_the_request_with_its_strengths(staged: Staged) -> None:
    session = staged.session
    session.lora.add(INK.path)
    session.lora.change(0, strength=0.6, text_strength=0.2)
    assert fates(staged) == [LoraFate.APPLIED]
    expected = LoraChoice(file=INK.path, strength=0.6, text_strength=0.2)
    assert session.generation.build_request().loras == (expected,)


def test_one_that_is_switched_off_stays_in_the_list(staged: Staged) -> None:
    session = staged.session
    session.lora.add(INK.path)
    session.lora.change(0, enabled=False)
    assert fates(staged) == [LoraFate.OFF]
    assert session.generation.build_request().loras == ()
    session.lora.add(INK.path)
    assert fates(staged) == [LoraFate.APPLIED]


def test_one_of_another_family_is_left_out_until_its_checkpoint_is_chosen(staged: Staged) -> None:
    session = staged.session
    for info in (INK, HUGE, BROKEN):
        session.lora.add(info.path)
    assert fates(staged) == [LoraFate.APPLIED, LoraFate.UNSUITED, LoraFate.BROKEN]
    assert files(session.generation.build_request()) == [INK.path]
    choose(staged, "sdxl")
    assert fates(staged) == [LoraFate.UNSUITED, LoraFate.APPLIED, LoraFate.BROKEN]
    assert files(session.generation.build_request()) == [HUGE.path]
    assert len(session.generation.loras) == 3


def test_a_file_outside_of_the_folders_is_looked_at_once(staged: Staged, tmp_path: Path) -> None:
    session, path = staged.session, str(tmp_path / "gone.safetensors")
    session.lora.add(path)
    assert fates(staged) == [LoraFate.UNREAD]
    # The fake engine knows no such file.
    staged.wait(lambda: fates(staged) == [LoraFate.MISSING])
    # The engine tells what it does not find, and makes the picture.
    assert files(session.generation.build_request()) == [path]


def test_a_name_from_another_program_is_found_and_a_lost_one_is_missing(staged: Staged) -> None:
    session = staged.session
    session.generation.loras = (
        LoraChoice(file="ink"),
        LoraChoice(file="renamed", hash="abababababab"),
        LoraChoice(file="lost", hash="cd" * 6),
    )
    rows = session.lora_list.rows
    assert [row.info for row in rows] == [INK, INK, None]
    assert fates(staged) == [LoraFate.APPLIED, LoraFate.APPLIED, LoraFate.MISSING]


def test_loras_that_the_prompt_names_are_told_with_their_hashes(staged: Staged) -> None:
    session = staged.session
    session.generation.prompt = "a cat <lora:ink:0.8> <lyco:seaside:1:0.5>"
    session.generation.extras = Extras(lora_hashes=(LoraHash(name="Seaside", hash="cd" * 6),))
    named = session.lora_list.named
    assert [(named_lora.name, named_lora.info, named_lora.hash) for named_lora in named] == [
        ("ink", INK, ""),
        ("seaside", None, "cd" * 6),
    ]


@pytest.mark.parametrize("begun", ["<lora:sea", "<lora:seaside:0.8", "<lora:sea <b"])
def test_a_tag_that_is_being_typed_names_nothing(staged: Staged, begun: str) -> None:
    """A row for a LoRA that is missing came and went with each letter."""
    staged.session.generation.prompt = f"a cat {begun}"
    assert staged.session.lora_list.named == ()


def test_a_picture_of_another_tool_tells_the_hash_of_a_lost_one(
    staged: Staged, tmp_path: Path
) -> None:
    session, path = staged.session, tmp_path / "elsewhere.png"
    Image.new("RGB", (64, 64)).save(path)
    text = TextChunk("parameters", ELSEWHERE)
    path.write_bytes(insert_text_chunks(path.read_bytes(), [text]))
    session.open_file(path)
    staged.wait(lambda: bool(session.lora_list.named))
    named = {named_lora.name: named_lora for named_lora in session.lora_list.named}
    assert named["ink"].info == INK
    assert (named["seaside"].info, named["seaside"].hash) == (None, "0123456789ab")


@pytest.mark.parametrize("convention", [ConventionName.INVOKE, ConventionName.DIFFUSERS])
def test_a_tag_that_is_text_to_the_tool_names_nothing(
    staged: Staged, convention: ConventionName
) -> None:
    form = staged.session.generation
    form.prompt = form.negative_prompt = "<lora:ink:1>"
    assert len(staged.session.lora_list.named) == 1
    form.convention = convention
    assert (len(staged.session.lora_list.named) == 0) is not reads_tags(convention_of(convention))


@pytest.mark.parametrize(
    ("tag", "strength", "text"),
    [
        ("<lora:seaside>", 1.0, None),
        ("<lora:seaside:0.7>", 0.7, None),
        # The text encoders' strength comes first, as A1111 has it.
        ("<lyco:seaside:0.2:-1>", -1.0, 0.2),
    ],
)
def test_a_lost_one_that_is_found_moves_from_the_prompt_to_the_list(
    staged: Staged, tag: str, strength: float, text: float | None
) -> None:
    session = staged.session
    session.generation.prompt = f"a cat {tag}, by day"
    before = session.generation.form
    session.lora.replace_named(session.lora_list.named[0], Path("/else/sea.safetensors"))
    assert session.generation.prompt == "a cat, by day"
    assert session.generation.loras == (
        LoraChoice(file="/else/sea.safetensors", strength=strength, text_strength=text),
    )
    undo(staged)
    assert session.generation.form == before


def test_a_lost_one_with_more_than_strengths_is_renamed_in_the_prompt(
    staged: Staged, tmp_path: Path
) -> None:
    session = staged.session
    session.generation.prompt = "a cat <lora:seaside:1:0@0,1@0.5:lbw=MIDD>, by day"
    before = session.generation.form
    session.lora.replace_named(session.lora_list.named[0], tmp_path / "sea.safetensors")
    assert session.generation.prompt == "a cat <lora:sea:1:0@0,1@0.5:lbw=MIDD>, by day"
    assert session.generation.loras == ()
    assert session.loras.memory.folders == (str(tmp_path),)
    undo(staged)
    assert session.generation.form == before


@pytest.mark.parametrize("name", ["lora", "r", "lo"])
def test_the_name_in_a_tag_is_renamed_and_not_the_word_lora(
    staged: Staged, tmp_path: Path, name: str
) -> None:
    session = staged.session
    session.generation.prompt = f"a cat <lora:{name}:1:0@0,1@0.5>"
    session.lora.replace_named(session.lora_list.named[0], tmp_path / "sea.safetensors")
    assert session.generation.prompt == "a cat <lora:sea:1:0@0,1@0.5>"


def test_a_file_outside_of_the_folders_is_missed_once_it_is_gone(
    tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "elsewhere" / "a.safetensors"
    path.parent.mkdir()
    write_sparse(path, KEYS)
    staged = Staged(tmp_path, qtbot, None).start()
    staged.session.lora.add(str(path))
    staged.wait(lambda: fates(staged) == [LoraFate.APPLIED])
    path.unlink()
    staged.session.look_again()
    staged.wait(lambda: fates(staged) == [LoraFate.MISSING])
    staged.end()


def test_another_file_for_a_missing_one_keeps_its_strength(staged: Staged) -> None:
    session = staged.session
    session.generation.loras = (LoraChoice(file="lost", strength=0.3),)
    session.lora.replace(0, Path(INK.path))
    assert session.generation.loras == (LoraChoice(file=INK.path, strength=0.3),)
    assert fates(staged) == [LoraFate.APPLIED]


@pytest.mark.parametrize("file", ["ink", "/elsewhere/ink.safetensors"])
def test_a_file_that_is_found_by_its_name_is_not_added_twice(staged: Staged, file: str) -> None:
    session = staged.session
    session.generation.loras = (LoraChoice(file=file, enabled=False),)
    session.lora.add(INK.path)
    assert session.generation.loras == (LoraChoice(file=file),)
    session.lora.take_out(INK.path)
    assert session.generation.loras == ()


def test_removing_can_be_undone(staged: Staged) -> None:
    session = staged.session
    session.lora.add(INK.path)
    session.lora.add(FAST.path)
    before = session.generation.loras
    session.lora.remove(0)
    assert files(session.generation.build_request()) == [FAST.path]
    undo(staged)
    assert session.generation.loras == before


def test_the_settings_of_a_few_step_lora_are_used_and_that_is_undone(staged: Staged) -> None:
    session = staged.session
    session.generation.suggestions = Suggestions(512, session.generation.suggestions.settings)
    before = session.generation.effective
    session.lora.use_settings(LCM)
    now = session.generation.effective
    assert (now.sampler, now.schedule, now.steps, now.guidance) == (
        LCM.sampler,
        LCM.schedule,
        LCM.steps,
        LCM.guidance,
    )
    undo(staged)
    assert session.generation.effective == before


def undo(staged: Staged) -> None:
    notice = staged.session.notices.notices[-1]
    assert notice.undo is not None
    notice.undo()


def test_a_dropped_lora_joins_the_list_and_a_checkpoint_becomes_the_model(
    staged: Staged, tmp_path: Path
) -> None:
    session = staged.session
    before = session.generation.checkpoint
    dropped = write_sparse(tmp_path / "dropped.safetensors", KEYS)
    session.open_file(dropped)
    assert [choice.file for choice in session.generation.loras] == [str(dropped)]
    assert session.generation.checkpoint == before
    undo(staged)
    assert session.generation.loras == ()
    mix = write_sparse(tmp_path / "mix.safetensors", CHECKPOINT)
    session.open_file(mix)
    assert session.generation.checkpoint == mix
    assert session.generation.loras == ()


def test_the_time_of_the_last_use_is_kept(staged: Staged) -> None:
    session = staged.session
    session.lora.add(INK.path)
    session.lora.add(HUGE.path)
    session.jobs.generate()
    staged.wait_for_jobs(1)
    memory = session.loras.memory
    assert memory.used_ns(INK.path) > 0
    assert memory.used_ns(HUGE.path) == 0


def test_the_list_is_there_again_after_a_crash(tmp_path: Path, qtbot: QtBot) -> None:
    staged = Staged(tmp_path, qtbot, fake_command(Plan(loras=LORAS)), QUICK)
    staged.session.lora.add(INK.path)
    staged.session.lora.change(0, strength=0.4, enabled=False)
    kept = tmp_path / "state" / "session.json"
    staged.wait(lambda: kept.exists() and b"0.4" in kept.read_bytes())
    again = Staged(tmp_path, qtbot, fake_command(Plan(loras=LORAS)), QUICK)
    expected = (LoraChoice(file=INK.path, strength=0.4, enabled=False),)
    assert again.session.generation.loras == expected
    again.end()
    staged.end()


@pytest.mark.parametrize(
    ("info", "suits"),
    [
        (lora("a", families=(), is_certain=False), True),
        (lora("a", families=("sd2",), is_certain=False), True),
        (lora("a", families=("sd2", "sd1")), True),
        (lora("a", families=(), purpose="a LoRA for Flux"), False),
        (HUGE, False),
    ],
)
def test_a_file_whose_family_is_not_known_may_suit(
    staged: Staged, info: LoraInfo, *, suits: bool
) -> None:
    assert staged.session.lora_list.suits(info) is suits
