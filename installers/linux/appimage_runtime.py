"""The program in front of an AppImage's file system: type2-runtime, built from pinned sources.

Distributions carry no build of it. libfuse is in it, so that a system needs `fusermount3` alone,
which desktops have.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from installers.errors import BuildError
from installers.inputs import File, Inputs, Target, cache_folder, fetch
from installers.zig import ZIG, environment, zig

_SCRIPT = Path(__file__).with_name("appimage_runtime.sh")
_RUNTIME, _FUSE = "type2-runtime", "fuse3.orig"
_SQUASHFUSE = "squashfuse"
# Pinned sources by the folder in which the script expects them.
_SOURCES = {
    "fuse3": _FUSE, "libzstd": "libzstd.orig", "zlib": "zlib.orig",
    _SQUASHFUSE: _SQUASHFUSE, _RUNTIME: _RUNTIME,
}  # fmt: skip
# What has no list with hashes: a tag's archive is `git archive --format=tar --prefix=NAME-TAG/ TAG`
# through `gzip -n`, so that the hash can be checked with a copy of the repository.
_TAGS = (
    (_SQUASHFUSE, "vasi/squashfuse", "0.6.2", 76_586,
     "ae194df463ac5a9cbb25f94021d44bfb14dc21a0fc577e16348eca2fdc77c83b"),
    (_RUNTIME, "AppImage/type2-runtime", "20251108", 31_045,
     "4c4f6df4647c9f01f871d7edd3716d8aeeffda9d22ffbebe3fccd95a6ab52c95"),
)  # fmt: skip


class RuntimeBuildError(BuildError):
    """A runtime that could not be built."""


def reviewed_sources() -> Iterator[File]:
    """Yield the sources whose versions are chosen by hand."""
    for name, repository, tag, size, sha256 in _TAGS:
        url = f"https://github.com/{repository}/archive/{tag}.tar.gz"
        yield File(name, tag, url, size, sha256, (Target.LINUX,))


def appimage_runtime(inputs: Inputs) -> Path:
    """Return the runtime, which is built on the first call for these inputs, in a minute.

    Raises RuntimeBuildError if the build fails, InputError if a source cannot be had.
    """
    built = cache_folder() / "runtimes" / f"appimage-{_key(inputs)}"
    if not built.is_file():
        built.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="safelight-runtime-") as folder:
            result = _build(inputs, Path(folder))
            part = shutil.copy(result, built.with_suffix(f".{os.getpid()}"))
        Path(part).replace(built)
    return built


def _key(inputs: Inputs) -> str:
    digest = hashlib.sha256(_SCRIPT.read_bytes())
    for name in (*_SOURCES.values(), ZIG):
        digest.update(inputs.file(name).sha256.encode())
    return digest.hexdigest()[:16]


def _build(inputs: Inputs, folder: Path) -> Path:
    for name, pinned in _SOURCES.items():
        _unpack(fetch(inputs.file(pinned)), folder / name)
    variables = {
        **environment(str(folder / "caches")),
        "ZIG": str(zig(inputs)),
        "FUSE_VERSION": inputs.file(_FUSE).version,
        "RUNTIME_VERSION": inputs.file(_RUNTIME).version,
    }
    done = subprocess.run(
        ["sh", str(_SCRIPT)], cwd=folder, env=variables, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeBuildError(f"The AppImage's runtime cannot be built:\n{done.stderr}")
    return folder / "runtime"


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack what lies in the one top folder of an archive."""
    with tarfile.open(archive) as members:
        for member in members:
            inside = member.name.partition("/")[2]
            if inside:
                members.extract(member.replace(name=inside), folder, filter="data")
