"""The sampler of private memory."""

from threading import Event

from engine.memory.peak import PeakMemory


def test_the_peak_is_the_highest_value_read() -> None:
    values, all_read = iter([3, 9, 5]), Event()

    def read() -> int | None:
        value = next(values, None)
        if value is None:
            all_read.set()
        return value

    with PeakMemory(read) as memory:
        all_read.wait()
    assert memory.peak == 9


def test_where_the_system_does_not_tell_there_is_none() -> None:
    with PeakMemory(lambda: None) as memory:
        pass
    assert memory.peak is None
