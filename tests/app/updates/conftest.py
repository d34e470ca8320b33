"""A user, an installed version and a folder with updates for the tests of updates."""

from pathlib import Path

import pytest
from nacl.signing import SigningKey

from app.updates.updates import Updates
from tests.app.updates.publishing import Publisher, updates_of
from tests.app.updates.trees import OLD, Home, make_tree


@pytest.fixture(scope="session")
def key() -> SigningKey:
    """The key of the makers."""
    return SigningKey(b"k" * 32)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user who has never started Safelight."""
    folder = tmp_path / "Ünser Home"
    folder.mkdir()
    return Home(folder)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The tree of the installed version, 0.1.0."""
    return make_tree(tmp_path / "opt" / "Safe light", OLD)


@pytest.fixture
def publisher(tmp_path: Path, key: SigningKey) -> Publisher:
    """A folder with nothing published yet."""
    return Publisher(tmp_path / "stick", key, tmp_path / "scratch")


@pytest.fixture
def updates(home: Home, installed: Path, publisher: Publisher, key: SigningKey) -> Updates:
    """The updates of the installed version, from the publisher's folder."""
    return updates_of(home, installed, publisher, key)
