"""A process that wants an artifact: `python -m tests.compile.contestant FOLDER`.

Says "begun", then "waiting" when somebody else is compiling it, then the numbers it got.
"""

import sys
from pathlib import Path
from threading import Event
from unittest.mock import patch

from backends.base import Precision
from backends.null import NullBackend
from engine.cancel import CancelToken
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiler import Compiler
from engine.memory.plan import WeightPlacement
from engine.weights.working_copies import WorkingCopies
from tests.compile.compiling import network, run


def main(folder: Path) -> None:
    print("begun", flush=True)  # noqa: T201
    backend = NullBackend()
    store = ArtifactStore(folder / "cache" / "compiled")
    compiler = Compiler(
        backend, backend.probe()[0], WorkingCopies(folder / "cache" / "weights"), store
    )
    made = network(folder / "checkpoint.safetensors")
    told = Event()

    def wait(seconds: float) -> None:
        if not told.is_set():
            print("waiting", flush=True)  # noqa: T201
            told.set()
        Event().wait(seconds)

    with patch("engine.compile.artifacts.time.sleep", wait):
        session = compiler.load(
            made, Precision.F32, WeightPlacement.MEMORY, lambda _done, _total: None, CancelToken()
        )
    print(run(session).sum(), flush=True)  # noqa: T201
    session.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
