"""Work counted, so that a test of how it grows depends on no machine's speed."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_SHORT, _LONG = 500, 2000


def work(run: Callable[[], object]) -> int:
    """The lines of Python that a function runs, and its calls of functions in C."""
    count = 0

    def on_line(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal count
        count += 1
        return on_line

    def on_call(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "c_call"

    tracer, profiler = sys.gettrace(), sys.getprofile()
    sys.settrace(on_line)
    sys.setprofile(on_call)
    try:
        run()
    finally:
        sys.setprofile(profiler)
        sys.settrace(tracer)
    return count


def assert_linear(run: Callable[[int], object]) -> None:
    """`run(n)`, on an input of n pieces, does work that is at most linear in n."""
    run(1)  # what is made once is made already
    short, long = work(lambda: run(_SHORT)), work(lambda: run(_LONG))
    # Quadratic work is 16 times as much.
    assert long < 5 * short + 1000, (short, long)
