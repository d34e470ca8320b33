"""The launcher for macOS, which Zig compiles.

One C file becomes two executables, signed for nobody in particular, as Apple silicon demands.
"""

import subprocess
import sys
import tempfile
from enum import Enum
from pathlib import Path

from installers.errors import BuildError
from installers.inputs import Inputs
from installers.macos.libraries import MINIMUM_SYSTEM
from installers.zig import environment, zig

PYTHON = "python3.13"
_SOURCE = Path(__file__).with_name("launcher.c")
_WARNINGS = ("-Wall", "-Wextra", "-Werror")


class Executable(Enum):
    """The executables of a bundle, with the compiler's options of each."""

    WINDOW = ()
    INTERPRETER = ("-DINTERPRETER",)


class CompilerError(BuildError):
    """A compiler that does not run here, or that refuses the launcher."""


def compile_launcher(executable: Executable, target: Path, inputs: Inputs) -> None:
    """Compile one of the executables for arm64; raises CompilerError."""
    if sys.platform != "linux":
        raise CompilerError("Bundles for macOS are put together on Linux, and signed on a Mac.")
    target.parent.mkdir(parents=True, exist_ok=True)
    system = ".".join(map(str, MINIMUM_SYSTEM))
    with tempfile.TemporaryDirectory() as caches:
        command = [
            str(zig(inputs)), "cc", "-target", f"aarch64-macos.{system}", "-Os", "-s", *_WARNINGS,
            f'-DPYTHON="{PYTHON}"', *executable.value, "-o", str(target), str(_SOURCE),
        ]  # fmt: skip
        done = subprocess.run(
            command, env=environment(caches), capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise CompilerError(f"The launcher for macOS cannot be compiled:\n{done.stderr}")
