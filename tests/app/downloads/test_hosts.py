"""Connections go to the hosts that were shown, encrypted, and through the system's proxy."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import trustme

from app.downloads.errors import DownloadCode, DownloadError
from app.downloads.texts import read_text
from tests.app.downloads.conftest import Sites, vouched_for
from tests.app.downloads.faulty_server import (
    Answer,
    Exchange,
    FaultyServer,
    drop_after,
    give,
    redirect,
    refuse,
    running,
    serve,
    stall_after,
    tunnel,
)
from tests.app.downloads.fetching import CONTENT, QUICK, get, problem_of, source_of

URL = "https://files.test/file.bin"


def hosts_asked(sites: Sites) -> list[str]:
    return [asked.host for asked in sites.server.asked]


def test_a_file_comes_through_the_proxy_encrypted(sites: Sites, tmp_path: Path) -> None:
    assert get(source_of(URL), tmp_path) == CONTENT
    assert [line.split()[:2] for line, _ in sites.proxy.asked] == [["CONNECT", "files.test:443"]]
    assert sites.proxy.asked[0][1] == ""
    assert hosts_asked(sites) == ["files.test"]


def test_a_proxy_gets_its_user_and_the_server_does_not(
    sites: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@127.0.0.1:{sites.proxy.port}")
    assert get(source_of(URL), tmp_path) == CONTENT
    assert sites.proxy.asked[0][1].endswith("Basic bWU6cEBzcw==")
    assert not {"proxy-authorization", "authorization", "cookie"} & {*sites.server.asked[0].headers}


@pytest.mark.parametrize("status", [b"407 Who are you", b"403 No"])
def test_a_proxy_that_refuses_is_told(
    sites: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: bytes
) -> None:
    with tunnel(sites.server.port, status) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{proxy.port}")
        problem = problem_of(source_of(URL), tmp_path)
    assert problem.code is DownloadCode.PROXY
    assert status[:3].decode() in problem.detail


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://[", "http://127.0.0.1:x"])
def test_a_proxy_without_sense_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    assert problem_of(source_of(URL), tmp_path).code is DownloadCode.PROXY


def test_a_server_that_nobody_vouches_for_gets_no_request(
    sites: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    monkeypatch.setenv("SSL_CERT_FILE", str(other))
    problem = problem_of(source_of(URL), tmp_path)
    assert problem.code is DownloadCode.CERTIFICATE
    assert "SSL_CERT_FILE" in problem.hint
    assert sites.server.asked == []


def test_a_server_of_another_name_gets_no_request(sites: Sites, tmp_path: Path) -> None:
    problem = problem_of(source_of("https://bank.test/file.bin"), tmp_path)
    assert problem.code is DownloadCode.CERTIFICATE
    assert sites.server.asked == []


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_authority_that_is_named_for_other_programs_is_trusted(
    sites: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing.pem"))
    assert get(source_of(URL), tmp_path) == CONTENT


def test_a_connection_that_drops_under_tls_is_taken_up(sites: Sites, tmp_path: Path) -> None:
    sites.server.script = [drop_after(100_000)]
    assert get(source_of(URL), tmp_path) == CONTENT
    assert sites.server.ranges == [None, "bytes=100000-"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_a_host_that_was_shown_is_followed(
    sites: Sites, tmp_path: Path, status: int
) -> None:
    sites.server.script = [redirect("https://cdn.test/x?signed=1", status)]
    source = source_of(URL, hosts=("cdn.test",))
    assert source.hosts == ("files.test", "cdn.test")
    assert get(source, tmp_path) == CONTENT
    assert [(asked.host, asked.path) for asked in sites.server.asked] == [
        ("files.test", "/file.bin"),
        ("cdn.test", "/x?signed=1"),
    ]


def test_a_redirect_within_the_host_may_be_relative(sites: Sites, tmp_path: Path) -> None:
    sites.server.script = [redirect("/elsewhere"), redirect("again")]
    assert get(source_of(URL), tmp_path) == CONTENT
    assert [asked.path for asked in sites.server.asked] == ["/file.bin", "/elsewhere", "/again"]


def test_a_part_is_continued_through_a_redirect(sites: Sites, tmp_path: Path) -> None:
    there = redirect("https://cdn.test/x")
    sites.server.script = [there, drop_after(100_000), there]
    assert get(source_of(URL, hosts=("cdn.test",)), tmp_path) == CONTENT
    assert sites.server.asked[-1].headers["range"] == "bytes=100000-"
    assert sites.server.asked[-1].headers["if-range"] == sites.server.etag


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.test/file.bin",
        "https://cdn.test.evil.test/",
        "https://cdn.test@evil.test/",
        "https://user:password@files.test/",
        "http://files.test/file.bin",
        "http://127.0.0.1/file.bin",
        "https://files.test:8443/file.bin",
        "https://files.test:x/file.bin",
        "//evil.test/file.bin",
        "file:///etc/passwd",
        "ftp://files.test/",
        "javascript:alert(1)",
        "https://[",
        "https://files.test/ü",
        "",
    ],
)
def test_a_redirect_elsewhere_is_refused(sites: Sites, tmp_path: Path, place: str) -> None:
    sites.server.otherwise = redirect(place)
    terms = msgspec.structs.replace(QUICK, loopback_http=False)
    problem = problem_of(source_of(URL, hosts=("cdn.test",)), tmp_path, terms)
    assert problem.code is DownloadCode.REDIRECT_REFUSED
    assert "password" not in problem.message
    # Sites send their files from one host today and from another one tomorrow.
    assert "look its link up again" in problem.hint
    assert len(sites.server.asked) == 1


def test_a_redirect_without_an_address_is_refused(sites: Sites, tmp_path: Path) -> None:
    sites.server.otherwise = refuse(302)
    assert problem_of(source_of(URL), tmp_path).code is DownloadCode.REDIRECT_REFUSED


def test_redirects_in_a_circle_end(sites: Sites, tmp_path: Path) -> None:
    def to_the_other(exchange: Exchange) -> None:
        other = {"files.test": "mirror.test", "mirror.test": "files.test"}[exchange.asked.host]
        redirect(f"https://{other}/file.bin")(exchange)

    sites.server.otherwise = to_the_other
    problem = problem_of(source_of(URL, hosts=("mirror.test",)), tmp_path)
    assert problem.code is DownloadCode.REDIRECT_REFUSED
    assert len(sites.server.asked) == 6


def test_a_mirror_is_asked_where_the_first_address_redirects_elsewhere(
    sites: Sites, tmp_path: Path
) -> None:
    sites.server.script = [redirect("https://evil.test/")]
    source = source_of(URL, CONTENT, "https://mirror.test/file.bin")
    assert get(source, tmp_path) == CONTENT
    assert hosts_asked(sites) == ["files.test", "mirror.test"]


def test_a_host_that_has_no_proxy_is_asked_directly(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    context = vouched_for(authority, "localhost")
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with running(FaultyServer(CONTENT), context) as server:
        url = f"https://localhost:{server.port}/file.bin"
        assert get(source_of(url), tmp_path) == CONTENT


def read(url: str, most_bytes: int = 1 << 20) -> bytes:
    return read_text(url, most_bytes, lambda: False, QUICK)


def test_a_text_is_read_from_its_host_alone(sites: Sites) -> None:
    assert read(URL) == CONTENT
    sites.server.otherwise = redirect("https://mirror.test/")
    with pytest.raises(DownloadError, match=r"sends the download of file\.bin elsewhere"):
        read(URL)


def test_a_text_is_asked_for_again_after_a_failure(server: FaultyServer) -> None:
    server.script = [drop_after(10), refuse(503)]
    assert read(server.url) == CONTENT
    server.otherwise = refuse(503)
    with pytest.raises(DownloadError, match="too busy"):
        read(server.url)
    assert len(server.asked) == 3 + QUICK.tries


def test_a_text_that_is_too_long_is_refused(server: FaultyServer) -> None:
    with pytest.raises(DownloadError, match="its size differs"):
        read(server.url, len(CONTENT) - 1)


def test_a_web_page_is_no_text(server: FaultyServer) -> None:
    def page(exchange: Exchange) -> None:
        exchange.file_head(Content_Type="text/html")

    server.otherwise = page
    with pytest.raises(DownloadError, match="web page"):
        read(server.url)
    server.otherwise = serve
    with pytest.raises(ValueError, match="no web address"):
        read("file:///etc/passwd")


def test_a_text_needs_encryption_elsewhere_than_here() -> None:
    with pytest.raises(DownloadError, match="not be encrypted"):
        read("http://example.com/list")


@pytest.fixture
def lost_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A network whose name server is silent; set once it was asked."""
    asked, ended = threading.Event(), threading.Event()

    def wait(*_: object) -> None:
        asked.set()
        ended.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", wait)
    yield asked
    ended.set()


def test_a_name_server_that_is_silent_is_a_stall(
    lost_names: threading.Event, tmp_path: Path
) -> None:
    """The system's look-up knows no time limit."""
    problem = problem_of(
        source_of(URL), tmp_path, msgspec.structs.replace(QUICK, stall_s=0.3, tries=1)
    )
    assert problem.code is DownloadCode.STALLED
    # A busy machine may come to the look-up only now.
    assert lost_names.wait(60)


def test_a_silent_name_server_is_left_at_once(lost_names: threading.Event, tmp_path: Path) -> None:
    problem = problem_of(source_of(URL), tmp_path, QUICK, lost_names.is_set)
    assert problem.code is DownloadCode.CANCELLED


def test_a_name_that_nobody_knows_is_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    problem = problem_of(source_of(URL), tmp_path)
    assert problem.code is DownloadCode.NO_CONNECTION
    assert problem.message == "There is no connection to files.test."


@pytest.mark.parametrize("answer", [refuse(206), refuse(416), give(b"x", Content_Encoding="gzip")])
def test_a_part_of_a_text_is_no_text(server: FaultyServer, answer: Answer) -> None:
    server.otherwise = answer
    with pytest.raises(DownloadError, match="makes no sense"):
        read(server.url)


def test_a_text_that_is_not_wanted_any_more_is_left(server: FaultyServer) -> None:
    server.otherwise = stall_after(10)
    with pytest.raises(DownloadError, match="was stopped"):
        read_text(server.url, 1 << 20, lambda: bool(server.asked), QUICK)
