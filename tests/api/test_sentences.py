"""Sentences as values: what stands in their places, and what others may write into them."""

import msgspec
import pytest

from engine.api.sentences import NO_WORDS, Sentence, as_it_is, filled, sentence
from engine.api.values import ErrorCode, ErrorInfo


def test_a_sentence_reads_as_python_would_format_it() -> None:
    made = sentence(
        "{name} is {size:,} bytes, {part:.1f} of {whole} {{all}}: {key!r}",
        name="a.bin",
        size=1234567,
        part=2.25,
        whole=3,
        key="it's",
    )
    assert str(made) == 'a.bin is 1,234,567 bytes, 2.2 of 3 {all}: "it\'s"'


def test_a_sentence_within_a_sentence_is_translated_by_itself() -> None:
    reason = sentence("it has {count} tensors", count=1200)
    outer = sentence("{path} is damaged: {reason}.", path="m.ckpt", reason=reason)
    german = {
        "{path} is damaged: {reason}.": "{path} ist beschädigt: {reason}.",
        "it has {count} tensors": "es hat {count} Tensoren",
    }
    text = filled(outer, lambda english: german[english], lambda number, _: f"<{number}>")
    assert text == "m.ckpt ist beschädigt: es hat <1200> Tensoren."


def test_texts_of_other_programs_keep_their_braces() -> None:
    assert str(as_it_is("{x} and {y.__class__}")) == "{x} and {y.__class__}"
    assert as_it_is("") == NO_WORDS


@pytest.mark.parametrize(
    "template",
    ["{a.__class__}", "{a[0]}", "{a:>99999999}", "{missing}", "{", "}", "{0}", "{a!s}"],
)
def test_places_that_could_reach_further_stay_as_they_are(template: str) -> None:
    assert str(Sentence(template, (("a", "value"),))) == template


def test_a_sentence_of_endless_depth_ends() -> None:
    deep = sentence("end")
    for _ in range(100):
        deep = sentence("({inner})", inner=deep)
    assert "end" not in str(deep)


def test_an_error_of_an_earlier_version_is_read_with_its_plain_words() -> None:
    old = b'{"code":"disk_full","message":"The disk is full.","hint":"Free some space."}'
    error = msgspec.json.decode(old, type=ErrorInfo)
    assert (error.message, error.hint) == ("The disk is full.", "Free some space.")
    new = ErrorInfo(ErrorCode.DISK_FULL, sentence("{n:,} MB are needed.", n=2000))
    assert msgspec.json.decode(msgspec.json.encode(new), type=ErrorInfo) == new
    assert new.message == "2,000 MB are needed."
