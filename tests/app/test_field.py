"""A field tells when it changes, and only then."""

import pytest
from PySide6.QtCore import QObject, Signal

from app.field import Field


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
    one, other = Sample(), Sample()
    one.number = 1
    assert other.number is None


def test_a_field_without_its_signal_is_refused_where_it_is_written() -> None:
    with pytest.raises((TypeError, RuntimeError)):
        type("Silent", (QObject,), {"number": Field(0)})
