"""Downloads from a server that misbehaves: the right file comes, or none."""

import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.downloads.errors import DownloadCode
from app.downloads.part import part_path
from tests.app.downloads.faulty_server import (
    Answer,
    Exchange,
    FaultyServer,
    drop_after,
    give,
    refuse,
    serve,
    serve_whole,
    silent,
    stall_after,
)
from tests.app.downloads.fetching import (
    CONTENT,
    IMPATIENT,
    QUICK,
    get,
    names_in,
    problem_of,
    source_of,
)

SIZE = len(CONTENT)
PAGE = b"<!DOCTYPE html><title>Sign in</title>"


def lying_range(begin: int, last: int, total: int | str) -> Answer:
    """Return an answer with the rest of the file and a range that is not its own."""

    def answer(exchange: Exchange) -> None:
        if "range" not in exchange.asked.headers:
            drop_after(SIZE // 2)(exchange)
            return
        rest = exchange.content[exchange.begin :]
        text = f"bytes {begin}-{last}/{total}"
        exchange.head(206, Content_Length=len(rest), Content_Range=text, ETag=exchange.etag)
        exchange.send(rest)

    return answer


def test_a_file_comes_whole_and_leaves_nothing_beside_it(
    server: FaultyServer, tmp_path: Path
) -> None:
    folder = tmp_path / "ünd so"
    assert get(source_of(server.url), folder) == CONTENT
    assert names_in(folder) == {"file.bin"}
    assert server.ranges == [None]


def test_progress_counts_the_bytes_that_are_here(server: FaultyServer, tmp_path: Path) -> None:
    counts: list[int] = []
    get(source_of(server.url), tmp_path, on_progress=counts.append)
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, SIZE)


def test_the_computer_stays_awake_while_a_file_comes(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def stay_awake() -> Callable[[], None]:
        told.append("asked")
        return lambda: told.append("released")

    monkeypatch.setattr("app.staying_awake.stay_awake", stay_awake)
    during: list[tuple[str, ...]] = []
    get(source_of(server.url), tmp_path, on_progress=lambda _: during.append(tuple(told)))
    assert (set(during), told) == ({("asked",)}, ["asked", "released"])


def test_an_empty_file_needs_no_server(server: FaultyServer, tmp_path: Path) -> None:
    assert get(source_of(server.url, b""), tmp_path) == b""
    assert server.asked == []


def test_a_file_that_is_there_is_not_downloaded_again(server: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(CONTENT)
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.asked == []


def test_another_file_of_the_name_is_replaced(server: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(b"x" * SIZE)
    assert get(source_of(server.url), tmp_path) == CONTENT


def test_a_connection_that_drops_is_taken_up_where_it_was(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.script = [drop_after(100_000), drop_after(100_000)]
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert server.asked[1].headers["if-range"] == server.etag


def test_a_server_that_always_drops_is_given_up_and_the_part_is_kept(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.script = [drop_after(100_000)]
    server.otherwise = drop_after(0)
    problem = problem_of(source_of(server.url), tmp_path)
    assert problem.code is DownloadCode.DROPPED
    assert "127.0.0.1" in problem.message
    assert part_path(source_of(server.url), tmp_path).read_bytes() == CONTENT[:100_000]
    server.otherwise = serve
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges[-1] == "bytes=100000-"


def test_failures_count_anew_after_each_byte_that_came(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.script = [drop_after(30_000) for _ in range(3 * QUICK.tries)]
    assert get(source_of(server.url), tmp_path) == CONTENT


@pytest.mark.parametrize("stall", [silent, stall_after(100_000)])
def test_a_server_that_stalls_is_asked_again(
    server: FaultyServer, tmp_path: Path, stall: Answer
) -> None:
    server.script = [stall]
    assert get(source_of(server.url), tmp_path, IMPATIENT) == CONTENT
    assert len(server.asked) > 1


def test_a_server_that_always_stalls_is_given_up(server: FaultyServer, tmp_path: Path) -> None:
    server.otherwise = silent
    problem = problem_of(
        source_of(server.url), tmp_path, msgspec.structs.replace(IMPATIENT, tries=1)
    )
    assert problem.code is DownloadCode.STALLED


def test_a_server_without_ranges_begins_the_file_anew(server: FaultyServer, tmp_path: Path) -> None:
    server.script = [drop_after(100_000), serve_whole]
    assert get(source_of(server.url), tmp_path) == CONTENT


def test_a_server_without_ranges_that_drops_at_one_place_is_given_up(
    server: FaultyServer, tmp_path: Path
) -> None:
    def half(exchange: Exchange) -> None:
        exchange.head(200, Content_Length=SIZE)
        exchange.send(CONTENT[: SIZE // 2])

    server.otherwise = half
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.DROPPED
    assert len(server.asked) <= 2 * QUICK.tries


def test_a_server_without_ranges_that_drops_at_changing_places_is_given_up(
    server: FaultyServer, tmp_path: Path
) -> None:
    """Each answer goes further than the one before it, but none further than the first."""

    def first_half_or_less(exchange: Exchange) -> None:
        exchange.head(200, Content_Length=SIZE)
        exchange.send(CONTENT[: SIZE // (2 if len(server.asked) % 2 else 9)])

    server.otherwise = first_half_or_less
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.DROPPED
    assert len(server.asked) <= 2 * QUICK.tries


def test_a_server_whose_first_half_is_always_wrong_is_given_up(
    server: FaultyServer, tmp_path: Path
) -> None:
    def wrong_half(exchange: Exchange) -> None:
        if "range" in exchange.asked.headers:
            serve(exchange)
            return
        exchange.file_head()
        exchange.send(bytes(SIZE // 2))

    server.otherwise = wrong_half
    problem = problem_of(source_of(server.url), tmp_path, msgspec.structs.replace(QUICK, tries=50))
    assert problem.code is DownloadCode.WRONG_HASH
    assert len(server.asked) <= 10


def test_a_changed_etag_begins_the_file_anew(server: FaultyServer, tmp_path: Path) -> None:
    def change(exchange: Exchange) -> None:
        drop_after(100_000)(exchange)
        server.etag = '"second"'

    # The first half is of another file, as the changed name says.
    other = FaultyServer(bytes(SIZE))
    server.content, server.script = other.content, [change]
    source = source_of(server.url)

    def content_changes(count: int) -> None:
        server.content = CONTENT

    assert get(source, tmp_path, on_progress=content_changes) == CONTENT
    assert server.asked[1].headers["if-range"] == '"first"'
    assert len(server.asked) == 2


def test_a_part_of_another_state_of_the_file_is_not_continued(
    server: FaultyServer, tmp_path: Path
) -> None:
    def ignores_if_range(exchange: Exchange) -> None:
        begin = exchange.begin
        text = f"bytes {begin}-{SIZE - 1}/{SIZE}"
        exchange.head(206, Content_Length=SIZE - begin, Content_Range=text, ETag='"second"')
        exchange.send(CONTENT[begin:])

    server.script = [drop_after(100_000), ignores_if_range]
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges == [None, "bytes=100000-", None]


def test_a_weak_etag_is_no_name_of_a_state(server: FaultyServer, tmp_path: Path) -> None:
    changed = "Sat, 01 Aug 2026 10:00:00 GMT"

    def weak(exchange: Exchange) -> None:
        exchange.head(200, Content_Length=SIZE, ETag='W/"first"', Last_Modified=changed)
        exchange.send(CONTENT[:100_000])

    server.script = [weak]
    server.etag = changed
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.asked[1].headers["if-range"] == changed


@pytest.mark.parametrize(
    ("begin", "last", "total"),
    [
        (0, SIZE - 1, SIZE),
        (SIZE // 2 + 1, SIZE - 1, SIZE),
        (SIZE // 2, SIZE, SIZE + 1),
        (SIZE // 2, SIZE // 2 - 1, SIZE),
        (SIZE // 2, SIZE - 1, SIZE - 1),
        (SIZE // 2, 10**18, "*"),
    ],
)
def test_a_range_that_was_not_asked_for_begins_the_file_anew(
    server: FaultyServer, tmp_path: Path, begin: int, last: int, total: int | str
) -> None:
    server.script = [drop_after(SIZE // 2), lying_range(begin, last, total)]
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges == [None, f"bytes={SIZE // 2}-", None]


def test_a_server_that_always_lies_about_ranges_is_given_up(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.otherwise = lying_range(0, SIZE - 1, SIZE)
    problem = problem_of(source_of(server.url), tmp_path)
    assert problem.code in (DownloadCode.DROPPED, DownloadCode.WRONG_ANSWER)
    assert len(server.asked) <= 2 * QUICK.tries


def test_a_range_that_brings_other_bytes_begins_the_file_anew(
    server: FaultyServer, tmp_path: Path
) -> None:
    def wrong_bytes(exchange: Exchange) -> None:
        begin = exchange.file_head()
        exchange.send(bytes(SIZE - begin))

    server.script = [drop_after(100_000), wrong_bytes]
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges == [None, "bytes=100000-", None]


def test_less_than_was_asked_for_is_taken_and_the_rest_asked_for(
    server: FaultyServer, tmp_path: Path
) -> None:
    def a_piece(exchange: Exchange) -> None:
        begin = exchange.begin
        text = f"bytes {begin}-{begin + 999}/{SIZE}"
        exchange.head(206, Content_Length=1000, Content_Range=text, ETag=exchange.etag)
        exchange.send(CONTENT[begin : begin + 1000])

    server.script = [drop_after(100_000), a_piece]
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges == [None, "bytes=100000-", "bytes=101000-"]


def test_a_range_beyond_the_file_begins_it_anew(server: FaultyServer, tmp_path: Path) -> None:
    server.script = [drop_after(100_000), refuse(416, Content_Range=f"bytes */{SIZE}")]
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges == [None, "bytes=100000-", None]


@pytest.mark.parametrize("length", [0, 1, SIZE - 1, SIZE + 1, 10**15])
def test_a_file_of_another_size_is_refused_before_it_comes(
    server: FaultyServer, tmp_path: Path, length: int
) -> None:
    server.otherwise = give(b"", Content_Length=length)
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.WRONG_SIZE
    assert len(server.asked) == 1


def test_no_more_bytes_are_taken_than_the_file_has(server: FaultyServer, tmp_path: Path) -> None:
    def endless(exchange: Exchange) -> None:
        exchange.head(200)
        for _ in range(1000):
            exchange.send(CONTENT)

    server.otherwise = endless
    most = 0

    def note(count: int) -> None:
        nonlocal most
        most = max(most, count)

    source = source_of(server.url)
    with pytest.raises(Exception, match="its size differs"):
        get(source, tmp_path, on_progress=note)
    assert most <= SIZE
    assert names_in(tmp_path) == set()


def test_a_body_without_a_length_is_taken(server: FaultyServer, tmp_path: Path) -> None:
    def closes(exchange: Exchange) -> None:
        exchange.head(200)
        exchange.send(CONTENT)

    server.script = [closes]
    assert get(source_of(server.url), tmp_path) == CONTENT


def test_other_bytes_are_never_given_the_name(server: FaultyServer, tmp_path: Path) -> None:
    server.otherwise = give(bytes(SIZE))
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.WRONG_HASH
    assert names_in(tmp_path) == set()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "page",
    [
        give(PAGE, Content_Type="text/html; charset=utf-8"),
        give(PAGE + bytes(SIZE - len(PAGE)), Content_Type="application/octet-stream"),
    ],
)
def test_a_web_page_in_place_of_the_file_is_recognised(
    server: FaultyServer, tmp_path: Path, page: Answer
) -> None:
    server.otherwise = page
    problem = problem_of(source_of(server.url), tmp_path)
    assert problem.code is DownloadCode.WEB_PAGE
    assert "sign-in" in problem.hint


def test_a_compressed_answer_is_refused(server: FaultyServer, tmp_path: Path) -> None:
    server.otherwise = give(CONTENT, Content_Encoding="gzip")
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.WRONG_ANSWER
    assert server.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [401, 403, 404, 410, 451])
def test_a_server_that_refuses_is_not_asked_again(
    server: FaultyServer, tmp_path: Path, status: int
) -> None:
    server.otherwise = refuse(status)
    problem = problem_of(source_of(server.url), tmp_path)
    assert (problem.code, problem.status) == (DownloadCode.STATUS, status)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(server: FaultyServer, tmp_path: Path, status: int) -> None:
    server.script = [refuse(status, Retry_After=0), refuse(status)]
    assert get(source_of(server.url), tmp_path) == CONTENT
    server.otherwise = refuse(status)
    (tmp_path / "file.bin").unlink()
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.BUSY


def test_a_server_that_asks_for_a_long_wait_is_given_up(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.otherwise = refuse(429, Retry_After=86_400)
    assert problem_of(source_of(server.url), tmp_path).code is DownloadCode.BUSY
    assert len(server.asked) == 1


def test_a_wait_that_the_server_asks_for_can_be_left(server: FaultyServer, tmp_path: Path) -> None:
    server.otherwise = refuse(503, Retry_After=200)
    problem = problem_of(source_of(server.url), tmp_path, cancelled=lambda: bool(server.asked))
    assert problem.code is DownloadCode.CANCELLED


@pytest.mark.parametrize(
    "fault", [refuse(404), give(bytes(SIZE)), drop_after(0), give(b"", Content_Length=9)]
)
def test_a_mirror_gives_what_the_first_address_does_not(
    server: FaultyServer, mirror: FaultyServer, tmp_path: Path, fault: Answer
) -> None:
    server.otherwise = fault
    assert get(source_of(server.url, CONTENT, mirror.url), tmp_path) == CONTENT


def test_a_mirror_continues_what_the_first_address_began(
    server: FaultyServer, mirror: FaultyServer, tmp_path: Path
) -> None:
    server.script = [drop_after(100_000)]
    server.otherwise = refuse(404)
    assert get(source_of(server.url, CONTENT, mirror.url), tmp_path) == CONTENT
    assert mirror.ranges == ["bytes=100000-"]
    # The first address's name of the state means nothing here.
    assert "if-range" not in mirror.asked[0].headers


def test_a_mirror_with_another_file_does_not_spoil_the_first(
    server: FaultyServer, mirror: FaultyServer, tmp_path: Path
) -> None:
    server.script = [drop_after(100_000), refuse(404)]
    mirror.content = bytes(SIZE)
    source = source_of(server.url, CONTENT, mirror.url)
    # The first failure is told.
    assert problem_of(source, tmp_path).code is DownloadCode.STATUS
    assert get(source, tmp_path) == CONTENT


@pytest.mark.parametrize("stall", [silent, stall_after(100_000)])
def test_a_stalled_download_is_left_at_once(
    server: FaultyServer, tmp_path: Path, stall: Answer
) -> None:
    """The server would hold the connection for a minute, which is the test's limit, too."""
    server.otherwise = stall
    wanted = threading.Event()
    source, terms = source_of(server.url), msgspec.structs.replace(QUICK, stall_s=600.0)
    found: list[DownloadCode] = []

    def download() -> None:
        found.append(problem_of(source, tmp_path, terms, wanted.is_set).code)

    thread = threading.Thread(target=download)
    thread.start()
    while not server.asked:
        pass
    wanted.set()
    thread.join(30)
    assert found == [DownloadCode.CANCELLED]


def test_a_part_of_another_file_is_not_continued(server: FaultyServer, tmp_path: Path) -> None:
    source = source_of(server.url)
    server.otherwise = drop_after(0)
    server.script = [drop_after(100_000)]
    problem_of(source, tmp_path)
    server.otherwise, server.content = serve, CONTENT[::-1]
    server.asked.clear()
    assert get(source_of(server.url, CONTENT[::-1]), tmp_path) == CONTENT[::-1]
    assert server.ranges == [None]


@pytest.mark.parametrize("note", [b"", b"{}", b"\xff", b"[" * 10_000])
def test_a_part_with_a_damaged_note_begins_anew(
    server: FaultyServer, tmp_path: Path, note: bytes
) -> None:
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:1000])
    (tmp_path / "file.bin.part.json").write_bytes(note)
    assert get(source_of(server.url), tmp_path) == CONTENT
    assert server.ranges == [None]
    assert names_in(tmp_path) == {"file.bin"}


@pytest.mark.parametrize("damage", [b"x", b"x" * SIZE, b"x" * (SIZE + 1)])
def test_a_damaged_part_never_becomes_the_file(
    server: FaultyServer, tmp_path: Path, damage: bytes
) -> None:
    source = source_of(server.url)
    server.script = [drop_after(100_000), *[drop_after(0)] * QUICK.tries]
    problem_of(source, tmp_path)
    part_path(source, tmp_path).write_bytes(damage)
    assert get(source, tmp_path) == CONTENT


def test_plain_http_is_refused_before_anything_is_asked(
    server: FaultyServer, tmp_path: Path
) -> None:
    terms = msgspec.structs.replace(QUICK, loopback_http=False)
    assert problem_of(source_of(server.url), tmp_path, terms).code is DownloadCode.ADDRESS_REFUSED
    for url in (server.url.replace("127.0.0.1", "localhost"), "http://example.com/file.bin"):
        source = source_of(server.url, CONTENT, url)
        assert problem_of(source, tmp_path).code is DownloadCode.ADDRESS_REFUSED
    assert server.asked == []


def test_a_host_that_does_not_answer_is_told(tmp_path: Path) -> None:
    # Nothing listens at port 9.
    problem = problem_of(source_of("http://127.0.0.1:9/file.bin"), tmp_path)
    assert problem.code is DownloadCode.NO_CONNECTION
    assert problem.message == "There is no connection to 127.0.0.1."
