"""The app without a window, to be killed: `host_app.py FOLDER PLAN CHECKPOINT COUNT PING_MS`.

It queues so many pictures and prints what happens, a line each: `engine PID`, `job ID STATE`,
`step DONE`. PLAN is that of the scripted engine, PING_MS the time between two pings.
"""

import json
import os
import sys
import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.engine.client import EngineClient
from app.engine.connection import EngineCommand
from app.engine.process import EngineProcess, EngineState, Supervision
from app.paths import Paths, find_paths
from app.queue.job_queue import JobQueue
from app.queue.jobs import Job
from engine.api.messages import JobProgress
from engine.api.request import GenerateRequest

ENGINE = Path(__file__).parent.parent / "server" / "scripted_engine.py"


def main(folder: Path, plan: str, checkpoint: str, count: int, ping_ms: int) -> int:
    application = QCoreApplication([])
    _follow_clock(json.loads(plan)["clock"])
    arguments = ("-I", str(ENGINE), plan, "--parent", str(os.getpid()))
    command = EngineCommand(sys.executable, arguments)
    # No module of the tests can be imported in a process of its own.
    names = [name for name in Paths.__struct_fields__ if name != "loras"]
    paths = find_paths({f"SAFELIGHT_{name.upper()}": str(folder / name) for name in names})
    supervision = Supervision(ping_ms=ping_ms)
    process = EngineProcess(paths, command=command, supervision=supervision)
    client = EngineClient(process)
    queue = JobQueue(client, folder / "state")

    def on_state(state: EngineState) -> None:
        if state is EngineState.READY and process.hello is not None:
            _say("engine", process.hello.pid)

    def on_job(job: Job) -> None:
        _say("job", job.id, job.state.value)

    def on_progress(event: JobProgress) -> None:
        _say("step", event.done)

    client.engine_state_changed.connect(on_state)
    client.job_progress.connect(on_progress)
    queue.job_added.connect(on_job)
    queue.job_changed.connect(on_job)
    process.start()
    if count:
        request = GenerateRequest(
            prompt="a red horse",
            checkpoint=checkpoint,
            width=64,
            height=64,
            steps=3,
            seed=7,
            count=count,
            backend="null",
        )
        queue.submit(request, folder / "out")
    return application.exec()


def _follow_clock(file: str | None) -> None:
    """Have the clock jump as the engine's does; no module of the tests can be imported here."""
    now, jump = time.time, Path(file or "")
    if file is not None:
        time.time = lambda: now() + (float(jump.read_text()) if jump.exists() else 0)


def _say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))
