"""The installed builds of ONNX Runtime, and the capabilities of the imported one.

They are different distributions (`onnxruntime`, `onnxruntime-gpu`, `onnxruntime-directml` ...) of
one import package. The last one installed overwrites files of the others, and pip does not mind.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false
# (the runtime ships no complete types)

import ctypes
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

import msgspec

_NAMES = re.compile(r"onnxruntime(-(?!ep-|genai|extensions)[a-z0-9-]+)?|ort-nightly(-.*)?")
_PACKAGE = "onnxruntime/"
_NATIVE = "onnxruntime_pybind11_state"
_IMPORT_FAULTS = (ImportError, OSError, RuntimeError, AttributeError, ValueError)


class Build(msgspec.Struct, frozen=True):
    """An installed distribution of ONNX Runtime; `intact` if the files on disk are its own."""

    name: str
    version: str
    intact: bool

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def builds(path: list[str] | None = None) -> tuple[Build, ...]:
    """List the distributions of ONNX Runtime in the folders of `path`, by default `sys.path`.

    Those of `sys.path` are listed once, because the imported one does not change any more.
    """
    return _builds_of_a_search(tuple(sys.path)) if path is None else _builds_in(path)


@cache
def _builds_of_a_search(path: tuple[str, ...]) -> tuple[Build, ...]:
    return _builds_in(path)


def _builds_in(path: Iterable[str]) -> tuple[Build, ...]:
    found: dict[str, metadata.Distribution] = {}
    for distribution in metadata.distributions(path=list(path)):
        name = (distribution.name or "").lower().replace("_", "-")
        if _NAMES.fullmatch(name):
            found.setdefault(name, distribution)
    alone = len(found) == 1
    return tuple(Build(n, d.version, alone or _is_intact(d)) for n, d in found.items())


def conflict(found: tuple[Build, ...]) -> str | None:
    """Return why none of several builds is reliable; None if one is intact."""
    if len(found) < 2 or any(build.intact for build in found):
        return None
    names = " and ".join(map(str, found))
    return (
        f"the files of {names} are mixed: uninstall {_names(found)}, "
        "then install the one that is wanted"
    )


def installed(found: tuple[Build, ...] | None = None) -> str:
    """Return the name and version of the imported build, for fingerprints."""
    found = builds() if found is None else found
    if not found:
        return "no onnxruntime"
    # Earlier folders of the path come first and hide packages in later ones.
    return str(next((build for build in found if build.intact), found[0]))


def unusable(
    provider: str, distribution: str, found: tuple[Build, ...] | None = None
) -> str | None:
    """Return why the imported build cannot offer a provider built into `distribution`.

    None if it can. Imports ONNX Runtime if there is a build that could have the provider. Never
    raises.
    """
    found = builds() if found is None else found
    if not found or find_spec("onnxruntime") is None:
        return f"{distribution} is not installed"
    mixed = conflict(found)
    if mixed:
        return mixed
    try:
        import onnxruntime as ort

        if provider in ort.get_available_providers():
            return None
    except _IMPORT_FAULTS as error:
        return f"{installed(found)} does not start: {error}"
    return _lacking(provider, distribution, found)


def lacks(distribution: str) -> bool:
    """True if no such distribution is installed, whatever another one has in its place."""
    return all(build.name != distribution for build in builds())


def library_fault(provider: str) -> str | None:
    """Return why the library of a built-in provider ("cuda", "migraphx") does not load, or None.

    ONNX Runtime loads it only with the first session, and otherwise continues on the processor.
    """
    found = find_spec("onnxruntime")
    folders = found.submodule_search_locations if found else None
    if not folders:
        return "onnxruntime is not installed"
    prefix, suffix = ("", ".dll") if sys.platform == "win32" else ("lib", ".so")
    for name in ("shared", provider):
        path = Path(folders[0]) / "capi" / f"{prefix}onnxruntime_providers_{name}{suffix}"
        try:
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            return str(error)
    return None


def package_version(module: str) -> str | None:
    """Return a plug-in package's name and version; None if it is not installed."""
    name = module.replace("_", "-")
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return None


def _lacking(provider: str, distribution: str, found: tuple[Build, ...]) -> str:
    if all(build.name != distribution for build in found):
        return f"{installed(found)} has no {provider}, which {distribution} has"
    if len(found) > 1:
        return (
            f"{installed(found)} lies over {distribution} and has no {provider}: uninstall "
            f"{_names(found)}, then install {distribution}"
        )
    return f"{installed(found)} has no {provider} on this system"


def _names(found: tuple[Build, ...]) -> str:
    return " and ".join(build.name for build in found)


def _is_intact(distribution: metadata.Distribution) -> bool:
    """True if the package's files have the sizes that the distribution recorded.

    Python must also import its native module: builds name theirs differently, so that the module of
    another build may remain and come first.
    """
    folder = Path(str(distribution.locate_file(_PACKAGE))) / "capi"
    names = (_NATIVE + suffix for suffix in EXTENSION_SUFFIXES)
    imported = next((name for name in names if (folder / name).exists()), None)
    own = {Path(str(file)).name for file in distribution.files or ()}
    if imported is not None and imported not in own:
        return False
    for file in distribution.files or ():
        if str(file).startswith(_PACKAGE) and file.size is not None:
            try:
                if Path(str(file.locate())).stat().st_size != file.size:
                    return False
            except OSError:
                return False
    return True
