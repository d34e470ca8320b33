"""Words drawn by a seed."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.wildcards import expand_wildcards
from tests.counted_work import assert_linear


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "animals").mkdir()
    files = {
        "colour": "\ufeff# colours\nred\n\n  blue  \n#green\n",
        "animals/cats": "{tabby|siamese} cat\n__colour__ cat\n",
        "loop": "a __loop2__\n",
        "loop2": "__loop__\n",
        "empty": "# nothing\n",
        "wide": "__wider__ " * 200,
        "wider": "__colour__ " * 200,
        "escaped": r"\{a|b\} \__colour__" + "\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def drawn(text: str, folder: Path | None = None, seeds: int = 60) -> Counter[str]:
    return Counter(expand_wildcards(text, seed, folder) for seed in range(seeds))


def test_the_same_seed_draws_the_same_words_for_ever() -> None:
    text = "{a|b|c|d} {e|f|g|h} {i|{j|k}|l}"
    # random.Random(seed).random() of Python 3.11, by the rule in the module's docstring.
    assert [expand_wildcards(text, seed, None) for seed in (0, 1, 2**64 - 1)] == DRAWN


DRAWN = ["d h j", "a h l", "a f i"]


def test_every_word_is_drawn_at_some_time() -> None:
    assert set(drawn("{a|b|}c")) == {"ac", "bc", "c"}
    assert set(drawn("{a|{b|c}}")) == {"a", "b", "c"}


def test_lists_are_found_in_files_and_folders(folder: Path) -> None:
    assert set(drawn("a __colour__ b", folder)) == {"a red b", "a blue b"}
    assert set(drawn("__animals/cats__", folder)) == {
        *("tabby cat", "siamese cat", "red cat", "blue cat")
    }


def test_words_are_drawn_by_their_weights() -> None:
    found = drawn("{9::a|b}", seeds=1000)
    assert 850 < found["a"] < 950
    assert set(drawn("{0::a|b}")) == {"b"}
    assert set(drawn("{0::a|0::b}")) == {"a", "b"}
    assert set(drawn("{ 2.5::a|b}")) == {"a", "b"}


@pytest.mark.parametrize(
    "text",
    [
        "{a} b",
        "{",
        "}",
        "a | b",
        "{a",
        "a}b|c",
        "____",
        "__",
        "a__ b __",
        "_a_",
        "[a|b]",
        "\\|",
        "\\x",
    ],
)
def test_text_without_a_choice_stays(text: str) -> None:
    assert expand_wildcards(text, 0, None) == text


def test_escaped_characters_are_plain(folder: Path) -> None:
    assert expand_wildcards(r"\{a|b\}", 0, None) == "{a|b}"
    assert set(drawn(r"{a\|b|a\|b}")) == {"a|b"}
    assert expand_wildcards(r"\__colour__", 0, folder) == "__colour__"
    assert expand_wildcards("__escaped__", 0, folder) == "{a|b} __colour__"
    assert set(drawn(r"\\{a|b}")) == {r"\\a", r"\\b"}


@pytest.mark.parametrize(
    ("text", "character", "named"),
    [
        ("a __colour__ __none__", 14, 'no list called "none"'),
        ("a {b|__none__|__none__}", 6, 'no list called "none"'),
        ("x __empty__", 3, 'no list called "empty"'),
        ("ab __loop__", 4, "loop leads back to itself"),
        ("__../colour__", 1, 'no list called "../colour"'),
        ("__animals/../../x__", 1, "no list called"),
        ("a __wide__", 3, "more than 10,000 words"),
    ],
)
def test_errors_point_at_the_character(folder: Path, text: str, character: int, named: str) -> None:
    with pytest.raises(EngineError) as caught:
        expand_wildcards(text, 0, folder)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert f"At character {character} " in caught.value.message or "{" in text
    assert named in caught.value.message
    advice = {"more than": "Shorten", "leads back": "Take a name out"}
    expected = (begin for words, begin in advice.items() if words in named)
    assert caught.value.hint.startswith(next(expected, "Write another"))


def test_underscores_in_the_name_of_a_lora_are_its_own_unless_there_is_such_a_list(
    folder: Path,
) -> None:
    tag = "<lora:ink__v2__final:0.8>"
    assert expand_wildcards(tag, 0, None) == tag
    assert set(drawn(f"{{{tag}|x}}", folder)) == {tag, "x"}
    text = f"<lora:ink__colour__:1>, {tag} __colour__"
    assert set(drawn(text, folder)) == {
        f"<lora:ink{colour}:1>, {tag} {other}"
        for colour in ("red", "blue")
        for other in ("red", "blue")
    }
    for outside in (f"{tag} __final__", "a <b __final__", "<lora:a __final__"):
        with pytest.raises(EngineError, match="no list"):
            expand_wildcards(outside, 0, folder)


def test_a_name_cannot_leave_the_folder(folder: Path) -> None:
    for name in ("../colour", "animals/../../colour", str(folder / "colour")):
        with pytest.raises(EngineError, match="no list called"):
            expand_wildcards(f"__{name}__", 0, folder / "animals")


PIECES = st.sampled_from([*"{}|_\\: a\0\ud800\u202e", "__", "__colour__", "2::", "{a|", "__x__"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(PIECES, max_size=30).map("".join), seed=st.integers(0, 2**64 - 1))
def test_any_text_is_written_out_or_refused(folder: Path, text: str, seed: int) -> None:
    def written() -> str:
        try:
            return expand_wildcards(text, seed, folder)
        except EngineError as error:
            return error.message

    assert written() == written()


# Of a number of pieces.
LONG_TEXTS: list[Callable[[int], str]] = [
    lambda n: "{" * n + "a|b" + "}" * n,
    lambda n: "{a|b" * n,
    lambda n: "__" * n,
    lambda n: "\\" * n,
]


@pytest.mark.parametrize(
    "text",
    LONG_TEXTS,
    ids=["deep", "open", "underscores", "slashes"],
)
def test_the_work_grows_with_the_length_of_a_text(text: Callable[[int], str]) -> None:
    assert_linear(lambda pieces: expand_wildcards(text(pieces), 0, None))
    # Regular expressions that try from each place anew would take minutes.
    assert expand_wildcards(text(100_000), 0, None)


def test_nesting_a_thousand_levels_deep_is_expanded() -> None:
    text = "{" * 1000 + "a" + "|b}" * 1000
    assert set(drawn(text, seeds=20)) <= {"a", "b"}
