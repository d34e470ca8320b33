"""A field tells when it changes, and only then."""

import pytest
from PySide6.QtCore import QObject, Signal

from app.field import Field, FieldGroup


class Sample(QObject):
    number_changed = Signal(object)
    number = Field[float | None](None)


def test_a_field_tells_of_each_change_once() -> None:
    sample, told = Sample(), list[object]()
    sample.number_changed.connect(told.append)
    for value in (None, 1, 1, 2, None, None):
        sample.number = value
    assert told == [1, 2, None]
    assert sample.number is None


def test_numbers_that_are_equal_but_of_another_kind_are_a_change() -> None:
    sample, told = Sample(), list[object]()
    sample.number = 2
    sample.number_changed.connect(told.append)
    sample.number = 2.0
    assert told == [2.0]


def test_objects_do_not_share_values() -> None:
    sample, other = Sample(), Sample()
    sample.number = 1
    assert other.number is None


def test_a_field_without_its_signal_is_refused_where_it_is_written() -> None:
    with pytest.raises((TypeError, RuntimeError)):
        type("Silent", (QObject,), {"number": Field(0)})


class Several(FieldGroup):
    number_changed = Signal(object)
    text_changed = Signal(object)
    number: Field[int] = Field(0)
    text: Field[str] = Field("")


def test_changes_at_once_are_told_together_after_their_own_signals() -> None:
    group, told = Several(), list[object]()
    group.number_changed.connect(told.append)
    group.changed.connect(told.append)
    with group.at_once():
        group.number = 1
        with group.at_once():
            group.text = "one"
        group.number = 2
    assert told == [1, 2, {"number", "text"}]
    group.number = 2
    group.text = "two"
    assert told[3:] == [{"text"}]


def test_a_change_that_follows_from_another_is_told_with_it() -> None:
    group, told = Several(), list[object]()

    def follow(number: int) -> None:
        group.text = str(number)

    group.number_changed.connect(follow)
    group.changed.connect(told.append)
    group.number = 1
    assert told == [{"number", "text"}]


def test_changes_at_once_are_told_where_one_of_them_fails() -> None:
    group, told = Several(), list[object]()
    group.changed.connect(told.append)

    def fail() -> None:
        with group.at_once():
            group.number = 1
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert told == [{"number"}]
