"""The installed `safelight` command: starts the program unaffected by its surroundings.

A folder on PYTHONPATH or the current one may hold a foreign `app.py`, `engine` or
`sitecustomize.py`, and LD_LIBRARY_PATH other builds of our libraries. The program must not use
them. Standard library only; the module's name is unlikely to be taken.
"""

import os
import site
import sys
from collections.abc import Mapping, Sequence

# Libraries loaded before ours, and the paths where libraries are looked up.
_FOREIGN = frozenset({"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "__PYVENV_LAUNCHER__"})
_FOREIGN_PREFIXES = ("PYTHON", "DYLD_")
# Python's variables that do not change which code runs; they do not need another start.
_HARMLESS = frozenset(
    {
        "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONUTF8",
        "PYTHONHASHSEED", "PYTHONFAULTHANDLER", "PYTHONNOUSERSITE", "PYTHONSAFEPATH",
        "PYTHONMALLOC", "PYTHONCOERCECLOCALE", "PYTHONPROFILEIMPORTTIME", "__PYVENV_LAUNCHER__",
    }
)  # fmt: skip
_LIBRARY_PATH = "LD_LIBRARY_PATH"
# It sets `sys.executable` even where the interpreter is isolated.
_EXECUTABLE = "PYTHONEXECUTABLE"
# A user's own LD_LIBRARY_PATH for the engine, for systems whose GPU libraries are only there.
OWN_LIBRARY_PATH = "SAFELIGHT_LIBRARY_PATH"
# The process that started this one, or this one itself; then it is not started again.
_STARTED = "SAFELIGHT_STARTED_BY"
_ROOT = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (no further import)


def main() -> None:
    """Run the `safelight` command: the window, or with arguments the command line."""
    start_apart(sys.argv[1:])
    hand_over(sys.argv[1:])
    from app.__main__ import start

    start(sys.argv[1:])


def hand_over(arguments: Sequence[str]) -> None:
    """Run the version that this installation was updated to; return if it is the one that runs.

    Where nothing was ever updated, this takes a tenth of a millisecond.
    """
    from app.versions.folders import versions_folder

    versions = versions_folder(os.environ)
    if not os.path.exists(versions):  # noqa: PTH110
        return
    from app.versions.handover import run_newer

    run_newer(_ROOT, versions, arguments, window=opens_window(arguments))


def start_apart(arguments: Sequence[str]) -> None:
    """Start this program again without settings that change its code; return if there are none.

    The folder that a script, or `python -m`, puts first on the path is removed too.
    """
    started = os.environ.pop(_STARTED, "") in (str(os.getpid()), str(os.getppid()))
    if not sys.flags.safe_path and sys.path and sys.path[0] != _ROOT:
        del sys.path[0]
    if sys.executable == os.environ.get(_EXECUTABLE) and os.sep in sys.orig_argv[0]:
        sys.executable = os.path.abspath(sys.orig_argv[0])  # noqa: PTH100
    wanted = clean_environment(os.environ, arguments)
    if started or not sys.executable or not _differs(wanted):
        return
    wanted[_STARTED] = str(os.getpid())
    command = [sys.executable, *_flags(), "-c", _program(), *arguments]
    if sys.platform != "win32":
        os.execve(sys.executable, command, wanted)
    sys.exit(_status_of(command, wanted))


def opens_window(arguments: Sequence[str]) -> bool:
    """True if the window is to open: no arguments, or files as a file manager passes them."""
    return all(os.sep in argument and os.path.exists(argument) for argument in arguments)  # noqa: PTH110


def changes_code(name: str) -> bool:
    """True if a variable of this name may change the code that our processes run."""
    name = name.upper()  # names are case-insensitive on Windows
    return name in _FOREIGN or name.startswith(_FOREIGN_PREFIXES)


def clean_environment(variables: Mapping[str, str], arguments: Sequence[str]) -> dict[str, str]:
    """Return the variables without such ones; SAFELIGHT_LIBRARY_PATH sets where libraries are.

    Not for the window, which uses our own Qt and computes in another process.
    """
    wanted = {name: value for name, value in variables.items() if not changes_code(name)}
    own = variables.get(OWN_LIBRARY_PATH)
    if own and not opens_window(arguments):
        wanted[_LIBRARY_PATH] = own
    return wanted


def _differs(wanted: Mapping[str, str]) -> bool:
    present = os.environ
    gone = (name for name in present if name not in wanted and name.upper() not in _HARMLESS)
    return any(map(_is_heard, gone)) or wanted.get(_LIBRARY_PATH) != present.get(_LIBRARY_PATH)


def _is_heard(name: str) -> bool:
    """Return False for those of Python's own variables that an isolated interpreter ignores."""
    return not (sys.flags.isolated and name.startswith("PYTHON")) or name == _EXECUTABLE


def _flags() -> tuple[str, ...]:
    """Return Python's flags: isolated, but with the user's packages if installed there."""
    own = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    text = ("-X", "utf8") if sys.flags.utf8_mode else ()
    return (*(("-E", "-P") if own and _ROOT.startswith(own) else ("-I",)), *text)


def _program() -> str:
    """Return the code to run instead; it finds our packages even where nothing is installed."""
    return (
        f"import sys; root = {_ROOT!r}; root in sys.path or sys.path.append(root); "
        "from app.__main__ import main; main()"
    )


def _status_of(command: list[str], environment: dict[str, str]) -> int:
    """Run a command to its end; Windows cannot replace a process by another program."""
    import subprocess

    with subprocess.Popen(command, env=environment) as child:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:  # it hears Ctrl-C too, and says what becomes of it
                continue
