"""Real disks that are full, read-only or pulled out, below the window with the real engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from app.notices.remedies import NoticeAction
from app.queue.jobs import JobState
from tests.metadata.records import read_record
from tests.mounts import Mounts, fill, mounted
from tests.tiny_checkpoint import SIDE, write_checkpoint
from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_remedies_act import card, chooses, made, press

PAGE = 4096


@pytest.fixture
def mounts() -> Iterator[Mounts]:
    with mounted() as mounts:
        yield mounts


@pytest.fixture
def ready(make_desk: MakeDesk, tmp_path: Path) -> Desk:
    """A desk that makes a picture of noise, larger than two pages, in a moment."""
    return get_ready(make_desk, tmp_path)


def get_ready(make_desk: MakeDesk, folder: Path) -> Desk:
    desk = make_desk(real=True).start()
    desk.session.open_file(write_checkpoint(folder / "tiny"))
    form = desk.session.generation
    form.backend, form.steps, form.width, form.height = "null", 2, SIDE, SIDE
    desk.wait(lambda: desk.session.obstacle.found is None)
    return desk


def generate(desk: Desk) -> None:
    """Press the button and wait until the picture is made, or is not."""
    before = len(desk.queue.jobs)
    desk.session.jobs.generate()
    desk.wait_for_jobs(before + 1)


def failure(desk: Desk) -> str:
    """The message and the hint of the only failure that is told."""
    desk.wait(lambda: bool(desk.window.notices.cards))
    said = f"{card(desk).message.text()} {card(desk).hint.text()}"
    # Lines of long paths may break at these.
    return said.replace("\N{ZERO WIDTH SPACE}", "")


def is_whole(path: str) -> bool:
    with Image.open(path) as image:
        image.load()
    return read_record(Path(path)) is not None


def test_a_picture_that_neither_its_disk_nor_the_temporary_takes_is_saved_elsewhere(
    make_desk: MakeDesk, mounts: Mounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, elsewhere = tmp_path / "temporary", tmp_path / "elsewhere"
    monkeypatch.setenv("TMPDIR", str(temporary))
    mounts.disk(temporary)
    desk = get_ready(make_desk, tmp_path)
    mounts.disk(desk.paths.output)
    fill(desk.paths.output)
    # Enough for Python to take it for a folder of temporary files, and too little for a picture.
    fill(temporary, free=PAGE)
    generate(desk)
    said = failure(desk)
    assert str(desk.paths.output) in said
    assert "0.1 MB are needed" in said
    assert "held in memory" in said
    assert [path.name for path in desk.paths.output.iterdir()] == ["ballast"]
    chooses(monkeypatch, str(elsewhere))
    press(desk, NoticeAction.CHOOSE_FOLDER)
    job = made(desk)
    assert job.attempts == 1
    assert Path(job.images[0]).parent == elsewhere
    assert is_whole(job.images[0])


def test_a_read_only_folder_of_pictures_is_told_and_another_one_used(
    ready: Desk, mounts: Mounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.paths.output.mkdir(exist_ok=True)
    mounts.protect(ready.paths.output)
    generate(ready)
    said = failure(ready)
    assert str(ready.paths.output) in said
    assert "Read-only file system" in said
    assert "Choose another folder for pictures." in said
    elsewhere = tmp_path / "elsewhere"
    chooses(monkeypatch, str(elsewhere))
    press(ready, NoticeAction.CHOOSE_FOLDER)
    (image,) = made(ready).images
    assert Path(image).parent == elsewhere
    assert is_whole(image)


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_pictures_are_made_though_neither_cache_nor_temporary_files_have_a_disk(
    make_desk: MakeDesk,
    mounts: Mounts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    cache, temporary = tmp_path / "cache", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    if how == "full":
        kept = {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}
        for folder in (cache, temporary):
            mounts.disk(folder)
        for path, content in kept.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for folder in (cache, temporary):
            fill(folder)
    else:
        for folder in (cache, temporary):
            mounts.protect(folder)
    desk = get_ready(make_desk, tmp_path)
    generate(desk)
    (job,) = desk.queue.jobs
    assert is_whole(job.images[0])
    assert [notice.error for notice in desk.session.notices.notices if notice.error] == []
    # The gallery, which is opened now, cannot keep what it finds.
    assert desk.session.gallery_index.folders
    desk.wait(lambda: any(notice.error for notice in desk.session.notices.notices))
    (error,) = (notice.error for notice in desk.session.notices.notices if notice.error)
    assert str(cache) in error.message
    assert ("MB are needed" in error.hint) == (how == "full")


def test_the_disk_of_pictures_may_be_pulled_out_while_one_is_made(
    ready: Desk, mounts: Mounts, tmp_path: Path
) -> None:
    stick, output = tmp_path / "stick", ready.paths.output
    mounts.disk(stick)
    mounts.plug_in(stick, output)
    ready.session.generation.steps = 150
    ready.session.jobs.generate()
    ready.wait(lambda: ready.session.progress.done > 0)
    mounts.pull(output)
    # As with a drive that the system had mounted at a folder of its own.
    output.rmdir()
    output.touch()
    (job,) = ready.wait_for_jobs(1)
    assert job.state is JobState.FAILED
    assert str(output) in failure(ready)
    assert "kept in" in failure(ready)
    output.unlink()
    mounts.plug_in(stick, output)
    press(ready, NoticeAction.RETRY)
    (image,) = made(ready).images
    assert Path(image).parent == output
    assert is_whole(str(stick / Path(image).name))
