"""The compiler for what has to come out the same on every machine: Zig, from its pinned wheel.

It brings the headers of macOS' C library, and musl's for Linux.
"""

import os
import zipfile
from pathlib import Path

from installers.inputs import Inputs, cache_folder, fetch

ZIG = "ziglang"


def zig(inputs: Inputs) -> Path:
    """Return the compiler, which is unpacked on the first call."""
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


def environment(caches: str) -> dict[str, str]:
    """Return this process' variables, and a folder for the compiler's caches."""
    return {**os.environ, "ZIG_LOCAL_CACHE_DIR": caches, "ZIG_GLOBAL_CACHE_DIR": caches}
