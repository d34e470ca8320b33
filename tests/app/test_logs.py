"""Logs stay small, and nothing that is logged stops anyone."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.logs import JsonLinesHandler, RotatingLog

# Logs of every kind, then dies in native code.
SCRIPT = """
import faulthandler, logging, sys
from pathlib import Path
from PySide6.QtCore import qWarning
from app.logs import start_logging
start_logging(Path(sys.argv[1]))
logging.getLogger("app").info("hello")
logging.getLogger("app").debug("a secret prompt")
qWarning("from Qt")
faulthandler._sigsegv()
"""


@pytest.fixture
def logger(tmp_path: Path) -> Iterator[logging.Logger]:
    handler = JsonLinesHandler(RotatingLog(tmp_path / "app.log"))
    # Of nobody's family, so that no other handler meets its malformed records.
    logger = logging.Logger("tests.logs")  # noqa: LOG001
    logger.addHandler(handler)
    yield logger
    handler.close()


def test_a_log_is_put_aside_when_it_is_full(tmp_path: Path) -> None:
    log = RotatingLog(tmp_path / "new" / "x.log", limit=10, files=3)
    for number in range(12):
        log.write(f"{number:04}\n".encode())
    log.close()
    contents = {path.name: path.read_text() for path in (tmp_path / "new").iterdir()}
    assert contents == {
        "x.log": "0010\n0011\n",
        "x.log.1": "0008\n0009\n",
        "x.log.2": "0006\n0007\n",
    }


def test_a_log_goes_on_where_an_earlier_one_ended(tmp_path: Path) -> None:
    for _ in range(3):
        log = RotatingLog(tmp_path / "x.log", limit=10, files=2)
        log.write(b"12345")
        log.close()
    assert (tmp_path / "x.log").read_bytes() == b"12345"
    assert (tmp_path / "x.log.1").read_bytes() == b"1234512345"


def test_a_log_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = RotatingLog(tmp_path / "file" / "x.log")
    log.write(b"lost")
    log.close()
    (tmp_path / "file").unlink()
    log.write(b"kept")
    log.close()
    assert (tmp_path / "file" / "x.log").read_bytes() == b"kept"


def test_records_become_lines_of_json(tmp_path: Path, logger: logging.Logger) -> None:
    logger.error("a %s of text\nin two lines \udcff", "piece")
    logger.error("it failed", exc_info=ValueError("why"))
    logger.error("%d is no number", "x")
    first, second, third = map(json.loads, (tmp_path / "app.log").read_text().splitlines())
    assert first["text"] == "a piece of text\nin two lines \\udcff"
    assert (first["level"], first["logger"]) == ("ERROR", "tests.logs")
    assert "ValueError: why" in second["error"]
    assert "no number" in third["text"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGSEGV")
def test_a_process_logs_to_files_until_its_last_breath(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    command = [sys.executable, "-I", "-c", SCRIPT, str(logs)]
    process = subprocess.run(command, capture_output=True, check=False)
    assert process.returncode == -11
    lines = [json.loads(line) for line in (logs / "app.log").read_text().splitlines()]
    assert [(line["logger"], line["text"]) for line in lines] == [
        ("app", "hello"),
        ("qt", "default: from Qt"),
    ]
    assert "Segmentation fault" in (logs / "app-faults.log").read_text()
