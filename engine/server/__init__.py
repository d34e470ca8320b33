"""The engine process: commands come in on a pipe, events go out on another, jobs run one by one.

Three threads serve it. The main thread runs jobs, because native libraries like it best. The reader
takes commands, answers `Ping` and cancels, whatever the others do. The third answers queries. A
fourth writes events, so that a slow reader holds nobody up.

Until the app has heard `Hello` nothing heavy is imported: of the modules here only `answers` and
`job_run` know the rest of the engine, and `process` imports them after that.
"""

from engine.server.process import main

__all__ = ["main"]
