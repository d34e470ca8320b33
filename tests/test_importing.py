"""An engine and a command look for no garbage while they import the modules that they need."""

import subprocess
import sys

import pytest

COUNT = """
import gc, sys
def say_collections():
    count = sum(generation["collections"] for generation in gc.get_stats())
    print("collections", count, file=sys.stderr, flush=True)
"""
ENGINE = """
from engine.server import process
def serve(engine):
    say_collections()
    engine._configured.set()
    engine._work()
    say_collections()
    return 0
process.Engine.serve = serve
process.run_engine(None)
"""
COMMAND = """
from app.cli import run
say_collections()
run(["inspect", "no such file"])
say_collections()
"""


@pytest.mark.parametrize("start", [ENGINE, COMMAND], ids=["engine", "command"])
def test_there_is_no_collection_for_each_imported_module(start: str) -> None:
    command = [sys.executable, "-c", COUNT + start]
    told = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).stderr
    before, after = (int(part.split()[0]) for part in told.split(b"collections ")[1:])
    assert after - before < 30
