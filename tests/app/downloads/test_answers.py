"""Heads of answers: only ranges that continue the file are taken, and no wait is negative."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from app.downloads.answers import (
    is_same_file,
    next_address,
    span_of,
    validator_of,
    wait_asked_s,
)
from app.downloads.connection import Answer

NUMBERS = st.integers(0, 2000)


def answer(status: int, **headers: str | int) -> Answer:
    named = {name.replace("_", "-"): str(text) for name, text in headers.items()}
    return Answer("https://files.test/a/file.bin", status, named)


@given(asked=NUMBERS, size=NUMBERS, begin=NUMBERS, last=NUMBERS, total=NUMBERS, length=NUMBERS)
@example(asked=5, size=10, begin=5, last=9, total=10, length=5)
@example(asked=5, size=10, begin=5, last=7, total=10, length=3)
@example(asked=5, size=10, begin=4, last=9, total=10, length=6)
@example(asked=5, size=10, begin=6, last=9, total=10, length=4)
@example(asked=5, size=10, begin=5, last=10, total=10, length=6)
@example(asked=5, size=10, begin=5, last=9, total=11, length=5)
@example(asked=0, size=10, begin=0, last=9, total=10, length=10)
def test_a_range_that_is_taken_begins_where_it_was_asked_for_and_ends_in_the_file(
    asked: int, size: int, begin: int, last: int, total: int, length: int
) -> None:
    text = f"bytes {begin}-{last}/{total}"
    span = span_of(answer(206, content_range=text, content_length=length), asked, size)
    honest = 0 < asked == begin <= last < size == total and length == last - begin + 1
    assert (span is not None) == honest
    if span is not None:
        assert span.begin == asked < span.end <= size


@given(asked=NUMBERS, size=NUMBERS, length=NUMBERS)
@example(asked=5, size=10, length=10)
def test_a_whole_answer_has_the_size_of_the_file(asked: int, size: int, length: int) -> None:
    span = span_of(answer(200, content_length=length), asked, size)
    assert (span is not None) == (length == size)
    assert span is None or (span.begin, span.end) == (0, size)


@given(text=st.text(max_size=30), length=st.text(max_size=9), status=st.sampled_from([200, 206]))
@example(text="bytes 5-9/10" + "0" * 5000, length="9" * 5000, status=206)
@example(text="bytes ٥-٩/10", length="٥", status=206)  # noqa: RUF001
def test_any_text_in_a_head_is_judged(text: str, length: str, status: int) -> None:
    found = answer(status, content_range=text, content_length=length)
    span = span_of(found, 5, 10)
    assert span is None or span.begin in (0, 5)


@given(text=st.text() | st.integers().map(str), date=st.text())
@example(text="Mon, 01 Jan 1990 00:00:00 GMT", date="")
@example(text="Mon, 01 Jan 0000 00:00:00 -9999", date="x")
@example(text="9" * 400, date="")
def test_a_wait_is_never_negative(text: str, date: str) -> None:
    wait = wait_asked_s(answer(503, retry_after=text, date=date))
    assert wait is None or wait >= 0


def test_a_date_to_wait_for_is_measured_from_the_servers_own_clock() -> None:
    """The clock of this machine may be years off."""
    then, now = "Fri, 01 Jan 1971 00:00:30 GMT", "Fri, 01 Jan 1971 00:00:00 GMT"
    assert wait_asked_s(answer(429, retry_after=then, date=now)) == 30.0
    assert wait_asked_s(answer(429, retry_after="120")) == 120.0
    assert wait_asked_s(answer(429)) is None


@given(text=st.text())
@example(text="https://[")
@example(text="https://files.test:99999999/")
def test_any_place_to_go_to_is_an_address_or_none(text: str) -> None:
    assert isinstance(next_address(answer(302, location=text)), str)


def test_a_state_of_the_file_is_named_by_a_strong_etag_else_by_its_date() -> None:
    date = "Sat, 01 Aug 2026 10:00:00 GMT"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"etag": '"a"', "last_modified": date}, '"a"'),
        ({"etag": 'W/"a"', "last_modified": date}, date),
        ({"etag": "a", "last_modified": date}, date),
        ({"etag": 'W/"a"'}, ""),
        ({}, ""),
    ]
    assert [validator_of(answer(200, **headers)) for headers, _ in cases] == [
        expected for _, expected in cases
    ]


def test_another_state_of_the_file_is_told_by_its_name() -> None:
    assert is_same_file(answer(206, etag='"a"'), '"a"')
    assert not is_same_file(answer(206, etag='"b"'), '"a"')
    assert not is_same_file(answer(206, last_modified="today"), "yesterday")
    # Without a name the hash decides.
    assert is_same_file(answer(206), '"a"')
    assert is_same_file(answer(206, etag='"b"'), "")
