"""Processes watched from outside: a peer in a child, and the command on a terminal."""

from pathlib import Path

import pytest

from benchmarks.child import Child, PeerError
from benchmarks.command import CommandError, generate

# Stands for Python: what `safelight generate --json` shows, and when.
COMMAND = """#!/bin/sh
sleep 0.2
printf '\\rPreparing' >&2
printf '\\rDeveloping' >&2
sleep 0.2
echo "{\\"cache\\": \\"$SAFELIGHT_CACHE\\", \\"arguments\\": \\"$*\\"}"
"""


def script(folder: Path, text: str) -> Path:
    path = folder / "python"
    path.write_text(text)
    path.chmod(0o700)
    return path


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_the_time_of_the_first_step_is_read_from_the_terminal(tmp_path: Path) -> None:
    run = generate(script(tmp_path, COMMAND), tmp_path / "cache", "a cat", "--steps", "1")
    assert 0.2 <= run.first_step_s < run.wall_s
    assert run.result == {
        "cache": str(tmp_path / "cache"),
        "arguments": "-m app generate a cat --steps 1 --json",
    }
    assert 0 < run.cpu_s < run.wall_s


def test_a_command_that_fails_is_quoted(tmp_path: Path) -> None:
    python = script(tmp_path, "#!/bin/sh\necho safelight: no such model >&2\nexit 1\n")
    with pytest.raises(CommandError, match="no such model"):
        generate(python, tmp_path)


def test_no_file_stays_open_behind_a_command(tmp_path: Path) -> None:
    python = script(tmp_path, COMMAND)
    before = open_files()
    generate(python, tmp_path)
    assert open_files() == before


def test_a_peer_that_cannot_load_has_a_reason(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.safetensors")
    with pytest.raises(PeerError, match=r"none\.safetensors"):
        Child("safelight", checkpoint=missing, backend="cpu", precision="f32")
