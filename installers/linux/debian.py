"""Files of Debian's archive: source packages, and the packages of an old release."""

import lzma
import re
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from functools import cache
from urllib.parse import quote

from installers.inputs import File, InputError, Target

_ARCHIVE = "https://deb.debian.org/debian"
_SECURITY = "https://deb.debian.org/debian-security"
# Each suite that sources are taken from, with the archive that holds it.
_SUITES = ((_ARCHIVE, "trixie"), (_SECURITY, "trixie-security"))
# The release whose C library the interpreter is linked with.
OLD_SUITE = "bullseye"
OLD_PACKAGES = "bullseye-packages"
# The sources that the interpreter is made of, in the order they are built, and patterns of Debian's
# patches that are applied. Of Python and SQLite not those that give Debian's layout.
SOURCES = {
    "zlib": ("*",),
    "bzip2": (),
    "xz-utils": ("*",),
    "libffi": (),
    "sqlite3": ("41-*", "5?-CVE*"),
    "openssl": ("*",),
    "python3.13": ("CVE-*", "ssl-*", "dict-*", "traverse-*"),
}
# The sources of the program in front of an AppImage, beside some of those.
_RUNTIME_SOURCES = {"fuse3": (), "libzstd": ()}
_ENTRY = re.compile(r"^ ([0-9a-f]{64}) +(\d+) (\S+)$", re.MULTILINE)


def newest_sources() -> Iterator[File]:
    """Yield the newest `.orig` and `.debian` archive of each source that the archive serves."""
    for name, patches in {**SOURCES, **_RUNTIME_SOURCES}.items():
        yield from _newest(name, patches)


def old_packages() -> File:
    """Return the old release's list of packages, which has the hash of each of them."""
    path = f"dists/{OLD_SUITE}/main/binary-amd64/Packages.xz"
    release = _read(f"{_ARCHIVE}/dists/{OLD_SUITE}/InRelease").decode()
    for digest, size, name in _ENTRY.findall(release):
        if path.endswith(f"{OLD_SUITE}/{name}"):
            url = f"{_ARCHIVE}/{path}"
            return File(OLD_PACKAGES, OLD_SUITE, url, int(size), digest, (Target.LINUX,))
    raise InputError(f"Debian's {OLD_SUITE} lists no {path}.")


def packages(suite: str, names: Iterable[str]) -> Iterator[File]:
    """Yield binary packages of a suite for amd64."""
    list_path = f"{_ARCHIVE}/dists/{suite}/main/binary-amd64/Packages.xz"
    paragraphs = {paragraph["Package"]: paragraph for paragraph in _paragraphs(list_path)}
    for name in names:
        found = paragraphs[name]
        url = f"{_ARCHIVE}/{quote(found['Filename'])}"
        size, digest = int(found["Size"]), found["SHA256"]
        yield File(name, found["Version"], url, size, digest, (Target.LINUX,))


def _newest(name: str, patches: tuple[str, ...]) -> list[File]:
    found = [
        _files(archive, paragraph, patches)
        for archive, suite in _SUITES
        for paragraph in _paragraphs(f"{archive}/dists/{suite}/main/source/Sources.xz")
        if paragraph["Package"] == name
    ]
    # The lists grow at their ends; a mirror may list what it does not serve yet.
    for files in reversed(found):
        if all(_is_served(file.url) for file in files):
            return files
    raise InputError(f"Debian's archive serves no sources of {name}.")


def _files(archive: str, paragraph: dict[str, str], patches: tuple[str, ...]) -> list[File]:
    name, version = paragraph["Package"], paragraph["Version"]
    files: list[File] = []
    for digest, size, file in _ENTRY.findall(paragraph["Checksums-Sha256"]):
        part = re.search(r"\.(orig|debian)\.tar\.\w+$", file)
        if part is None or (part[1] == "debian" and not patches):
            continue
        url = f"{archive}/{paragraph['Directory']}/{quote(file)}"
        applied = patches if part[1] == "debian" else ()
        target = (Target.LINUX,)
        files.append(File(f"{name}.{part[1]}", version, url, int(size), digest, target, applied))
    return files


@cache
def _paragraphs(url: str) -> list[dict[str, str]]:
    """Return the paragraphs of one of Debian's lists; a field of several lines keeps them all."""
    text = lzma.decompress(_read(url)).decode()
    return [_fields(paragraph) for paragraph in text.split("\n\n") if paragraph]


def _fields(paragraph: str) -> dict[str, str]:
    fields = re.findall(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", paragraph, re.MULTILINE)
    return {name: value.strip(" ") for name, value in fields}


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.read()


def _is_served(url: str) -> bool:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60):
            return True
    except urllib.error.HTTPError:
        return False
