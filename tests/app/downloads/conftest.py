"""Servers for tests of downloads; proxies of this machine do not matter to them."""

import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from tests.app.downloads.faulty_server import FaultyServer, Tunnel, running, tunnel
from tests.app.downloads.fetching import CONTENT


@pytest.fixture(autouse=True)
def _own_network(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with running(FaultyServer(CONTENT)) as server:
        yield server


@pytest.fixture
def mirror() -> Iterator[FaultyServer]:
    with running(FaultyServer(CONTENT)) as mirror:
        yield mirror


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """An authority that nobody trusts unless told to."""
    return trustme.CA()


def vouched_for(authority: trustme.CA, *hosts: str) -> ssl.SSLContext:
    """A server's context with a certificate of these hosts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with authority.issue_cert(*hosts).private_key_and_cert_chain_pem.tempfile() as file:
        context.load_cert_chain(file)
    return context


@dataclass(frozen=True)
class Sites:
    """Web sites with TLS behind a proxy: each name leads to one server."""

    server: FaultyServer
    proxy: Tunnel


@pytest.fixture
def sites(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sites]:
    """Sites below `test`, whose authority the environment names, as a company's does."""
    if sys.platform == "darwin":
        pytest.skip("macOS verifies chains itself, and wants certificates as of real sites")
    context = vouched_for(authority, "files.test", "mirror.test", "cdn.test")
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with running(FaultyServer(CONTENT), context) as server, tunnel(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        yield Sites(server, proxy)
