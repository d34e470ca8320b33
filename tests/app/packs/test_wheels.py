"""Wheels from strangers: what belongs below the folder of modules gets there, and nothing else."""

import stat
import zipfile
from pathlib import Path

import pytest

from app.packs.errors import WheelError
from app.packs.wheels import Unpacker

MOST = 1 << 20


def nobody_stops() -> None:
    """Go on."""


def unpacked(wheel: Path, site: Path, **options: object) -> Unpacker:
    unpacker = Unpacker(site, most_bytes=MOST, **options)  # pyright: ignore[reportArgumentType]
    unpacker.unpack(wheel, nobody_stops)
    return unpacker


def a_wheel(folder: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    path = folder / "hostile-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "../outside.py",
        "a/../../outside.py",
        "/etc/outside.py",
        "a//b.py",
        "a/./b.py",
        "C:/outside.py",
        "C:outside.py",
        "a\\..\\..\\outside.py",
        "con.py",
        "a/NUL",
        "a/lpt1.txt",
        "ends with a space /b.py",
        "ends with a dot./b.py",
        "line\nbreak.py",
        "pkg-1.0.data/purelib/../../../outside.py",
        "pkg-1.0.data/platlib//etc/outside.py",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    wheel = a_wheel(tmp_path, ("fine.py", b""), (name, b"hostile"))
    with pytest.raises(WheelError, match="no name of a file"):
        unpacked(wheel, tmp_path / "packs" / "site")
    assert {path.name for path in tmp_path.rglob("*.py")} == {"fine.py"}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(kind: int, tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("pkg/link")
    entry.external_attr = (kind | 0o777) << 16
    with pytest.raises(WheelError, match="link or a device"):
        unpacked(a_wheel(tmp_path, (entry, b"/etc/passwd")), tmp_path / "site")


def test_an_archive_that_unpacks_to_more_than_is_known_is_stopped(tmp_path: Path) -> None:
    wheel = a_wheel(tmp_path, ("bomb", bytes(64 << 20)))
    assert wheel.stat().st_size < 1 << 20
    with pytest.raises(WheelError, match="more than its list says"):
        unpacked(wheel, tmp_path / "site")
    assert (tmp_path / "site" / "bomb").stat().st_size <= 3 << 20


def test_purelib_and_platlib_go_to_the_modules_and_scripts_nowhere(tmp_path: Path) -> None:
    wheel = a_wheel(
        tmp_path,
        ("pkg/__init__.py", b"1"),
        ("pkg-1.0.data/purelib/pkg/pure.py", b"2"),
        ("pkg-1.0.data/platlib/pkg/native.so", b"3"),
        ("pkg-1.0.data/scripts/run.exe", b"4"),
        ("pkg-1.0.data/data/share/page", b"5"),
        ("pkg-1.0.data/headers/pkg.h", b"6"),
    )
    unpacker = unpacked(wheel, tmp_path / "site")
    listed = {file.path for file in unpacker.files}
    assert listed == {"pkg/__init__.py", "pkg/pure.py", "pkg/native.so"}
    found = {path for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert {path.relative_to(tmp_path / "site").as_posix() for path in found} == listed


@pytest.mark.parametrize(
    ("first", "second"),
    [("pkg/A.py", "pkg/a.py"), ("Pkg/a.py", "pkg/b.py"), ("pkg/ä.py", "pkg/a\u0308.py")],
)
def test_names_that_are_one_on_some_systems_are_refused(
    first: str, second: str, tmp_path: Path
) -> None:
    with pytest.raises(WheelError, match="another case of letters"):
        unpacked(a_wheel(tmp_path, (first, b"1"), (second, b"2")), tmp_path / "site")


@pytest.mark.parametrize("names", [("pkg", "pkg/a.py"), ("pkg/a.py", "pkg")])
def test_a_name_of_a_file_and_of_a_folder_is_refused(
    names: tuple[str, str], tmp_path: Path
) -> None:
    with pytest.raises(WheelError, match="a file and a folder"):
        unpacked(a_wheel(tmp_path, *((name, b"") for name in names)), tmp_path / "site")


def test_two_wheels_may_share_an_equal_file_and_no_other(tmp_path: Path) -> None:
    wheels: list[Path] = []
    for number, content in enumerate((b"shared", b"shared", b"other")):
        folder = tmp_path / str(number)
        folder.mkdir()
        wheels.append(a_wheel(folder, ("nvidia/__init__.py", content)))
    unpacker = unpacked(wheels[0], tmp_path / "site")
    unpacker.unpack(wheels[1], nobody_stops)
    assert [file.wheel for file in unpacker.files] == [0]
    with pytest.raises(WheelError, match="in two wheels and differs"):
        unpacker.unpack(wheels[2], nobody_stops)
    assert (tmp_path / "site" / "nvidia" / "__init__.py").read_bytes() == b"shared"


def test_patterns_leave_files_out(tmp_path: Path) -> None:
    wheel = a_wheel(tmp_path, ("a/libs/x_frontend.so.1", b"1"), ("a/libs/y.so", b"2"))
    unpacker = unpacked(wheel, tmp_path / "site", drop=("a/libs/*_frontend*",))
    assert [file.path for file in unpacker.files] == ["a/libs/y.so"]


def test_wrong_numbers_of_an_archive_are_damage(tmp_path: Path) -> None:
    whole = a_wheel(tmp_path, ("pkg/a.py", b"text" * 5000)).read_bytes()
    for number, damaged in enumerate((whole[:-30], whole[:40] + b"\xff" * 20 + whole[60:], b"")):
        wheel = tmp_path / f"{number}.whl"
        wheel.write_bytes(damaged)
        with pytest.raises(WheelError, match="it is damaged"):
            unpacked(wheel, tmp_path / f"site{number}")


def test_a_wish_to_stop_is_heard_within_a_wheel(tmp_path: Path) -> None:
    class Stop(Exception):  # noqa: N818 (a wish)
        """A person's wish."""

    def stop() -> None:
        raise Stop

    unpacker = Unpacker(tmp_path / "site", most_bytes=MOST)
    with pytest.raises(Stop):
        unpacker.unpack(a_wheel(tmp_path, ("pkg/a.py", b"1")), stop)
