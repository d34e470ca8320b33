"""Updates of this Safelight: look for a newer version, install it, and go back."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from app.downloads.terms import USUAL_TERMS, Terms
from app.updates import memory
from app.updates.errors import UpdateCode, UpdateError
from app.updates.installation import (
    activate,
    disk_errors,
    install_archive,
    installing,
    require_room,
    require_running,
)
from app.updates.manifest import (
    Archive,
    Release,
    best_release,
    read_list,
    require_current,
    system_name,
)
from app.updates.news import News, news_of
from app.updates.offers import Offer
from app.updates.places import PLACE_VARIABLE, get_archive, hosts_of, signed_list, urls_of
from app.updates.removal import remove_others
from app.updates.signatures import trusted_keys, verified_content
from app.versions.names import is_newer
from app.versions.state import GONE_BACK, VersionsState, change_state, read_state
from app.versions.trees import INSTALLED_AT, Tree, is_beside, read_tree, tree_folder
from engine.api.sentences import sentence
from engine.packs import this_machine

CHANNEL = "stable"
_DOWNLOADS = ".downloads"


class Updates:
    """Updates in a folder of versions; every method may block, and none needs Qt."""

    def __init__(
        self,
        versions: Path,
        state: Path,
        tree: Tree | None,
        environment: Mapping[str, str] = os.environ,
        terms: Terms = USUAL_TERMS,
    ) -> None:
        """`versions` and `state` need not exist; `tree` is the running one, if it was installed."""
        self._versions, self._state, self._tree, self._terms = versions, state, tree, terms
        self._keys = trusted_keys(environment)
        self._installed_at = environment.get(INSTALLED_AT, "")
        self.place = environment.get(PLACE_VARIABLE, "") or (tree.place if tree else "")

    @property
    def available(self) -> bool:
        """True if this Safelight was installed, and can have another version beside it."""
        return self._tree is not None

    @property
    def version(self) -> str:
        """The version that runs; empty where it was not installed."""
        return self._tree.version if self._tree else ""

    @property
    def automatic(self) -> bool:
        """True if a person switched the daily check on."""
        return memory.read_memory(self._state).automatic

    @property
    def next_version(self) -> str:
        """The version that begins with the next start; empty if it is this one, or not known."""
        state = self._now()
        if waits := self._pending(state):
            return waits
        tree = self._tree
        if tree is None or state.active == tree.version or not is_beside(tree, str(self._versions)):
            return ""
        # This one was left, and runs until then.
        goal = self._tree_after(state.active)
        return goal.version if goal else ""

    @property
    def back_to(self) -> str:
        """The version that `go_back` leads to; empty if there is none."""
        state = self._now()
        if self._pending(state):
            return self.version
        if self._tree is None or state.active != self.version or not state.previous:
            return ""
        before = self._tree_after(state.previous)
        return before.version if before else ""

    def is_check_due(self) -> bool:
        """Return True if a person switched the daily check on, and a day has passed."""
        return self._tree is not None and memory.read_memory(self._state).is_due(time.time())

    def set_automatic(self, *, automatic: bool) -> None:
        """Switch the daily check on or off. Raises UpdateError."""
        with disk_errors(self._state):
            memory.keep_automatic(self._state, automatic=automatic)

    def check(self, cancelled: Callable[[], bool] = lambda: False) -> Offer | None:
        """Ask the place for the newest version that this one can go to; None if there is none.

        Raises UpdateError.
        """
        tree = self._require_installed()
        if not self.place:
            raise UpdateError(
                UpdateCode.NO_PLACE,
                sentence("This copy of Safelight does not know where new versions are published."),
                sentence(
                    "The variable {name} can name a web address or a folder.", name=PLACE_VARIABLE
                ),
            )
        seen = memory.read_memory(self._state).sequences.get(self.place, 0)
        content = verified_content(
            signed_list(self.place, CHANNEL, cancelled, self._terms), self._keys
        )
        read = read_list(content)
        require_current(read, CHANNEL, seen, datetime.now(UTC).date())
        with disk_errors(self._state):
            memory.keep_check(self._state, self.place, read.sequence)
        best = best_release(read, tree.version, system_name(), this_machine())
        if best is None or best[0].version == self.next_version:
            return None
        return self._offer(*best)

    def install(
        self,
        offer: Offer,
        on_progress: Callable[[int], None],
        on_arrival: Callable[[], None],
        cancelled: Callable[[], bool],
    ) -> None:
        """Install an offer beside this version, for the next start. Raises UpdateError.

        `on_progress` gets the bytes of the download that are here; `on_arrival` is called when all
        are, and the rest, some seconds, begins.
        """
        tree = self._require_installed()
        downloads = self._versions / _DOWNLOADS
        with disk_errors(self._versions), installing(self._versions):
            require_room(self._versions, offer.download_bytes + offer.disk_bytes)
            archive = get_archive(offer, downloads, on_progress, cancelled, self._terms)
            on_arrival()
            install_archive(archive, offer, self._versions, cancelled)
            installed = Tree(tree_folder(str(self._versions), offer.version), offer.version)
            require_running(installed)
            activate(self._versions, offer.version, tree.version)
            shutil.rmtree(downloads, ignore_errors=True)
            remove_others(self._versions, {offer.version, tree.version})

    def go_back(self) -> str:
        """Have the version before this one start next; return it. Raises UpdateError."""
        goal = self.back_to
        if not goal:
            raise UpdateError(
                UpdateCode.NO_WAY_BACK,
                sentence("There is no version before this one to go back to."),
            )
        with disk_errors(self._versions):
            change_state(self._versions, lambda state: state.without(state.active, GONE_BACK))
        return goal

    def news(self) -> list[News]:
        """Return the news of versions that failed; they are told once."""
        left = self._now().left
        if all(entry.told for entry in left):
            return []
        told = news_of(left, self._versions, self.version)
        with suppress(OSError):  # then they are told again
            change_state(self._versions, VersionsState.told)
        return told

    def _offer(self, release: Release, archive: Archive) -> Offer:
        urls = urls_of(archive, self.place)
        return Offer(
            version=release.version,
            date=release.date,
            notes=release.notes,
            download_bytes=archive.size,
            disk_bytes=archive.disk_bytes,
            hosts=hosts_of(urls),
            gone_back_from=release.version in {left.version for left in self._now().left},
            file_name=archive.name,
            sha256=archive.sha256,
            urls=urls,
        )

    def _now(self) -> VersionsState:
        return read_state(str(self._versions))

    def _pending(self, state: VersionsState) -> str:
        """Return the version that waits for the next start; empty if there is none."""
        waits = self._tree and state.active and is_newer(state.active, self._tree.version)
        return state.active if waits else ""

    def _tree_after(self, active: str) -> Tree | None:
        """Return the tree that starts where a version is the active one, or none if it is empty."""
        beside = read_tree(tree_folder(str(self._versions), active)) if active else None
        installed = read_tree(self._installed_at) if self._installed_at else None
        if beside and installed and is_newer(installed.version, beside.version):
            return installed
        return beside or installed

    def _require_installed(self) -> Tree:
        if self._tree is None:
            raise UpdateError(
                UpdateCode.NOT_INSTALLED,
                sentence("This Safelight runs from its sources, which it does not change."),
                sentence("Update the sources, or use an installed Safelight."),
            )
        return self._tree
