"""What a version on trial reports of itself: it has started, it has made a picture."""

import logging
from pathlib import Path

from app.updates.installation import remove_others
from app.versions.state import TRIAL, change_state, read_state
from app.versions.trees import Tree, is_beside

_log = logging.getLogger(__name__)


class TrialMarks:
    """The marks of the version that runs. Nothing is written unless it is on trial."""

    def __init__(self, versions: Path, tree: Tree | None) -> None:
        self._versions, self._tree = versions, tree

    def started(self) -> None:
        """Note that the version is up: its window and its engine, or its command line."""
        if version := self._on_trial():
            self._change_state(version, proved=False)

    def proved(self) -> None:
        """Note that the version made a picture; only it and the one before it are kept."""
        if version := self._on_trial():
            self._change_state(version, proved=True)
            state = read_state(str(self._versions))
            remove_others(self._versions, {version, state.previous})

    def _on_trial(self) -> str:
        if self._tree is None or not is_beside(self._tree, str(self._versions)):
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
