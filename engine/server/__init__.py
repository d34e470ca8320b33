"""The engine process: commands come in on a pipe, events go out on another, jobs run one by one.

It has four threads. The main thread runs jobs, because native libraries work best there. The reader
takes commands, answers `Ping` and cancels jobs, and never waits. The answerer answers queries. The
writer writes events, so that an app that reads slowly holds up none of the others. Trials of
devices and cancellations have short threads of their own.

Nothing heavy is imported before `Hello` is sent: of the modules here only `answers`, `job_run` and
`device_checks` import the rest of the engine, and `process` imports those after `Hello`.
"""

import argparse
from collections.abc import Sequence
from typing import NoReturn

from engine.priority import yield_to_others
from engine.reaping import go_on_in_child


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Serve the app on this process's stdin and stdout, and end the process."""
    parser = argparse.ArgumentParser(prog="engine", description="The engine process.")
    parser.add_argument("--parent", type=int, metavar="PID", help="end when this process does")
    parent = parser.parse_args(arguments).parent
    # Pictures take all of the processor, and the window must still answer at once.
    yield_to_others()
    if parent is not None:
        parent = go_on_in_child(parent)
    # Here, as the process that only waits for the engine needs none of it.
    from engine.server.process import run_engine

    run_engine(parent)
