"""Rings of tests: cases by mark, and the modules that each ring imports."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests import conftest
from tests.thinned import each_with_one_in_turn, mark_of, thinned


def ignored(path: Path, expression: str) -> bool:
    config = SimpleNamespace(option=SimpleNamespace(markexpr=expression))
    return bool(conftest.pytest_ignore_collect(path, cast("pytest.Config", config)))


def test_a_ring_imports_the_modules_that_name_its_mark(tmp_path: Path) -> None:
    of_oracle, of_both, plain = (tmp_path / f"test_{name}.py" for name in ("a", "b", "c"))
    of_oracle.write_text("pytestmark = pytest.mark.oracle")
    of_both.write_text("@pytest.mark.parametrize('case', thinned(CASES, OFTEN))")
    plain.write_text("def test_one_is_one() -> None: ...")
    modules = (of_oracle, of_both, plain, tmp_path / "conftest.py", tmp_path)
    found = {
        expression: [ignored(path, expression) for path in modules]
        for expression in ("oracle and not slow and not gpu", "slow and not gpu", "not oracle", "")
    }
    assert found == {
        "oracle and not slow and not gpu": [False, False, True, False, False],
        "slow and not gpu": [True, False, True, False, False],
        "not oracle": [False] * 5,
        "": [False] * 5,
    }


def test_a_test_with_a_mark_from_another_module_is_refused(tmp_path: Path) -> None:
    module = tmp_path / "test_a.py"
    module.write_text("from elsewhere import CASES")
    item = SimpleNamespace(path=module, name="test_a", get_closest_marker="oracle".__eq__)
    with pytest.raises(pytest.UsageError, match="does not name the mark of test_a: oracle"):
        conftest.pytest_collection_modifyitems([cast("pytest.Item", item)])


def test_cases_that_are_not_often_bear_the_mark() -> None:
    marks = [[mark.name for mark in case.marks] for case in thinned((1, (2, 3), 4), {(2, 3)})]
    assert marks == [["oracle"], [], ["oracle"]]
    assert mark_of("oracle and not slow and not gpu") == "oracle"


def test_cases_that_are_seldom_are_slow() -> None:
    cases = thinned((1, 2, 3), {1}, seldom={3})
    assert [[mark.name for mark in case.marks] for case in cases] == [[], ["oracle"], ["slow"]]


def test_each_of_either_is_paired_once_and_other_pairs_bear_the_mark() -> None:
    cases = each_with_one_in_turn("ab", (1, 2, 3))
    often = [case.values for case in cases if not case.marks]
    assert often == [("a", 1), ("a", 3), ("b", 2)]
    assert len(cases) == 6
