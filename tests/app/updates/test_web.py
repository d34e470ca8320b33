"""Updates from a static host."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from app.downloads.terms import Terms
from app.updates.errors import UpdateCode, UpdateError
from app.updates.places import PLACE_VARIABLE
from app.updates.signatures import KEYS_VARIABLE
from app.updates.updates import Updates
from app.versions.trees import read_tree
from installers.update_manifest import public_key
from tests.app.updates.publishing import Publisher, install
from tests.app.updates.trees import NEW, Home

LOCAL = Terms(tries=1, loopback_http=True)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def address(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a web server that has the publisher's folder."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    publisher.folder.mkdir()
    handler = partial(_Quiet, directory=str(publisher.folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def updates(address: str, home: Home, installed: Path, key: SigningKey) -> Updates:
    environment = {PLACE_VARIABLE: address, KEYS_VARIABLE: public_key(key)}
    return Updates(home.versions, home.state, read_tree(str(installed)), environment, LOCAL)


def test_a_version_is_installed_from_a_host(
    home: Home, installed: Path, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    offer = updates.check()
    assert offer is not None
    assert offer.hosts == ("127.0.0.1",)
    assert install(updates) == NEW
    assert home.started(installed) == [NEW]


def test_a_host_without_a_list_is_told(updates: Updates) -> None:
    with pytest.raises(UpdateError) as error:
        updates.check()
    assert error.value.code is UpdateCode.UNREACHABLE
    assert "127.0.0.1" in error.value.message


def test_a_page_in_the_place_of_the_list_is_told(publisher: Publisher, updates: Updates) -> None:
    publisher.list.write_text("<!doctype html><html>Sign in</html>")
    with pytest.raises(UpdateError) as error:
        updates.check()
    assert error.value.code is UpdateCode.NOT_SIGNED
    assert "web browser" in error.value.hint


def test_a_changed_archive_is_not_installed(
    home: Home, publisher: Publisher, updates: Updates
) -> None:
    archive = publisher.publish(NEW)
    offer = updates.check()
    assert offer is not None
    archive.write_bytes(archive.read_bytes()[::-1])
    with pytest.raises(UpdateError) as error:
        updates.install(offer, lambda _: None, lambda: None, lambda: False)
    assert error.value.code is UpdateCode.DOWNLOAD
    assert home.now().active == ""


def test_an_address_without_encryption_is_refused(
    address: str, home: Home, installed: Path, key: SigningKey
) -> None:
    environment = {PLACE_VARIABLE: address, KEYS_VARIABLE: public_key(key)}
    usual = Updates(home.versions, home.state, read_tree(str(installed)), environment)
    with pytest.raises(UpdateError) as error:
        usual.check()
    assert error.value.code is UpdateCode.UNREACHABLE
    assert "encrypted" in error.value.message
