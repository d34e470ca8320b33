"""Runs `safelight generate` and measures it from outside: time, terminal output, memory."""

import json
import os
import pty
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.child import ROOT
from benchmarks.measure import PrivateMemoryPeak
from engine.compile.cache import ENCODED
from engine.compile.kept_results import KeptResults

# The progress bar's text from the denoiser's first step on.
_DENOISING = "Developing"


class CommandError(Exception):
    """The command failed; the message is its output."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One run of the command, measured from outside its process."""

    # Seconds from just before the process was created until it ended.
    wall_s: float
    # Seconds until the terminal showed the denoiser's first step.
    first_step_s: float
    # User and system time in seconds.
    cpu_s: float
    peak_private_bytes: int
    # The output of --json.
    result: Mapping[str, Any]

    @property
    def picture(self) -> Path:
        """The first file that was written."""
        return Path(self.result["images"][0]["path"])

    @property
    def loaded_s(self) -> float:
        """Seconds for encoding, denoising and decoding: the time once networks are prepared."""
        timings = self.result["timings"]
        return timings["encode_s"] + timings["denoise_s"] + timings["decode_s"]


def check_devices(python: Path, cache: Path) -> None:
    """Let the app check this machine's devices in trial runs. Raises CommandError."""
    command = [str(python), "-m", "app", "devices", "--json"]
    environment = {**os.environ, "SAFELIGHT_CACHE": str(cache)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise CommandError(" ".join(command))


def generate(python: Path, cache: Path, *arguments: str, knows_prompts: bool = False) -> CommandRun:
    """Run `safelight generate ... --json` in a new process. Raises CommandError.

    `python` is the interpreter of the app's environment, `cache` its cache folder. Unless the run
    `knows_prompts`, what encoders made of prompts before is deleted.
    """
    if not knows_prompts:
        KeptResults(cache / ENCODED).remove()
    command = [str(python), "-m", "app", "generate", *arguments, "--json"]
    environment = {**os.environ, "SAFELIGHT_CACHE": str(cache)}
    # Progress is drawn only on a terminal, so stderr is one.
    screen, terminal = pty.openpty()
    with tempfile.TemporaryFile() as output:
        started = perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=terminal
        )
        os.close(terminal)
        with PrivateMemoryPeak(process.pid) as memory:
            text, denoising_at = _watch(screen)
            # os.wait4 instead of Popen.wait, because it returns the processor time.
            _, status, usage = os.wait4(process.pid, 0)
        wall_s = perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode or denoising_at is None:
            raise CommandError(f"{' '.join(command)}\n{text}")
        output.seek(0)
        result = json.loads(output.read())
    cpu_s = usage.ru_utime + usage.ru_stime
    return CommandRun(wall_s, denoising_at - started, cpu_s, memory.peak_bytes, result)


def _watch(screen: int) -> tuple[str, float | None]:
    """Return the terminal's whole output, and the time when denoising first showed or None."""
    text, denoising_at = "", None
    with os.fdopen(screen, "rb", buffering=0) as drawn:
        while chunk := _read(drawn.fileno()):
            text += chunk.decode(errors="replace")
            if denoising_at is None and _DENOISING in text:
                denoising_at = perf_counter()
    return text, denoising_at


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 65536)
    except OSError:
        # Linux raises this when no process holds the terminal any more.
        return b""
