"""The installed `safelight` command: starts the program apart from what surrounds it.

A folder on PYTHONPATH or the current one may hold an `app.py`, an `engine` or a `sitecustomize.py`
of somebody else's, and LD_LIBRARY_PATH other builds of our libraries. None of it is for this
program. Standard library only, and named so that nobody else's module takes its place.
"""

import os
import site
import sys
from collections.abc import Mapping, Sequence

# Libraries that are loaded before ours, and where ours are looked for.
_FOREIGN = frozenset({"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "__PYVENV_LAUNCHER__"})
_FOREIGN_PREFIXES = ("PYTHON", "DYLD_")
# Of Python's own, those that leave what it runs as it is; not worth another start.
_HARMLESS = frozenset(
    {
        "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONUTF8",
        "PYTHONHASHSEED", "PYTHONFAULTHANDLER", "PYTHONNOUSERSITE", "PYTHONSAFEPATH",
        "PYTHONMALLOC", "PYTHONCOERCECLOCALE", "PYTHONPROFILEIMPORTTIME", "__PYVENV_LAUNCHER__",
    }
)  # fmt: skip
_LIBRARY_PATH = "LD_LIBRARY_PATH"
# A person's own LD_LIBRARY_PATH for what computes, where a system has its GPU libraries only there.
OWN_LIBRARY_PATH = "SAFELIGHT_LIBRARY_PATH"
# The process that started this one, or was it: a second start would not help.
_STARTED = "SAFELIGHT_STARTED_BY"
_ROOT = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (no further import)


def main() -> None:
    """The `safelight` command: the window, or with arguments the command line."""
    start_apart(sys.argv[1:])
    from app.__main__ import start

    start(sys.argv[1:])


def start_apart(arguments: Sequence[str]) -> None:
    """Start this program again without what changes the code it runs; return where nothing does.

    The folder that a script, or `python -m`, puts before all others is taken away too.
    """
    started = os.environ.pop(_STARTED, "") in (str(os.getpid()), str(os.getppid()))
    if not sys.flags.safe_path and sys.path and sys.path[0] != _ROOT:
        del sys.path[0]
    wanted = clean_environment(os.environ, arguments)
    if started or not sys.executable or not _differs(wanted):
        return
    wanted[_STARTED] = str(os.getpid())
    command = [sys.executable, *_flags(), "-c", _program(), *arguments]
    if sys.platform != "win32":
        os.execve(sys.executable, command, wanted)
    sys.exit(_status_of(command, wanted))


def opens_window(arguments: Sequence[str]) -> bool:
    """Whether the window is meant: no arguments, or files such as a file manager passes."""
    return all(os.sep in argument and os.path.exists(argument) for argument in arguments)  # noqa: PTH110


def changes_code(name: str) -> bool:
    """Whether a variable of this name may change which code a process of ours runs."""
    name = name.upper()  # names are without case on Windows
    return name in _FOREIGN or name.startswith(_FOREIGN_PREFIXES)


def clean_environment(variables: Mapping[str, str], arguments: Sequence[str]) -> dict[str, str]:
    """The variables without those; libraries are looked for where SAFELIGHT_LIBRARY_PATH says.

    But not for the window, whose Qt is ours and which computes in another process.
    """
    wanted = {name: value for name, value in variables.items() if not changes_code(name)}
    own = variables.get(OWN_LIBRARY_PATH)
    if own and not opens_window(arguments):
        wanted[_LIBRARY_PATH] = own
    return wanted


def _differs(wanted: Mapping[str, str]) -> bool:
    present = os.environ
    gone = (name for name in present if name not in wanted and name.upper() not in _HARMLESS)
    # An isolated interpreter has not looked at Python's own variables.
    heard = (name for name in gone if not (sys.flags.isolated and name.startswith("PYTHON")))
    return any(heard) or wanted.get(_LIBRARY_PATH) != present.get(_LIBRARY_PATH)


def _flags() -> tuple[str, ...]:
    """Isolated; but where we are installed for one person, their packages are ours."""
    own = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    text = ("-X", "utf8") if sys.flags.utf8_mode else ()
    return (*(("-E", "-P") if own and _ROOT.startswith(own) else ("-I",)), *text)


def _program() -> str:
    """What is run in the place of this: found here even where nothing is installed."""
    return (
        f"import sys; root = {_ROOT!r}; root in sys.path or sys.path.append(root); "
        "from app.__main__ import main; main()"
    )


def _status_of(command: list[str], environment: dict[str, str]) -> int:
    """Run it to its end; Windows cannot put a program in the place of another."""
    import subprocess

    with subprocess.Popen(command, env=environment) as child:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:  # it hears Ctrl-C too, and says what becomes of it
                continue
