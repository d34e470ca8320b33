"""Every folder of Safelight and every file in it may have any name that the system allows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.queue.jobs import JobState
from tests.app.everything import picture_ids
from tests.app.sessions import Staged
from tests.app.supervised import QUICK
from tests.metadata.records import read_record
from tests.tiny_checkpoint import SIDE, write_checkpoint

# Everything at once that a person may type, and all that a script of others may write.
TYPED = "Bücher 日本 🎨 it's #1 100% & <b>“q” עברית"
UNSEEN = "a\N{RIGHT-TO-LEFT OVERRIDE}gnp.\N{ZERO WIDTH SPACE}\t\x07b"
NAMES = {
    "typed": TYPED,
    "unseen": UNSEEN,
    "line": "two\nlines",
    "quotes": "a\"b'c`d\\e",
    "wild": "[a] {b} *? $HOME ~ !",
    "dots": "..a.. ",
    "dash": "-rf",
    "long": "x" * 250,
    "no text": os.fsdecode(b"caf\xe9 \xff"),
    "right to left": "תמונות של ים",
}
QUICK_ONES = ("typed", "unseen", "no text")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has fewer names")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if key in QUICK_ONES else (pytest.mark.slow,), id=key)
        for key, name in NAMES.items()
    ],
)
def test_a_picture_is_made_found_and_kept_in_a_folder_of_any_name(
    tmp_path: Path, qtbot: QtBot, name: str
) -> None:
    # SQLite takes paths of 512 bytes, and the longest name is of 250.
    folder = tmp_path / name / name[:60]
    checkpoint = write_checkpoint(folder / "models" / name)
    staged = Staged(folder, qtbot, None, QUICK).start()
    session = staged.session
    session.open_file(checkpoint)
    form = session.generation
    form.prompt, form.backend, form.steps = "a red horse", "null", 1
    form.width = form.height = SIDE
    staged.wait(lambda: session.obstacle.found is None)
    session.jobs.generate()
    (job,) = staged.wait_for_jobs(1)
    assert job.state is JobState.DONE, job.error
    (image,) = job.images
    assert Path(image).parent == staged.paths.output
    index = session.gallery_index
    staged.wait(lambda: index.id_of(image) is not None)
    index.rate(picture_ids(session, staged), 4)
    (row,) = index.rows(picture_ids(session, staged))
    assert (row.path, row.prompt) == (image, "a red horse")
    staged.end()
    again = Staged(folder, qtbot, None, QUICK)
    assert again.session.generation.checkpoint == checkpoint
    assert [notice.error for notice in again.session.notices.notices] == []
    (row,) = again.session.gallery_index.rows(picture_ids(again.session, again))
    assert row.rating == 4
    again.end()


@pytest.mark.parametrize("locale", ["C", pytest.param("en_US.UTF-8", marks=pytest.mark.slow)])
def test_the_commands_work_in_a_home_with_an_umlaut(tmp_path: Path, locale: str) -> None:
    """All folders are those of the system below it, as no variable moves them."""
    home = tmp_path / "Jürgen O'Größe #1 100%" / TYPED
    checkpoint = write_checkpoint(home / "models" / TYPED)
    beside = set(tmp_path.iterdir())
    prompt = "ein rotes Pferd im Wald, größer 🐎"

    def command(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "app", *words],
            env={"HOME": str(home), "PATH": os.environ["PATH"], "LC_ALL": locale},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    small = ("--backend", "null", "--steps", "1", "--size", f"{SIDE}x{SIDE}")
    command("generate", prompt, "--model", str(checkpoint), *small)
    (image,) = home.rglob("*.png")
    record = read_record(image)
    assert record is not None
    assert record.request.prompt == prompt
    assert "SD 1.x" in command("inspect", str(checkpoint))
    # Nothing went to where another reading of the name leads.
    assert set(tmp_path.iterdir()) == beside
