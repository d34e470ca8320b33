"""The compiler of the launcher for macOS: Zig, which brings the headers of macOS' C library.

One C file becomes two executables, signed for nobody in particular, as Apple silicon demands.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from enum import Enum
from pathlib import Path

from installers.errors import BuildError
from installers.inputs import Inputs, cache_folder, fetch
from installers.macos.libraries import MINIMUM_SYSTEM

ZIG = "ziglang"
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
            str(_zig(inputs)), "cc", "-target", f"aarch64-macos.{system}", "-Os", "-s", *_WARNINGS,
            f'-DPYTHON="{PYTHON}"', *executable.value, "-o", str(target), str(_SOURCE),
        ]  # fmt: skip
        folders = {"ZIG_LOCAL_CACHE_DIR": caches, "ZIG_GLOBAL_CACHE_DIR": caches}
        done = subprocess.run(
            command, env={**os.environ, **folders}, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise CompilerError(f"The launcher for macOS cannot be compiled:\n{done.stderr}")


def _zig(inputs: Inputs) -> Path:
    """Return the compiler, unpacked from its pinned wheel."""
    pinned = inputs.file(ZIG)
    folder = cache_folder() / f"{ZIG}-{pinned.sha256[:16]}"
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
        with zipfile.ZipFile(fetch(pinned)) as wheel:
            wheel.extractall(part)
        compiler = part / ZIG / "zig"
        compiler.chmod(0o755)
        part.replace(folder)
    return folder / ZIG / "zig"
