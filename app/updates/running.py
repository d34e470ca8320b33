"""The version that runs: it keeps its tree, and reports that it has started and made a picture."""

import logging
import os
from contextlib import suppress
from pathlib import Path

from app.updates.errors import UpdateError
from app.updates.removal import hold, remove_others
from app.versions.folders import versions_folder
from app.versions.kept_files import keep_files
from app.versions.state import TRIAL, change_state, read_state
from app.versions.trees import Tree, is_beside, own_tree
from engine.file_lock import FileLock

_log = logging.getLogger(__name__)


class RunningVersion:
    """The version of this process, where its tree is one beside the installed one.

    Nothing is written unless it is on trial; nothing is done for any other tree.
    """

    def __init__(self, versions: Path, tree: Tree | None) -> None:
        self._versions = versions
        self._tree = tree if tree is not None and is_beside(tree, str(versions)) else None
        self._lock: FileLock | None = None

    def hold(self) -> None:
        """Keep the tree from being removed by others until this process ends."""
        if self._tree is not None:
            self._lock = hold(Path(self._tree.folder).parent)

    def keep_files(self, *places: Path) -> None:
        """Copy the files of the version before, which this one may change, if it is on trial."""
        previous = read_state(str(self._versions)).previous
        if previous and self._on_trial():
            for place in places:
                keep_files(place, previous)

    def started(self) -> None:
        """Note that the version is up: its window and its engine, or its command line."""
        if version := self._on_trial():
            self._change_state(version, proved=False)

    def proved(self) -> None:
        """Note that the version made a picture; only it and the one before it are kept."""
        if version := self._on_trial():
            self._change_state(version, proved=True)
            self._remove_others(version)

    def _remove_others(self, version: str) -> None:
        """Remove the versions that nobody needs, unless another process installs one just now.

        That one is not active before it was tried.
        """
        # Here, as few starts come to it.
        from app.updates.installation import installing

        with suppress(OSError, UpdateError), installing(self._versions):
            state = read_state(str(self._versions))
            remove_others(self._versions, {version, state.active, state.previous})

    def _on_trial(self) -> str:
        if self._tree is None:
            return ""
        state = read_state(str(self._versions))
        is_this = (state.active, state.stage) == (self._tree.version, TRIAL)
        return self._tree.version if is_this else ""

    def _change_state(self, version: str, *, proved: bool) -> None:
        try:
            change_state(
                self._versions,
                lambda state: state.proved(version) if proved else state.started(version),
            )
        except OSError as error:
            # It is tried again at the next start; at worst the version before begins then.
            _log.warning("the version's state is not kept: %s", error)


def running_version() -> RunningVersion:
    """Return the version of this process."""
    return RunningVersion(Path(versions_folder(os.environ)), own_tree())
