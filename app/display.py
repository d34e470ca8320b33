"""A check that a window can be opened here, made before Qt would abort."""

import ctypes
import os
import socket
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from PySide6.QtCore import QLibraryInfo

from app.installation import explain, faults, installed_root
from app.session_bus import bus_address, has_owner
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode, ErrorInfo

_PLATFORM, _THEME = "QT_QPA_PLATFORM", "QT_QPA_PLATFORMTHEME"
# The platforms of Qt that show windows on a desktop.
_DESKTOPS = ("xcb", "wayland")
_PORTALS = "org.freedesktop.portal.Desktop"
# Debian packages of the libraries that Qt's plug-ins for X11 and Wayland load.
PACKAGES = (
    "libegl1 libgl1 libfontconfig1 libdbus-1-3 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 "
    "libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 "
    "libwayland-cursor0 libwayland-egl1"
)
_WITHOUT = 'The command line works without: safelight generate "a red house".'


def prepare_display(variables: MutableMapping[str, str]) -> ErrorInfo | None:
    """Return why no window can be opened, None if one can; call it before making a QApplication.

    On Linux it also sets QT_QPA_PLATFORM to X11 or Wayland, whichever works, and has the desktop
    asked for its dialogs of files and for its colours.
    """
    if not sys.platform.startswith("linux"):
        return None
    given = variables.get(_PLATFORM, "")
    names = _given_platforms(given) if given else _found_platforms(variables)
    if not names:
        return _no_window(
            sentence("there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"),
            sentence("Start it in a graphical session. {without}", without=_WITHOUT),
        )
    problems: list[ErrorInfo] = []
    for name in names:
        problem = _platform_problem(name, variables)
        if problem is None:
            variables[_PLATFORM] = given or name
            _use_portals(name, variables)
            return None
        problems.append(problem)
    return problems[0]


def _use_portals(platform: str, variables: MutableMapping[str, str]) -> None:
    """Have Qt use the portals of the desktop, as it does by itself in sandboxes alone.

    Only where they run: Qt waits 25 s for portals that are started and do not answer, as on
    desktops that are not set up for them. A theme that the user named for all programs of Qt is
    kept if our Qt has it, which has none of those that are installed beside the system's.
    """
    given = variables.get(_THEME, "")
    if given and not _plugin("platformthemes", given).is_file():
        del variables[_THEME]
    address = bus_address(variables) if platform.startswith(_DESKTOPS) else ""
    if address and has_owner(address, _PORTALS):
        variables.setdefault(_THEME, "xdgdesktopportal")


def import_problem(error: ImportError) -> ErrorInfo:
    """Return the error for an import of Qt that failed; it names the missing library or file."""
    root = installed_root()
    whole = root is None or not any(faults(root, read=False))
    if sys.platform.startswith("linux") and whole:
        return _missing_library(str(error))
    message, hint = explain(error)
    return ErrorInfo(ErrorCode.NOT_AVAILABLE, message, hint)


def _given_platforms(value: str) -> tuple[str, ...]:
    """Return the names in QT_QPA_PLATFORM, which may carry options: "wayland;xcb:foo"."""
    return tuple(part.partition(":")[0] for part in value.split(";") if part)


def _found_platforms(variables: Mapping[str, str]) -> tuple[str, ...]:
    sources = (("wayland", "WAYLAND_DISPLAY"), ("xcb", "DISPLAY"))
    return tuple(name for name, variable in sources if variables.get(variable))


def _platform_problem(name: str, variables: Mapping[str, str]) -> ErrorInfo | None:
    plugin = _plugin("platforms", name.removesuffix("-egl"))
    if not plugin.is_file():
        files = plugin.parent.glob("*.so")
        known = ", ".join(sorted(path.stem.removeprefix("libq") for path in files))
        return _no_window(
            sentence("QT_QPA_PLATFORM names {name}, which there is not", name=name),
            sentence("Unset it; there are: {known}.", known=known),
        )
    try:
        # Qt loads the plug-in the same way next, and aborts if that fails.
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return _missing_library(str(error))
    reachable = {"xcb": _x11_answers, "wayland": _wayland_answers}.get(name)
    if reachable is not None and not reachable(variables):
        return _no_window(
            sentence("the display does not answer"),
            sentence("Check DISPLAY. {without}", without=_WITHOUT),
        )
    return None


def _plugin(kind: str, name: str) -> Path:
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / kind
    return folder / f"libq{name}.so"


def _x11_answers(variables: Mapping[str, str]) -> bool:
    """Return True if an X server takes a connection; xcb reads the cookie itself."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(os.fsencode(variables.get("DISPLAY", "")), None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed


def _wayland_answers(variables: Mapping[str, str]) -> bool:
    name = variables.get("WAYLAND_DISPLAY") or "wayland-0"
    path = Path(variables.get("XDG_RUNTIME_DIR") or "/run") / name
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True


def _missing_library(reason: str) -> ErrorInfo:
    library = reason.partition(":")[0]
    return _no_window(
        sentence("the system lacks {library}", library=library),
        sentence(
            "On Debian and Ubuntu: sudo apt install {packages}. {without}",
            packages=PACKAGES,
            without=_WITHOUT,
        ),
        reason,
    )


def _no_window(reason: Sentence, hint: Sentence, detail: str = "") -> ErrorInfo:
    message = f"Safelight's window cannot be opened: {reason}."
    return ErrorInfo(ErrorCode.NOT_AVAILABLE, message, hint, detail)
