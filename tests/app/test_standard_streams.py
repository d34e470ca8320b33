"""Pictures are made and kept, and the exit status is right, whatever becomes of what is said."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from PIL import Image

from tests.thinned import thinned

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="closed by a Unix shell")
COMMAND = f"{sys.executable} -m app"
# The null backend: the networks are no part of what is told.
MAKE = f"{COMMAND} generate 'a house' --steps 1 --size 64x64 --seed 1 --backend null"
ROOT = Path(__file__).parents[2]
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")


def shell(line: str, tmp_path: Path) -> tuple[subprocess.CompletedProcess[str], list[Path]]:
    """The result of a line in a shell, and the pictures it made."""
    out = tmp_path / "pictures"
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        env=os.environ | {"SAFELIGHT_OUTPUT": str(out)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done, sorted(out.glob("*.png"))


@needs_full
@pytest.mark.parametrize("option", thinned(["--count 2", "--json --count 2"], ["--json --count 2"]))
def test_a_full_output_costs_no_picture(option: str, tmp_path: Path) -> None:
    done, made = shell(f"{MAKE} {option} > /dev/full", tmp_path)
    assert done.returncode == 1
    assert len(made) == 2
    assert "standard output: No space left on device" in done.stderr
    for picture in made:
        assert f"The picture is saved as {picture}." in done.stderr


@needs_full
def test_a_full_output_costs_no_enlarged_picture(tmp_path: Path) -> None:
    for name in "one", "two":
        Image.new("RGB", (8, 8)).save(tmp_path / f"{name}.png")
    pictures = f"{tmp_path}/one.png {tmp_path}/two.png"
    done, made = shell(
        f"{COMMAND} upscale {pictures} --model lanczos --scale 2 > /dev/full", tmp_path
    )
    assert done.returncode == 1
    assert len(made) == 2
    for picture in made:
        assert f"The picture is saved as {picture}." in done.stderr


CLOSED = ("2>&-", "2>/dev/full", ">&- 2>&-", ">&- 2>&- <&-")


@needs_full
@pytest.mark.parametrize("closed", thinned(CLOSED, CLOSED[1::2]))
def test_errors_that_nobody_hears_cost_no_picture(closed: str, tmp_path: Path) -> None:
    done, made = shell(f"{MAKE} {closed}", tmp_path)
    assert done.returncode == 0
    assert len(made) == 1
    assert done.stdout == ("" if ">&- 2" in closed else f"{made[0]}\n")


def test_a_closed_output_costs_no_picture(tmp_path: Path) -> None:
    for option in "", "--json":
        done, made = shell(f"{MAKE} {option} >&-", tmp_path)
        assert done.returncode == 0
        assert made.pop().stat().st_size


def test_a_reader_that_leaves_costs_no_picture(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    out = tmp_path / "pictures"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{MAKE} --count 2 --out {out}/"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=ROOT,
    )
    os.close(write)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(list(out.glob("*.png"))) == 2


@needs_full
@pytest.mark.parametrize(
    ("command", "unbuffered"),
    thinned(
        list(product(["models", "devices --json", "--help"], ["", "1"])),
        [("models", ""), ("devices --json", "1")],
    ),
)
def test_every_command_says_that_its_output_is_full(
    command: str, unbuffered: str, tmp_path: Path
) -> None:
    line = f"PYTHONUNBUFFERED={unbuffered} {COMMAND} {command} > /dev/full"
    done, _ = shell(line, tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "standard output: No space left on device" in done.stderr


@needs_full
@pytest.mark.parametrize("closed", ["2>/dev/full", "2>&-"])
def test_the_exit_status_says_what_nobody_hears(closed: str, tmp_path: Path) -> None:
    for arguments, status in ("nonsense", 2), ("inspect /nonexistent", 1):
        assert shell(f"{COMMAND} {arguments} {closed}", tmp_path)[0].returncode == status
