"""Runs `safelight generate` and watches from outside: the clock, the screen, the memory."""

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

# What the progress bar says from the moment the denoiser's first step begins.
_DENOISING = "Developing"


class CommandError(Exception):
    """The command failed; the message is what it wrote."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One run of the command, seen from outside."""

    # From just before the process was created until it had ended.
    wall_s: float
    # Until the screen said that the denoiser's first step begins.
    first_step_s: float
    # User and system time.
    cpu_s: float
    peak_private_bytes: int
    # What --json printed.
    result: Mapping[str, Any]

    @property
    def picture(self) -> Path:
        """The first file it wrote."""
        return Path(self.result["images"][0]["path"])

    @property
    def loaded_s(self) -> float:
        """Encoding, denoising and decoding: what remains once networks are prepared."""
        timings = self.result["timings"]
        return timings["encode_s"] + timings["denoise_s"] + timings["decode_s"]


def check_devices(python: Path, cache: Path) -> None:
    """Have the app try this machine's devices. Raises CommandError."""
    command = [str(python), "-m", "app", "devices", "--json"]
    environment = {**os.environ, "SAFELIGHT_CACHE": str(cache)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise CommandError(" ".join(command))


def generate(python: Path, cache: Path, *arguments: str) -> CommandRun:
    """Run `safelight generate ... --json` in a new process. Raises CommandError.

    `python` is the interpreter of the environment it runs in, `cache` its cache folder.
    """
    command = [str(python), "-m", "app", "generate", *arguments, "--json"]
    environment = {**os.environ, "SAFELIGHT_CACHE": str(cache)}
    # It draws its progress on a terminal only, so stderr is one.
    screen, terminal = pty.openpty()
    with tempfile.TemporaryFile() as output:
        started = perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=terminal
        )
        os.close(terminal)
        with PrivateMemoryPeak(process.pid) as memory:
            text, denoising_at = _watch(screen)
            # Instead of Popen.wait, for the processor time.
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
    """What was drawn until the process closed its terminal, and when denoising was first seen."""
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
        # How Linux tells that nobody holds the terminal any more.
        return b""
