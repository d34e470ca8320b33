"""The launcher's choice: a version beside the installed one, if it is newer and can be trusted.

Standard library only. A version that has proved itself replaces this process, which takes some
milliseconds. One on trial runs as a child, so that the version before can begin at once if it does
not start.
"""

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from app.versions.names import is_newer
from app.versions.state import CANNOT_RUN, TRIAL, Change, VersionsState, change_state, read_state
from app.versions.trees import (
    INSTALLED_AT,
    Tree,
    is_beside,
    own_tree,
    read_tree,
    tree_folder,
    tree_of,
)

if TYPE_CHECKING:
    import subprocess

# One process at a time tries a version.
_TRIAL_LOCK = "trial.lock"
# The statuses of a process that a person or the system ended: by Ctrl-C, logging out, closing the
# terminal.
_ENDED = frozenset({0, -1, -2, -15, 129, 130, 143, 0xC000013A, 0xC000013A - (1 << 32)})


def run_newer(code: str, versions: str, arguments: Sequence[str], *, window: bool) -> None:
    """Run the active version of the folder `versions`, if it is newer than the tree of `code`.

        `code` is the folder of the running code.
    Returns if that tree is to run.
    """
    if tuple(arguments[:2]) == ("updates", "back"):
        return  # the way back must not lead through what is broken
    own = read_tree(tree_of(code))
    if own is None or is_beside(own, versions):
        return
    os.environ[INSTALLED_AT] = own.folder
    start = _Start(own, versions, tuple(arguments), window=window)
    while (state := read_state(versions)).active:
        if not start.run_active(state):
            break
    del os.environ[INSTALLED_AT]


def start_again() -> None:
    """Replace this process by a new start of Safelight; on Windows, begin one beside it.

    Raises OSError if its program is gone.
    """
    installed = os.environ.pop(INSTALLED_AT, "")
    tree = read_tree(installed) if installed else own_tree()
    if tree is None:
        return
    launcher = tree.launcher(window=True)
    if sys.platform != "win32":
        os.execv(launcher, [launcher])
    import subprocess

    subprocess.Popen([launcher])


class _Start(NamedTuple):
    """One start of Safelight from the installed tree `own`."""

    own: Tree
    versions: str
    arguments: tuple[str, ...]
    window: bool

    def run_active(self, state: VersionsState) -> bool:
        """Run the active version; return False if the installed one is to run, True to ask again.

        Does not return if the version ran.
        """
        version = state.active
        tree = read_tree(tree_folder(self.versions, version))
        if tree is None or tree.version != version or not is_newer(version, self.own.version):
            return False
        if state.stage == TRIAL:
            return self._try(tree)
        return self._replace_this_process(tree)

    def _replace_this_process(self, tree: Tree) -> bool:
        command = [tree.launcher(window=self.window), *self.arguments]
        try:
            if sys.platform != "win32":
                os.execv(command[0], command)
            import subprocess

            child = subprocess.Popen(command)
        except OSError as error:
            return self._leave(tree, str(error))
        # A window needs no waiting process, which would keep the installed files in use.
        sys.exit(0 if self.window else _status_of(child))

    def _try(self, tree: Tree) -> bool:
        """Run a version that has not proved itself, and see whether it starts."""
        from pathlib import Path

        from engine.file_lock import FileLock

        try:
            lock = FileLock(Path(self.versions, _TRIAL_LOCK), create=True)
        except BlockingIOError:
            # Another start tries it at this moment; this one only hands its files to that.
            return self._replace_this_process(tree)
        except OSError:
            return False
        try:
            return self._try_locked(tree)
        finally:
            lock.release()

    def _try_locked(self, tree: Tree) -> bool:
        import subprocess

        try:
            counted = self._change(lambda state: state.counted(tree.version))
        except OSError:
            return False  # without counting, a version that never starts would be tried for ever
        if counted.active != tree.version or counted.stage != TRIAL:
            return True
        command = [tree.launcher(window=self.window), *self.arguments]
        try:
            child = subprocess.Popen(command)
        except OSError as error:
            return self._leave(tree, str(error))
        with _signals_passed_on(child):
            status = _status_of(child)
        after = read_state(self.versions)
        if after.active != tree.version or after.starts == 0:
            sys.exit(_exit_status(status))
        if status in _ENDED:
            self._change(lambda state: state.uncounted(tree.version))
            sys.exit(_exit_status(status))
        return True

    def _leave(self, tree: Tree, detail: str) -> bool:
        """Leave a version that cannot be run; return True if another is to be looked for."""
        try:
            self._change(lambda state: state.without(tree.version, CANNOT_RUN, detail))
        except OSError:
            return False
        return True

    def _change(self, change: Change) -> VersionsState:
        from pathlib import Path

        return change_state(Path(self.versions), change)


def _status_of(child: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # it hears Ctrl-C too, and says what becomes of it
            continue


@contextmanager
def _signals_passed_on(child: "subprocess.Popen[bytes]") -> Generator[None]:
    """End the child where somebody ends this process, while it waits for the child."""
    import signal

    numbers = (signal.SIGTERM, *((signal.SIGHUP,) if sys.platform != "win32" else ()))
    before = {
        number: signal.signal(number, lambda received, _: child.send_signal(received))
        for number in numbers
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit_status(status: int) -> int:
    """Return a child's status as a shell tells it: 128 and the signal that ended it."""
    return status if status >= 0 or sys.platform == "win32" else 128 - status
