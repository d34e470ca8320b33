"""Proof that a bundle for macOS is complete: every library that its code names is there.

macOS finds a library by the paths in the file that needs it, so that all can be followed here.
"""

from collections.abc import Iterator
from pathlib import Path

from installers.macos.mach_o import Slice, mach_o_files, slices

# Of the system. Each was in macOS 14; their files are in the loader's cache and not on the disk.
_FRAMEWORKS = frozenset(
    {
        "AVFoundation", "Accelerate", "AppKit", "ApplicationServices", "CFNetwork", "Carbon",
        "Cocoa", "ColorSync", "Contacts", "CoreBluetooth", "CoreFoundation", "CoreGraphics",
        "CoreML", "CoreServices", "CoreText", "CoreVideo", "DiskArbitration", "EventKit",
        "Foundation", "GSS", "IOKit", "IOSurface", "ImageIO", "Metal", "Network", "OpenGL",
        "QuartzCore", "Security", "SystemConfiguration", "UniformTypeIdentifiers",
    }
)  # fmt: skip
_LIBRARIES = frozenset(
    {
        "libSystem.B.dylib", "libbz2.1.0.dylib", "libc++.1.dylib", "libedit.3.dylib",
        "libffi.dylib", "libiconv.2.dylib", "libncurses.5.4.dylib", "libobjc.A.dylib",
        "libpanel.5.4.dylib", "libresolv.9.dylib", "libsqlite3.dylib", "libz.1.dylib",
    }
)  # fmt: skip
_SYSTEM_FRAMEWORKS = "/System/Library/Frameworks/"
_SYSTEM_LIBRARIES = "/usr/lib/"

MINIMUM_SYSTEM = (14, 0)
# PySide6's bindings say 15, while their wheel and the Qt in it say 13. The loader does not ask a
# library for this number, and they import nothing of the system that is newer than Qt's imports.
_SAY_TOO_MUCH = frozenset({"PySide6", "shiboken6"})


def problems(bundle: Path, architecture: str) -> list[str]:
    """Return a sentence for each reason why code would not load on macOS; none if all is well."""
    return [
        f"{path.relative_to(bundle).as_posix()} {text}"
        for path in mach_o_files(bundle)
        for text in _problems(path, bundle, architecture)
    ]


def _problems(path: Path, bundle: Path, architecture: str) -> Iterator[str]:
    code, *others = slices(path)
    if others or code.architecture != architecture:
        yield f"is not for {architecture} alone."
        return
    if not _is_signed_by_name(path, bundle):
        yield "is code that sign.sh would not find."
    if not code.signed:
        yield "has no signature, without which Apple silicon does not run it."
    if code.minimum_system > MINIMUM_SYSTEM and not _SAY_TOO_MUCH.intersection(path.parts):
        yield f"needs macOS {'.'.join(map(str, code.minimum_system))}."
    for library in code.libraries:
        if not _is_of_system(library) and not _is_in_bundle(library, path, code, bundle):
            yield f"needs {library}, which is neither in the bundle nor in macOS."


def _executables(bundle: Path) -> list[Path]:
    """Return the folders of the executables, which are all of the code in them."""
    return [bundle / "Contents" / place for place in ("MacOS", "Resources/runtime/bin")]


def _is_signed_by_name(path: Path, bundle: Path) -> bool:
    """Return True if `sign.sh`, which goes by names, finds this code."""
    is_library = path.suffix in {".so", ".dylib"} or path.parents[2].suffix == ".framework"
    return is_library or path.parent in _executables(bundle)


def _is_of_system(library: str) -> bool:
    if library.startswith(_SYSTEM_FRAMEWORKS):
        return library.removeprefix(_SYSTEM_FRAMEWORKS).split(".framework/")[0] in _FRAMEWORKS
    name = library.removeprefix(_SYSTEM_LIBRARIES)
    return name in _LIBRARIES and library == _SYSTEM_LIBRARIES + name


def _is_in_bundle(library: str, path: Path, code: Slice, bundle: Path) -> bool:
    """Return True if each of the executables finds the library inside the bundle."""
    root = bundle.resolve()
    for executable in _executables(bundle):
        starts = {"@loader_path": path.parent, "@executable_path": executable}
        places = [place for start in _starts(library, code) for place in _place(start, starts)]
        if not any(place.is_file() and place.resolve().is_relative_to(root) for place in places):
            return False
    return True


def _starts(library: str, code: Slice) -> list[str]:
    """Return the paths that the loader tries for a library's name, with each rpath in turn."""
    if not library.startswith("@rpath/"):
        return [library]
    return [f"{rpath.rstrip('/')}/{library.removeprefix('@rpath/')}" for rpath in code.rpaths]


def _place(name: str, starts: dict[str, Path]) -> list[Path]:
    """Return a path that begins with a place of the loader's; nothing for one of the system."""
    start, _, rest = name.partition("/")
    return [starts[start] / rest] if start in starts else []
