"""Imports what our sources import, but no module that trees leave out; for `subprocess`.

Prints as JSON which of the modules of others that our sources name did not load, and why, and the
pack with PyTorch for a card of NVIDIA.
"""

import ast
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import packages_distributions
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

import msgspec
from packaging.utils import canonicalize_name

from installers.inputs import Target, read_inputs
from installers.trimming import leaves_out, read_trim

ROOT = Path(__file__).parents[2]
SHIPPED = ("app", "backends", "engine", "ui")
TARGET = {"win32": Target.WINDOWS, "darwin": Target.MACOS}.get(sys.platform, Target.LINUX)
# Pillow imports the modules of formats when a picture is opened.
FORMATS = tuple(
    f"PIL.{name}ImagePlugin" for name in ("Bmp", "Gif", "Jpeg", "Mpo", "Png", "Tiff", "WebP")
)


class Found(msgspec.Struct, frozen=True):
    """The modules that were tried, those that failed, each with its reason, and PyTorch's pack."""

    named: frozenset[str]
    failed: dict[str, str]
    packs: tuple[str, ...]


class LeftOut(MetaPathFinder):
    """A finder that finds no module which trees leave out, though it is installed here."""

    def __init__(self) -> None:
        self._trim = read_trim()
        self._site = Path(sysconfig.get_path("platlib"))
        self._distributions = distributions()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError for a module that trees leave out; leave others to others."""
        if fullname == "onnx.onnx_cpp2py_export":
            return spec_from_file_location(fullname, ROOT / "installers" / "onnx_names.py")
        found = PathFinder.find_spec(fullname, path, target)
        origin = Path(found.origin) if found and found.origin else None
        if origin is not None and origin.is_relative_to(self._site):
            name = f"site/{origin.relative_to(self._site).as_posix()}"
            owners = map(canonicalize_name, self._distributions.get(fullname.partition(".")[0], ()))
            entries = self._trim.entries
            if self._trim.left_out.intersection(owners) or leaves_out(name, entries, TARGET):
                raise ModuleNotFoundError(f"trees leave out {name}")
        return None


@cache
def distributions() -> Mapping[str, list[str]]:
    """The installed distributions that have a module of each name; listing them takes a second."""
    return packages_distributions()


def named_modules() -> set[str]:
    """The modules of the distributions in a tree that our sources name, lazily imported or not."""
    shipped = {wheel.name for wheel in read_inputs().wheels_for(TARGET)}
    return {
        name
        for folder in SHIPPED
        for path in (ROOT / folder).rglob("*.py")
        for name in _named_in(path.read_text(encoding="utf-8"))
        # Private modules are asked for to learn whether they are there.
        if "._" not in name
        and shipped.intersection(
            map(canonicalize_name, distributions().get(name.partition(".")[0], ()))
        )
    }


def _named_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module=str(name), level=0):
                yield name
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
                yield name
            case _:
                pass


def main() -> None:
    """Import every module, and print what came of it."""
    names = named_modules()
    sys.meta_path.insert(0, LeftOut())
    failed: dict[str, str] = {}
    for name in (*sorted(names), *FORMATS):
        try:
            __import__(name)
        except ImportError as fault:
            failed[name] = str(fault)

    from backends.hardware.adapter import Adapter, PciId
    from backends.torch_device.builds import pack_for

    card = Adapter("NVIDIA", "GeForce RTX 4070", PciId(0x10DE, 0x2786))
    sys.stdout.buffer.write(msgspec.json.encode(Found(frozenset(names), failed, pack_for([card]))))


if __name__ == "__main__":
    main()
