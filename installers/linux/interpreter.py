"""The interpreter for Linux: CPython and its libraries, built from Debian's sources.

It is linked with the C library of an old Debian, in a chroot of it, which needs root and
debootstrap. The result is kept under the hash of everything that it was made of.
"""

import hashlib
import lzma
import os
import shutil
import subprocess
import tarfile
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path

from installers.archives import EPOCH, write_tar_xz
from installers.inputs import Inputs, cache_folder, fetch
from installers.linux.debian import OLD_PACKAGES, OLD_SUITE, SOURCES

_SCRIPT = Path(__file__).with_name("interpreter.sh")
_LAUNCHER = Path(__file__).with_name("launcher.c")
_MIRROR = "http://deb.debian.org/debian"  # debootstrap checks signatures itself
_TOOLS = (
    "gcc", "g++", "make", "libc6-dev", "patch", "perl", "tcl", "autoconf", "automake", "libtool",
    "libltdl-dev", "pkg-config", "xz-utils", "bzip2",
)  # fmt: skip
_LISTS = Path("var/lib/apt/lists")


class InterpreterError(Exception):
    """An interpreter that could not be built."""


def interpreter(inputs: Inputs) -> Path:
    """Return the archive of the built interpreter and launcher, whose top folder is `runtime`.

    It is built on the first call for these inputs, in about 10 minutes of two processors. Raises
    InterpreterError without root or debootstrap, or if the build fails.
    """
    built = cache_folder() / "interpreters" / f"linux-{_key(inputs)}.tar.xz"
    if not built.is_file():
        built.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="safelight-interpreter-") as folder:
            result = _build(inputs, Path(folder))
            part = write_tar_xz(result, built.with_suffix(f".{os.getpid()}"), "runtime")
        part.replace(built)
    return built


def _key(inputs: Inputs) -> str:
    digest = hashlib.sha256(_SCRIPT.read_bytes() + _LAUNCHER.read_bytes())
    for name in (*_source_names(inputs), OLD_PACKAGES):
        file = inputs.file(name)
        digest.update(f"{file.sha256} {file.patches}\n".encode())
    return digest.hexdigest()[:16]


def _source_names(inputs: Inputs) -> list[str]:
    known = {file.name for file in inputs.files}
    parts = (f"{name}.{part}" for name in SOURCES for part in ("orig", "debian"))
    return [part for part in parts if part in known]


def _build(inputs: Inputs, folder: Path) -> Path:
    """Build in a chroot below `folder`; return the folder of the result."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise InterpreterError("Building the interpreter needs root and debootstrap.")
    root, log = folder / "root", cache_folder() / "interpreters" / "build.log"
    with log.open("wb") as output:
        _run(
            [
                "debootstrap",
                "--variant=minbase",
                f"--include={','.join(_TOOLS)}",
                OLD_SUITE,
                str(root),
                _MIRROR,
            ],
            output.fileno(),
        )
        _check_packages(inputs, root)
        build = root / "build"
        _place_sources(inputs, build / "sources")
        for file in (_SCRIPT, _LAUNCHER):
            shutil.copy(file, build / file.name)
        _run(["chroot", str(root), "sh", f"/build/{_SCRIPT.name}"], output.fileno())
    return build / "result" / "runtime"


def _run(command: list[str], output: int) -> None:
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "SOURCE_DATE_EPOCH": str(EPOCH),
        "JOBS": str(os.cpu_count() or 1),
    }
    done = subprocess.run(command, env=environment, stdout=output, stderr=output, check=False)
    if done.returncode:
        log = cache_folder() / "interpreters" / "build.log"
        raise InterpreterError(f"{command[0]} failed with status {done.returncode}; see {log}.")


def _check_packages(inputs: Inputs, root: Path) -> None:
    """Raise InterpreterError unless the chroot is of the pinned list of packages."""
    pinned = lzma.decompress(fetch(inputs.file(OLD_PACKAGES)).read_bytes())
    lists = list((root / _LISTS).glob(f"*_{OLD_SUITE}_main_binary-amd64_Packages"))
    if not any(path.read_bytes() == pinned for path in lists):
        raise InterpreterError(f"Debian's {OLD_SUITE} has changed: run `make installers-lock`.")


def _place_sources(inputs: Inputs, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in SOURCES:
        (folder / f"{name}.patches").touch()
    for name in _source_names(inputs):
        file = inputs.file(name)
        source, part = name.rsplit(".", 1)
        if part == "orig":
            shutil.copy(fetch(file), folder / name)
        else:
            with tarfile.open(fetch(file)) as archive:
                archive.extractall(folder / name, filter="data")
            patches = _patches(folder / name / "debian" / "patches", file.patches)
            listed = "".join(f"/build/sources/{name}/debian/patches/{patch}\n" for patch in patches)
            (folder / f"{source}.patches").write_text(listed)


def _patches(folder: Path, wanted: tuple[str, ...]) -> list[str]:
    """Return the names of the wanted patches in the order in which Debian applies them."""
    series = folder / "series"
    lines = series.read_text().splitlines() if series.is_file() else []
    names = [line.split("#")[0].split() for line in lines]
    first = (words[0] for words in names if words)
    return [name for name in first if any(fnmatchcase(name, pattern) for pattern in wanted)]
