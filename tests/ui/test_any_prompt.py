"""Any text in the prompt's field: cut at its bound, and in the picture's file just as it stands."""

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from app.form.generation import MOST_CHARACTERS
from engine.api.saving import PictureFormat
from engine.api.values import ErrorCode
from tests.app.requests import generation_of
from tests.counted_work import work
from tests.metadata.records import read_record
from tests.tiny_checkpoint import SIDE, write_checkpoint
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_window_faults import ODD

MILLION = 1_000_000
BIDI = "\N{RIGHT-TO-LEFT OVERRIDE}\N{RIGHT-TO-LEFT ISOLATE}שלום\N{POP DIRECTIONAL ISOLATE}"
UNSEEN = "a\N{ZERO WIDTH SPACE}\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NO-BREAK SPACE}"
HUGE = {
    "100 kB": "a red horse, (at:1.2) dawn\n" * 4000,
    "words": "word " * (MILLION // 5),
    "one word": "w" * MILLION,
    "nulls": "a\0" * (MILLION // 2),
    "bidi": BIDI * (MILLION // len(BIDI)),
    "zero width": UNSEEN * (MILLION // len(UNSEEN)),
    # Of two units of UTF-16 each, and of several letters: none may be cut in two.
    "emoji": "x" + "😀" * MILLION,
    "families": "👩‍👩‍👧‍👦" * (MILLION // 7),
    "lines": "\n" * MILLION,
    "brackets": "((((" * (MILLION // 4),
}
QUICK_ONES = ("100 kB", "nulls", "emoji", "bidi")


def paste(desk: Desk, text: str) -> str:
    """Paste a text in place of the prompt; return what the field holds then."""
    prompt = desk.window.form.prompt
    QGuiApplication.clipboard().setText(text)
    prompt.selectAll()
    prompt.paste()
    return prompt.toPlainText()


def comes_back(desk: Desk, text: str) -> None:
    """Make a picture of a prompt and use its settings: file and form tell just this prompt."""
    desk.session.jobs.generate()
    job = desk.wait_for_jobs(len(desk.queue.jobs) + 1)[-1]
    assert job.error is None, job.error
    (image,) = job.images
    record = read_record(Path(image))
    assert record is not None
    assert record.request.prompt == generation_of(job).prompt == text
    desk.window.form.prompt.clear()
    desk.session.pictures.use_settings(Path(image))
    desk.wait(lambda: desk.window.form.prompt.toPlainText() == text)
    assert desk.session.generation.prompt == text


@pytest.fixture
def tiny_desk(make_desk: MakeDesk, tmp_path: Path) -> Desk:
    """The window over the real engine, with a network that is quick."""
    desk = make_desk(real=True).start()
    desk.session.open_file(write_checkpoint(tmp_path / "tiny"))
    form = desk.session.generation
    form.backend, form.steps = "null", 1
    form.width = form.height = SIDE
    desk.wait(lambda: desk.session.obstacle.found is None)
    return desk


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, marks=() if key in QUICK_ONES else pytest.mark.slow, id=key)
        for key, text in HUGE.items()
    ],
)
def test_a_huge_prompt_is_cut_and_told_and_whatever_is_used_is_in_its_picture(
    tiny_desk: Desk, text: str
) -> None:
    pasted = paste(tiny_desk, text)
    assert text.startswith(pasted)
    assert MOST_CHARACTERS / 4 < len(pasted) <= MOST_CHARACTERS
    told = [card.message.text() for card in tiny_desk.window.notices.cards]
    assert "The text was too long to be pasted whole." in told
    tiny_desk.session.jobs.generate()
    (job,) = tiny_desk.wait_for_jobs(1)
    assert generation_of(job).prompt == pasted
    if job.error is not None:
        # It fits into the field, and no network reads so much.
        assert job.error.code is ErrorCode.REQUEST_INVALID
        assert "tokens" in str(job.error.text)
        pasted = paste(tiny_desk, text[:600])
    comes_back(tiny_desk, pasted)


def test_odd_prompts_are_exactly_in_their_pictures(tiny_desk: Desk) -> None:
    formats = list(PictureFormat)
    for number, text in enumerate(ODD):
        tiny_desk.session.settings.change(picture_format=formats[number % len(formats)])
        comes_back(tiny_desk, paste(tiny_desk, text))


def test_a_hundred_times_more_that_is_cut_is_no_more_work(desk: Desk) -> None:
    texts = "word " * 4000, "word " * 400_000
    paste(desk, texts[0])  # what is made once is made already
    short, long = (work(lambda text=text: paste(desk, text)) for text in texts)
    assert long < 2 * short + 1000, (short, long)
