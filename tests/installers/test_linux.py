"""The Linux tree: ELF files that are made smaller, versions of glibc, the Debian package."""

import ctypes
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from installers.inputs import Inputs, Target
from installers.linux import elf, icu
from installers.linux.floor import newest_glibc
from installers.linux.packages import ar, write_deb
from installers.system import Tree

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="compiles a small library")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library whose segments start at multiples of 2 MiB."""
    source, target = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text("static int many[5000] = {7}; int seven(void) { return many[0]; }\n")
    options = ["-shared", "-fPIC", "-Wl,-z,max-page-size=0x200000", "-Wl,-z,noseparate-code"]
    subprocess.run(["gcc", *options, "-o", str(target), str(source)], check=True)
    return target


@needs_gcc
def test_a_library_without_holes_is_smaller_and_runs(library: Path, tmp_path: Path):
    closed = elf.close_holes(library.read_bytes())
    smaller = tmp_path / "smaller.so"
    smaller.write_bytes(closed)
    assert len(closed) < library.stat().st_size / 10
    assert ctypes.CDLL(str(smaller)).seven() == 7


def packaged(names: list[bytes]) -> bytes:
    """Return a package of ICU's data in which each item holds its own name ten times."""
    header = struct.pack("<HBB8xxx4s", 32, 0xDA, 0x27, b"")[:12] + b"CmnD" + bytes(16)
    table, texts, data = b"", b"", b""
    start = 4 + 8 * len(names)
    total = sum(len(name) + 1 for name in names)
    for name in names:
        table += struct.pack("<II", start + len(texts), start + total + len(data))
        texts += name + b"\0"
        data += name * 10
    return header + struct.pack("<I", len(names)) + table + texts + data


@needs_gcc
def test_icu_data_keeps_the_items_that_qt_asks_for(tmp_path: Path):
    package = packaged([b"icudt73l/coll/root.res", b"icudt73l/root.res", b"icudt73l/zu.res"])
    source, target = tmp_path / "data.s", tmp_path / "libicudata.so"
    lines = (
        f".byte {','.join(map(str, package[at : at + 16]))}" for at in range(0, len(package), 16)
    )
    beginning = '.section .rodata,"a"\n.globl icudt73_dat\n.balign 16\nicudt73_dat:\n'
    source.write_text(beginning + "\n".join(lines) + "\n.zero 100000\n")
    options = ["-shared", "-nostdlib", "-Wl,-z,noseparate-code"]
    subprocess.run(["gcc", *options, "-o", str(target), str(source)], check=True)
    small = icu.smaller(target.read_bytes())
    target.write_bytes(small)
    assert b"icudt73l/zu.res" not in small
    assert b"icudt73l/coll/root.res" * 10 in small
    assert len(small) < 50_000
    loaded = (ctypes.c_char * 14).in_dll(ctypes.CDLL(str(target)), "icudt73_dat")
    assert bytes(loaded)[12:] == b"Cm"


def test_a_library_without_icu_data_is_refused():
    with pytest.raises(icu.IcuError, match="no package"):
        icu.smaller(b"\x7fELF" + bytes(1000))


def test_the_newest_glibc_is_by_numbers():
    assert newest_glibc(["GLIBC_2.4", "GLIBC_2.34", "GLIBC_2.5", "GCC_3.0"]) == (2, 34)
    assert newest_glibc(["CXXABI_1.3"]) == (0, 0)


def test_members_of_an_ar_archive_start_at_even_offsets():
    assert ar({"a": b"1", "b": b"22"}).count(b"`\n1\nb ") == 1


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="reads the package with dpkg-deb")
def test_a_debian_package_holds_tree_menu_entry_icon_and_file_type(tmp_path: Path):
    root = tmp_path / "tree"
    (root / "lib").mkdir(parents=True)
    (root / "safelight").write_text("")
    (root / "safelight").chmod(0o755)
    (root / "LICENSE").write_text("Terms")
    tree = Tree(root, Target.LINUX, "1.2", Inputs((), ()))
    path = write_deb(tree, tmp_path)
    command = ["dpkg-deb", "--contents", str(path)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for name in (
        "./usr/lib/safelight/safelight", "./usr/bin/safelight -> ../lib/safelight/safelight",
        "./usr/share/applications/safelight.desktop", "./usr/share/mime/packages/safelight.xml",
        "./usr/share/icons/hicolor/256x256/apps/safelight.png",
    ):  # fmt: skip
        assert name in listed
    command = ["dpkg-deb", "--field", str(path), "Version", "Depends"]
    fields = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Version: 1.2" in fields
    assert "libc6 (>= 2.34)" in fields
