"""Tries an installed pack in an engine of its own before anything else uses it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from app.packs.store import Installed
from engine.api.machine import PackVerdict
from engine.child_python import python_command
from engine.packs import FOLDER, ON_TRIAL

_LOOK_S = 0.1
_VERDICTS = msgspec.json.Decoder(PackVerdict)


class Trial(Protocol):
    """A function that tries the pack in a folder below `root`."""

    def __call__(
        self,
        root: Path,
        name: str,
        pack: Installed,
        imports: tuple[str, ...],
        cancelled: Callable[[], bool],
    ) -> PackVerdict:
        """Return the verdict; any, if it was cancelled."""
        ...


def try_pack(
    root: Path,
    name: str,
    pack: Installed,
    imports: tuple[str, ...],
    cancelled: Callable[[], bool],
) -> PackVerdict:
    """Import the pack's modules and run its backends in processes of their own."""
    backends = (f"--backend={backend}" for backend in pack.backends)
    command = (
        *python_command("-m", "engine.devices.pack_trial", "--parent", str(os.getpid())),
        *(f"--import={module}" for module in imports),
        *backends,
        *(("--onnxruntime",) if pack.replaces_onnxruntime else ()),
    )
    environment = os.environ | {FOLDER: str(root), ON_TRIAL: name}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        # Its stdin stays open, because its end would end the child; the verdict fits in a pipe.
        while child.poll() is None:
            try:
                child.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                if cancelled():
                    child.kill()
        assert child.stdout is not None
        said = child.stdout.read()
    try:
        return _VERDICTS.decode(said)
    except msgspec.DecodeError:
        return PackVerdict(works=False, sentence="Its trial ended without a result.")
