"""Bounds on what is read from the system and its programs."""

import sys
from pathlib import Path

from backends.hardware.reading import entries, link_name, output_of, read_bytes, read_text

_ENDLESS = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
_LINGERING = """
import subprocess, sys, time
print("said", flush=True)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
time.sleep(600)
"""


def test_a_missing_file_folder_or_program_is_empty(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert (read_text(missing), read_bytes(missing), entries(missing)) == ("", b"", [])
    assert link_name(missing) == ""
    assert read_text(tmp_path) == ""
    assert output_of((str(missing),)) == ""


def test_a_file_is_read_as_far_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xff" * 1000)
    assert read_bytes(tmp_path / "file", 10) == b"\xff" * 10
    assert read_text(tmp_path / "file", 2) == "\ufffd\ufffd"


def test_a_program_that_prints_for_ever_is_cut_off() -> None:
    assert len(output_of((sys.executable, "-c", _ENDLESS), seconds=60)) == 1 << 20


def test_a_program_that_does_not_end_is_killed_with_its_children() -> None:
    assert output_of((sys.executable, "-c", _LINGERING), seconds=3) == "said\n"


def test_output_is_in_english_and_errors_are_left_out() -> None:
    code = "import os, sys; print(os.environ['LC_ALL']); print('no', file=sys.stderr)"
    assert output_of((sys.executable, "-c", code), seconds=60) == "C\n"
