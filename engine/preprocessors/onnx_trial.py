"""ONNX files tried in a process of their own: a runtime may crash on a graph, even while loading.

`python -m engine.preprocessors.onnx_trial PARENT FILE WIDTH HEIGHT` loads a file and runs it once.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

from backends.base import Cancellation
from backends.cpu import CpuBackend
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.child_python import python_command
from engine.compile.compiler import Compiler
from engine.durable import replace_file
from engine.errors import Cancelled, EngineError
from engine.packs import use_packs
from engine.parent import die_with_parent
from engine.preprocessors.onnx_files import LoadedOnnx, OnnxFile
from engine.weights.working_copies import WorkingCopies

# The longest that loading a file and running it once may take.
PATIENCE_S = 120.0
_REFUSED = 3


class OnnxTrials:
    """Tries files, each once at each size by each runtime: harmless ones are noted in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def require_harmless(
        self, file: OnnxFile, width: int, height: int, cancel: Cancellation
    ) -> None:
        """Raise EngineError(CHECKPOINT_UNREADABLE) if running the file ends the process.

        It is tried with a picture of this width and height, as a graph may fail at one size only.
        Files that are refused in words pass: they are refused again. Raises Cancelled.
        """
        backend = CpuBackend()
        runtime = sha256(backend.fingerprint(backend.probe()[0]).encode()).hexdigest()
        note = self._folder / f"{file.model.digest[:32]}-{width}x{height}-{runtime[:16]}"
        if note.exists():
            return
        status = _status(file.path, width, height, cancel)
        if cancel.is_set():
            raise Cancelled
        if status not in (0, _REFUSED):
            raise EngineError(
                ErrorCode.CHECKPOINT_UNREADABLE,
                sentence(
                    "{path} is not run: it ends the program that runs it.", path=file.path.name
                ),
                sentence("Choose another file, or download it again."),
                f"status {status}",
            )
        if status == 0:
            with suppress(OSError):  # it is tried again the next time
                replace_file(note, b"")


def _status(path: Path, width: int, height: int, cancel: Cancellation) -> int:
    """Return the exit status of a trial; -1 for one that takes too long."""
    given = os.getpid(), path.absolute(), width, height
    command = python_command("-m", __name__, *map(str, given))
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        with cancel.calling(child.kill):
            return child.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        return -1
    finally:
        child.kill()
        child.wait()


def main() -> None:
    """Load a file and run it once on black; exit with status 3 if that is refused."""
    parent, path, width, height = sys.argv[1:]
    die_with_parent(int(parent))
    use_packs()
    backend = CpuBackend()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        compiler = Compiler(backend, backend.probe()[0], WorkingCopies(Path(folder)))
        try:
            network = LoadedOnnx(OnnxFile(Path(path)), compiler, CancelToken())
            network(np.zeros((1, 3, int(height), int(width)), np.float32))
        except EngineError:
            sys.exit(_REFUSED)


if __name__ == "__main__":
    main()
