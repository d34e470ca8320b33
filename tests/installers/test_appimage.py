"""The AppImage: a runtime, and behind it the file system of a tree."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from installers.inputs import read_inputs
from installers.linux import elf
from installers.linux.appimage import AppImageError, write_image
from installers.linux.appimage_runtime import reviewed_sources

TOOLS = ("gcc", "mksquashfs", "unsquashfs")
needs_tools = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}"
)


@pytest.fixture
def runtime(tmp_path: Path) -> bytes:
    """A program that ends with status 7."""
    source, target = tmp_path / "a.c", tmp_path / "a"
    source.write_text("int main(void) { return 7; }\n")
    subprocess.run(["gcc", "-o", str(target), str(source)], check=True)
    return target.read_bytes()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a launcher and a file that only its owner may read."""
    root = tmp_path / "tree"
    (root / "lib").mkdir(parents=True)
    (root / "safelight").write_text("#!/bin/sh\n")
    (root / "safelight").chmod(0o700)
    (root / "lib" / "ü.txt").write_text("text")
    (root / "lib" / "ü.txt").chmod(0o600)
    return root


@needs_tools
def test_an_appimage_runs_its_runtime_and_holds_the_tree(
    tmp_path: Path, tree: Path, runtime: bytes
) -> None:
    image = write_image(tree, runtime, tmp_path / "a.AppImage")
    assert image.read_bytes()[8:11] == b"AI\x02"
    assert subprocess.run([image], check=False).returncode == 7
    unpacked = tmp_path / "unpacked"
    command = ["unsquashfs", "-no-progress", "-offset", str(len(runtime)), "-d", unpacked, image]
    subprocess.run(command, check=True, capture_output=True)
    assert (unpacked / "AppRun").readlink() == Path("safelight")
    assert (unpacked / ".DirIcon").read_bytes().startswith(b"\x89PNG")
    entry = (unpacked / "safelight.desktop").read_text()
    assert "Exec=safelight %F" in entry
    # Else Wayland's desktops do not let a window that is there come to the front.
    assert "StartupNotify=true" in entry
    assert (unpacked / "lib" / "ü.txt").read_text() == "text"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in unpacked.rglob("*")}
    assert (modes["safelight"], modes["lib"], modes["ü.txt"]) == (0o755, 0o755, 0o644)


@needs_tools
def test_the_same_tree_gives_the_same_appimage(tmp_path: Path, tree: Path, runtime: bytes) -> None:
    first = write_image(tree, runtime, tmp_path / "first").read_bytes()
    for path in (tree / "safelight", tree / "lib" / "ü.txt"):
        os.utime(path, (0, 0))
    (tree / "lib" / "ü.txt").chmod(0o644)
    assert write_image(tree, runtime, tmp_path / "second").read_bytes() == first


@needs_tools
def test_a_runtime_that_would_look_elsewhere_is_refused(
    tmp_path: Path, tree: Path, runtime: bytes
) -> None:
    assert elf.length(runtime) == len(runtime)
    with pytest.raises(AppImageError, match="more in its file"):
        write_image(tree, runtime + b"more", tmp_path / "a.AppImage")
    assert not (tmp_path / "a.AppImage").exists()


def test_the_sources_that_were_reviewed_are_the_pinned_ones() -> None:
    pinned = read_inputs()
    assert [pinned.file(source.name) for source in reviewed_sources()] == list(reviewed_sources())
