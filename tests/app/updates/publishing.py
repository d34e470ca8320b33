"""Folders with updates, and what a version does with them."""

from pathlib import Path

from nacl.signing import SigningKey

from app.updates.places import PLACE_VARIABLE
from app.updates.signatures import KEYS_VARIABLE
from app.updates.updates import Updates
from app.versions.trees import read_tree
from installers.update_manifest import add_release, public_key
from tests.app.updates.trees import DRAWS, Home, make_tree, pack


class Publisher:
    """A folder with a list of updates, and the archives of the versions in it."""

    def __init__(self, folder: Path, key: SigningKey, scratch: Path) -> None:
        self.folder, self._key, self._scratch = folder, key, scratch

    def publish(self, version: str, body: str = DRAWS, minimum: str = "") -> Path:
        """Publish a version that does this when it is started; return its archive."""
        tree = make_tree(self._scratch / version, version, body)
        return self.publish_tree(tree, minimum)

    def publish_tree(self, tree: Path, minimum: str = "") -> Path:
        """Publish the version of a tree; return its archive."""
        archive = pack(tree, self.folder)
        add_release(
            self.folder, (archive,), (self._key,), f"What is new in {archive.name}", minimum
        )
        return archive

    @property
    def list(self) -> Path:
        """The signed list."""
        return self.folder / "safelight-stable.updates"


def updates_of(home: Home, tree: Path, publisher: Publisher, key: SigningKey) -> Updates:
    """Return the updates as a version in `tree` sees them."""
    environment = {KEYS_VARIABLE: public_key(key), PLACE_VARIABLE: str(publisher.folder)}
    return Updates(home.versions, home.state, read_tree(str(tree)), environment)


def install(updates: Updates) -> str:
    """Check, install what is offered, and return its version."""
    offer = updates.check()
    assert offer is not None
    updates.install(offer, lambda _: None, lambda: None, lambda: False)
    return offer.version
