"""The engine process: commands come in on a pipe, events go out on another, jobs run one by one.

It has four threads. The main thread runs jobs, because native libraries work best there. The reader
takes commands, answers `Ping` and cancels jobs, and never waits. The answerer answers queries. The
writer writes events, so that an app that reads slowly holds up none of the others. Trials of
devices and cancellations have short threads of their own.

Nothing heavy is imported before `Hello` is sent: of the modules here only `answers`, `job_run` and
`device_checks` import the rest of the engine, and `process` imports those after `Hello`.
"""

from engine.server.process import main

__all__ = ["main"]
