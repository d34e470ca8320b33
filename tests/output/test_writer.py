"""Pictures on disk: whole or not there, never over another, whatever happens."""

import errno
import os
import random
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.api import ErrorCode
from engine.api.picture_names import PictureFacts, counter_of
from engine.api.remedies import ChooseFolder
from engine.api.saving import DEFAULT_NAME, PictureFormat, Saving
from engine.errors import EngineError
from engine.metadata.pictures import read_text_chunks
from engine.metadata.png import TextChunk
from engine.output.names import Destination, destination
from engine.output.writer import UnwrittenPicture, write_picture
from tests.thinned import thinned

PIXELS: NDArray[np.uint8] = np.random.default_rng(0).integers(0, 256, (24, 40, 3), dtype=np.uint8)


def write(target: Destination, prompt: str = "a cat", seed: int = 7) -> Path:
    return write_picture(PIXELS, target, PictureFacts(seed=seed, prompt=prompt))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def pixels_of(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.mode == "RGB"
        return np.asarray(image)


def test_pixels_and_text_are_read_back(tmp_path: Path) -> None:
    chunks = [TextChunk("parameters", "a cat\nSteps: 1"), TextChunk("safelight", "{}")]
    path = write_picture(
        PIXELS, Destination(tmp_path), PictureFacts(seed=7, prompt="a cat"), chunks=chunks
    )
    assert path == tmp_path / "00001-7-a-cat.png"
    np.testing.assert_array_equal(pixels_of(path), PIXELS)
    assert read_text_chunks(path) == tuple(chunks)
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("form", "longest"), [(PictureFormat.WEBP, 16_383), (PictureFormat.JPEG, 65_500)]
)
def test_a_picture_too_long_for_its_format_is_a_png(
    tmp_path: Path, form: PictureFormat, longest: int
) -> None:
    saving, facts = Saving(format=form, name="{seed}"), PictureFacts(seed=7)
    fits = np.zeros((longest, 1, 3), np.uint8)
    written = write_picture(fits, Destination(tmp_path), facts, saving=saving)
    assert written.name == f"7{form.suffix}"
    longer = np.zeros((1, longest + 1, 3), np.uint8)
    for target in (Destination(tmp_path), Destination(tmp_path, f"7.b{form.suffix}")):
        written = write_picture(longer, target, facts, saving=saving)
        assert pixels_of(written).shape == longer.shape
    assert names(tmp_path) == sorted([f"7{form.suffix}", "7.png", "7.b.png"])


def test_the_counter_continues_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "00041-old.png").touch()
    (tmp_path / "notes.txt").touch()
    target = Destination(tmp_path)
    found = [write(target).name, write(target, prompt="").name, write(target, seed=8).name]
    assert found == ["00042-7-a-cat.png", "00043-7.png", "00044-8-a-cat.png"]


def test_a_counter_being_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".safelight-00005.tmp").touch()
    assert write(Destination(tmp_path)).name == "00006-7-a-cat.png"


def test_missing_folders_are_made(tmp_path: Path) -> None:
    path = write(destination(str(tmp_path / "new" / "er")))
    assert path.parent == tmp_path / "new" / "er"


def test_files_are_numbered_and_not_overwritten(tmp_path: Path) -> None:
    target = destination(str(tmp_path / "cat.png"))
    (tmp_path / "cat-1.png").write_bytes(b"mine")
    assert [write(target).name for _ in range(3)] == ["cat.png", "cat-2.png", "cat-3.png"]
    several = destination(str(tmp_path / "cat.png"), count=2)
    assert [write(several).name for _ in range(2)] == ["cat-4.png", "cat-5.png"]
    assert (tmp_path / "cat-1.png").read_bytes() == b"mine"


def test_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "cat.png").symlink_to(tmp_path / "elsewhere")
    assert write(destination(str(tmp_path / "cat.png"))).name == "cat-1.png"
    assert not (tmp_path / "elsewhere").exists()


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        path = write(Destination(tmp_path))
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o640


def test_stale_temporaries_are_swept(tmp_path: Path) -> None:
    day = 24 * 3600
    for name, age in [
        (".safelight-00009.tmp", day + 60),
        (".safelight-x0123456789abcdef.tmp", day + 60),
        (".safelight-x0000456789abcdef.tmp", day - 60),
        (".safelight-notours.tmp", day * 9),
        ("00001-1.png", day * 9),
    ]:
        (tmp_path / name).touch()
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    write(Destination(tmp_path))
    assert names(tmp_path) == [
        ".safelight-notours.tmp",
        ".safelight-x0000456789abcdef.tmp",
        "00001-1.png",
        "00002-7-a-cat.png",
    ]


def raising(code: int) -> object:
    def fail(*_args: object, **_keywords: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("call", ["fsync", "link"])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (errno.ENOSPC, ErrorCode.DISK_FULL),
        (errno.EDQUOT, ErrorCode.DISK_FULL),
        (errno.EIO, ErrorCode.OUTPUT_NOT_WRITABLE),
        (errno.EROFS, ErrorCode.OUTPUT_NOT_WRITABLE),
        (errno.EACCES, ErrorCode.OUTPUT_NOT_WRITABLE),
        (errno.ENOENT, ErrorCode.OUTPUT_NOT_WRITABLE),
    ],
)
def test_failures_leave_nothing_and_name_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, expected: ErrorCode
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, call, raising(code))
        for target in (Destination(tmp_path), Destination(tmp_path, "cat.png")):
            with pytest.raises(UnwrittenPicture) as caught:
                write(target)
            assert caught.value.code is expected
            assert str(tmp_path) in caught.value.message
            assert caught.value.remedies == (ChooseFolder(),)
            assert names(tmp_path) == []
            # What was to be written is not lost with it.
            file = caught.value.file
            assert file.name == target.name or file.name == "00001-7-a-cat.png"
            with Image.open(BytesIO(file.content)) as image:
                np.testing.assert_array_equal(np.asarray(image), PIXELS)
    assert write(Destination(tmp_path)).name == "00001-7-a-cat.png"


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS])
def test_no_file_is_overwritten_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(os, "link", raising(code))
    target = destination(str(tmp_path / "cat.png"))
    assert [write(target).name for _ in range(2)] == ["cat.png", "cat-1.png"]
    assert write(Destination(tmp_path)).name == "00001-7-a-cat.png"
    assert len(names(tmp_path)) == 3


@pytest.mark.parametrize("folder", ["file/below", "file", "null\0", "x" * 300, "\udcff\ud800"])
def test_an_impossible_folder_is_named_in_the_error(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineError) as caught:
        write(Destination(tmp_path / folder))
    assert caught.value.code is ErrorCode.OUTPUT_NOT_WRITABLE


WRITER = """
import resource, sys
from pathlib import Path
import numpy as np
from engine.api import ErrorCode
from engine.api.picture_names import PictureFacts
from engine.errors import EngineError
from engine.output.names import destination
from engine.output.writer import write_picture

pixels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
target = destination(sys.argv[1])
{body}
"""


def run_writer(body: str, out: Path) -> subprocess.Popen[str]:
    code = WRITER.format(body=body)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True
    )


def test_a_write_that_the_system_cuts_short_is_an_error(tmp_path: Path) -> None:
    """The kernel refuses bytes beyond a file size limit as it does on a full disk."""
    body = """
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    write_picture(pixels, target, PictureFacts(seed=1))
except EngineError as error:
    print(error.code.value, error.message)
"""
    process = run_writer(body, tmp_path)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output.startswith(ErrorCode.DISK_FULL.value)
    assert str(tmp_path) in output
    assert output.rstrip().endswith(": 0.2 MB are needed.")
    assert names(tmp_path) == []


FOREVER = """
print("ready", flush=True)
while True:
    print(write_picture(pixels, target, PictureFacts(seed=1, prompt="a cat")).name, flush=True)
"""


@pytest.mark.parametrize("out", thinned(["pictures", "pictures/cat.png"], ["pictures"]))
def test_a_killed_process_leaves_only_whole_pictures(tmp_path: Path, out: str) -> None:
    generator = random.Random(1)
    told: list[str] = []
    for attempt in range(6):
        process = run_writer(FOREVER, tmp_path / out)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # On a busy machine the first picture takes longer than any of these sleeps.
        if attempt % 2:
            told.append(process.stdout.readline().rstrip("\n"))
        time.sleep(generator.uniform(0.0, 0.12))
        process.kill()
        with process:
            told += process.stdout.read().splitlines()
    folder = tmp_path / "pictures"
    pictures = [path for path in folder.iterdir() if path.suffix == ".png"]
    for path in pictures:
        assert pixels_of(path).shape == (256, 256, 3)
    # Each picture that was told of is there; a kill may come between a file and its telling.
    assert len(set(told)) == len(told)
    assert set(told) <= {path.name for path in pictures}
    assert len(pictures) <= len(told) + 6
    assert told


def test_racing_processes_share_neither_names_nor_counters(tmp_path: Path) -> None:
    body = """
for _ in range(15):
    print(write_picture(pixels, target, PictureFacts(seed=1, prompt=sys.argv[1])).name)
"""
    for out in (tmp_path / "folder", tmp_path / "named" / "cat.png"):
        processes = [run_writer(body, out) for _ in range(3)]
        found = [process.communicate(timeout=60)[0].split() for process in processes]
        assert all(process.returncode == 0 for process in processes)
        told = [name for part in found for name in part]
        assert len(told) == len(set(told)) == 45
        folder = out if out.suffix == "" else out.parent
        assert names(folder) == sorted(told)
    counters = [counter_of(DEFAULT_NAME, name) for name in names(tmp_path / "folder")]
    # One is skipped where two writers see each other's reservation.
    assert len(set(counters)) == 45


@pytest.mark.parametrize("form", [PictureFormat.WEBP, PictureFormat.JPEG])
def test_other_formats_continue_the_counter_of_their_pattern(
    tmp_path: Path, form: PictureFormat
) -> None:
    saving = Saving(format=form, name="{prompt}_{counter}")
    facts = PictureFacts(seed=7, prompt="a cat")
    paths = [write_picture(PIXELS, Destination(tmp_path), facts, saving=saving) for _ in range(2)]
    assert [path.name for path in paths] == [
        f"a-cat_00001{form.suffix}",
        f"a-cat_00002{form.suffix}",
    ]


def test_names_without_a_counter_are_never_overwritten(tmp_path: Path) -> None:
    saving = Saving(name="{prompt}")
    facts = PictureFacts(seed=7, prompt="a cat")
    for _ in range(3):
        write_picture(PIXELS, Destination(tmp_path), facts, saving=saving)
    assert names(tmp_path) == ["a-cat-1.png", "a-cat-2.png", "a-cat.png"]


def test_the_format_of_a_named_file_is_that_of_its_name(tmp_path: Path) -> None:
    facts = PictureFacts(seed=7)
    path = write_picture(PIXELS, destination(str(tmp_path / "cat.webp")), facts)
    with Image.open(path) as image:
        assert image.format == "WEBP"


def test_no_text_is_written_without_metadata(tmp_path: Path) -> None:
    chunks = [TextChunk("parameters", "a cat\nSteps: 1"), TextChunk("safelight", "{}")]
    for form in PictureFormat:
        saving = Saving(format=form, metadata=False)
        facts = PictureFacts(seed=7)
        path = write_picture(PIXELS, Destination(tmp_path), facts, chunks=chunks, saving=saving)
        assert read_text_chunks(path) == ()
        assert b"Steps: 1" not in path.read_bytes()
