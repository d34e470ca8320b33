"""Renews the wheels in `packs.toml`: `python -m installers.pack_lock [PACK ...]`.

A pack consists of what the extra of its name needs and an installed app does not have. uv resolves
both for each platform; addresses, sizes and hashes come from the package index, and the bytes on
disk from the wheels' own tables of contents, of which nothing else is downloaded.
"""

import argparse
import io
import sys
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.packs.catalogue import Build, PinnedWheel
from app.packs.wheels import is_dropped
from installers.index import PLATFORMS, ROOT, IndexLacks, Platform, resolved, wheel
from installers.trimming import read_trim

PACKS = ROOT / "installers" / "packs.toml"
_LINE = "# " + "-" * 96
_WRITTEN = f"{_LINE}\n# Written by `python -m installers.pack_lock`.\n"
_SYSTEMS = {"linux": "linux", "windows": "win32", "macos": "darwin"}
_MACHINES = {("linux", "x86_64"): "x86_64", ("windows", "x86_64"): "AMD64"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the wheels of all packs anew, or of those that are named."""
    parser = argparse.ArgumentParser(prog="pack_lock", description="Renews packs.toml.")
    parser.add_argument("packs", nargs="*", metavar="PACK")
    wanted = parser.parse_args(arguments).packs
    described, _, written = PACKS.read_text(encoding="utf-8").partition(_LINE)
    old = msgspec.convert(tomllib.loads(written).get("builds", []), list[Build])
    builds: list[Build] = []
    for name, pack in tomllib.loads(described)["packs"].items():
        if wanted and name not in wanted:
            builds += [build for build in old if build.pack == name]
        else:
            builds += _builds(name, pack.get("without", []), pack.get("drop", []))
    text = "".join(_toml(build) for build in builds)
    PACKS.write_text(described + _WRITTEN + text, encoding="utf-8")


def _toml(build: Build) -> str:
    """Return a build as a table, each wheel on a line of its own."""
    wheels = "".join(
        f'  {{ url = "{wheel.url}", size = {wheel.size}, sha256 = "{wheel.sha256}" }},\n'
        for wheel in build.wheels
    )
    return (
        f'\n[[builds]]\npack = "{build.pack}"\nversion = "{build.version}"\n'
        f'system = "{build.system}"\nmachine = "{build.machine}"\n'
        f'python = "{build.python}"\ndisk_bytes = {build.disk_bytes}\n'
        f"wheels = [\n{wheels}]\n"
    )


def _builds(name: str, without: Sequence[str], drop: Sequence[str]) -> Iterator[Build]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base, extra = project["dependencies"], project["optional-dependencies"].get(name, [])
    for platform in PLATFORMS:
        own = [line for line in extra if _applies(line, platform)]
        if not own:
            continue
        try:
            yield _build(name, base, own, platform, without, drop)
        except IndexLacks as lack:
            sys.stderr.write(f"{name} on {platform.system}: {lack}\n")


def _build(
    name: str,
    base: Sequence[str],
    own: Sequence[str],
    platform: Platform,
    without: Sequence[str],
    drop: Sequence[str],
) -> Build:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    of_the_app = resolved("\n".join(base), pins, platform)
    # What trees leave out, a pack brings itself.
    there = of_the_app.keys() - read_trim().left_out
    fixed = "\n".join(f"{name}=={version}" for name, version in of_the_app.items())
    every = resolved("\n".join(own), fixed, platform)
    skipped = {*there, *without}
    wheels = tuple(wheel(name, every[name], platform) for name in every if name not in skipped)
    sys.stderr.write(f"{name} on {platform.system}: {', '.join(w.name for w in wheels)}\n")
    version = every[canonicalize_name(Requirement(own[0]).name)]
    return Build(
        pack=name,
        version=version,
        system=platform.system,
        machine=platform.machine,
        python=next((wheel.python for wheel in wheels if wheel.python), ""),
        disk_bytes=sum(_unpacked(wheel.url, drop) for wheel in wheels),
        wheels=tuple(PinnedWheel(wheel.url, wheel.size, wheel.sha256) for wheel in wheels),
    )


def _applies(line: str, platform: Platform) -> bool:
    marker = Requirement(line).marker
    machine = _MACHINES.get((platform.system, platform.machine), platform.machine)
    where = {"sys_platform": _SYSTEMS[platform.system], "platform_machine": machine}
    return marker is None or marker.evaluate(where)


def _unpacked(url: str, drop: Sequence[str]) -> int:
    """Return the bytes of a wheel's files on the disk, without those that are dropped."""
    with zipfile.ZipFile(_RemoteFile(url)) as archive:  # pyright: ignore[reportArgumentType]
        files = archive.infolist()
    return sum(file.file_size for file in files if not is_dropped(file.filename, drop))


class _RemoteFile(io.RawIOBase):
    """A file on a server that answers requests for ranges; it reads what is asked for alone."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url, self._place = url, 0
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=60) as response:
            self._size = int(response.headers["Content-Length"])

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = start + offset
        return self._place

    def readinto(self, buffer: bytearray) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        end = min(self._place + len(buffer), self._size)
        if end <= self._place:
            return 0
        request = urllib.request.Request(self._url)
        request.add_header("Range", f"bytes={self._place}-{end - 1}")
        with urllib.request.urlopen(request, timeout=60) as response:
            data = response.read()
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


if __name__ == "__main__":
    main()
