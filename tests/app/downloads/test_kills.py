"""A download that is killed anywhere leaves no wrong file, and goes on afterwards."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.downloads.faulty_server import Exchange, FaultyServer, drop_after, running, serve
from tests.app.downloads.fetching import source_of

CONTENT = bytes(range(256)) * 12


def drop_once(exchange: Exchange) -> None:
    """Break off in the middle of a file that is begun."""
    (serve if "range" in exchange.asked.headers else drop_after(1000))(exchange)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.oracle)])
@pytest.mark.skipif(sys.platform == "win32", reason="forks are of Unix")
def test_a_download_that_is_killed_at_any_line_leaves_no_wrong_file_and_goes_on(
    tmp_path: Path, every: int
) -> None:
    with running(FaultyServer(CONTENT, otherwise=drop_once)) as server:
        source = source_of(server.url, CONTENT)
        command = [sys.executable, "-m", "tests.app.downloads.killed", source.url]
        arguments = [str(tmp_path / "files"), str(source.size), source.sha256, str(every)]
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, check=True, timeout=250
        )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line for line in lines if line["found"] not in ("", source.sha256)] == []
    assert [line for line in lines if line["then"] != source.sha256] == []
    assert [line for line in lines if line["after"] != ["file.bin"]] == []
    # Kills between all that happens on the disk, up to a child that came to its end.
    states = [line["left"] for line in lines]
    assert states[0] == []
    assert ["file.bin.lock", "file.bin.part", "file.bin.part.json"] in states
    if every == 1:
        # This lasts for a few lines.
        assert ["file.bin", "file.bin.lock", "file.bin.part.json"] in states
    assert states[-1] == ["file.bin"]
