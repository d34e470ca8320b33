"""The package index: versions that fit each other, and the wheel of each for a platform."""

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename

from installers.inputs import File, Target

# The version of Python that installed trees have.
PYTHON = (3, 13)
INDEX = "https://pypi.org/simple"
ROOT = Path(__file__).parents[1]
_UV = ROOT / "build" / "uv" / "bin" / "uv"


@dataclass(frozen=True)
class Platform:
    """A platform as packs call it and as uv does, with the tags of wheels that run there."""

    system: str
    machine: str
    uv: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Wheel:
    """A wheel on the index; `python` is the version it is built for, empty for any Python 3."""

    name: str
    version: str
    url: str
    size: int
    sha256: str
    python: str


class IndexLacks(Exception):  # noqa: N818 (of the index, not of ours)
    """The index has no wheel that runs on a platform, or no versions that fit each other."""


def _manylinux(newest: int) -> tuple[str, ...]:
    named = (f"manylinux_2_{minor}_x86_64" for minor in range(newest, 4, -1))
    return (*named, "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")


PLATFORMS = (
    Platform("linux", "x86_64", "x86_64-manylinux_2_34", _manylinux(34)),
    Platform("windows", "x86_64", "x86_64-pc-windows-msvc", ("win_amd64",)),
    Platform("macos", "arm64", "aarch64-apple-darwin", tuple(mac_platforms((14, 0), "arm64"))),
)


@cache
def index_files(name: str) -> list[dict[str, object]]:
    """Return the index's entries for all files of a distribution."""
    request = urllib.request.Request(f"{INDEX}/{name}/")
    request.add_header("Accept", "application/vnd.pypi.simple.v1+json")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["files"]


def index_file(entry: Mapping[str, object], name: str, version: str, target: Target) -> File:
    """Return an entry of the index as a pinned file for a tree."""
    hashes = cast("Mapping[str, str]", entry["hashes"])
    url, size = cast("str", entry["url"]), cast("int", entry["size"])
    return File(name, version, url, size, hashes["sha256"], (target,))


@cache
def resolved(requirements: str, constraints: str, platform: Platform) -> dict[str, str]:
    """Return the versions of all distributions that these requirements need on a platform.

    Both texts are in pip's format. Raises IndexLacks.
    """
    path = ROOT / "build" / "index-constraints.txt"
    path.write_text(constraints, encoding="utf-8")
    command = [
        str(_UV), "pip", "compile", "-", "--quiet", "--no-config", "--no-header", "--no-annotate",
        "--only-binary", ":all:", "--system-certs", "--default-index", INDEX,
        "--constraint", str(path),
        "--python-version", ".".join(map(str, PYTHON)), "--python-platform", platform.uv,
    ]  # fmt: skip
    own = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    done = subprocess.run(
        command,
        input=requirements,
        env={**own, "MACOSX_DEPLOYMENT_TARGET": "14.0"},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise IndexLacks(done.stderr.strip())
    pins = (line.partition(";")[0].strip().split("==") for line in done.stdout.splitlines())
    return {canonicalize_name(name): version for name, version in pins}


def wheel(name: str, version: str, platform: Platform) -> Wheel:
    """Return the best wheel of a version for a platform. Raises IndexLacks."""
    ranks = {tag: rank for rank, tag in enumerate(_tags(platform))}
    ranked: list[tuple[int, str, Wheel]] = []
    for entry in index_files(name):
        file_name = str(entry["filename"])
        if not file_name.endswith(".whl") or entry.get("yanked"):
            continue
        _, of, _, tags = parse_wheel_filename(file_name)
        fitting = [(ranks[tag], tag) for tag in tags if tag in ranks]
        if str(of) == version and fitting:
            rank, tag = min(fitting)
            ranked.append((rank, file_name, _wheel(entry, name, version, tag)))
    if not ranked:
        raise IndexLacks(f"The index has no wheel of {name} {version} for {platform.uv}.")
    return min(ranked, key=lambda entry: entry[:2])[2]


def _wheel(entry: Mapping[str, object], name: str, version: str, tag: Tag) -> Wheel:
    hashes = cast("Mapping[str, str]", entry["hashes"])
    python = "" if tag.interpreter.startswith("py") else ".".join(map(str, PYTHON))
    url, size = str(entry["url"]), cast("int", entry["size"])
    return Wheel(name, version, url, size, hashes["sha256"], python)


def _tags(platform: Platform) -> Iterable[Tag]:
    yield from cpython_tags(PYTHON, platforms=platform.tags)
    yield from compatible_tags(PYTHON, f"cp{PYTHON[0]}{PYTHON[1]}", platform.tags)
