"""The start of an engine and of a command: modules that take little to be imported."""

import subprocess
import sys

import pytest

COUNT = """
import gc, sys
def say_collections():
    count = sum(generation["collections"] for generation in gc.get_stats())
    print("collections", count, file=sys.stderr, flush=True)
def say_dataclasses():
    made = {
        value
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in ("app", "backends", "engine")
        for value in vars(module).values()
        if isinstance(value, type) and "__dataclass_fields__" in vars(value)
    }
    print("dataclasses", len(made), file=sys.stderr, flush=True)
"""
ENGINE = """
from engine.server import process
def serve(engine):
    say_collections()
    engine._configured.set()
    engine._work()
    say_collections()
    say_dataclasses()
    return 0
process.Engine.serve = serve
process.run_engine(None)
"""
COMMAND = """
from app.cli import run
say_collections()
run(["inspect", "no such file"])
say_collections()
say_dataclasses()
"""
STARTS = pytest.mark.parametrize("start", [ENGINE, COMMAND], ids=["engine", "command"])


def told(start: str, word: bytes) -> list[int]:
    """The numbers that follow a word in what a start says."""
    command = [sys.executable, "-c", COUNT + start]
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).stderr
    return [int(part.split()[0]) for part in said.split(word)[1:]]


@STARTS
def test_there_is_no_collection_for_each_imported_module(start: str) -> None:
    before, after = told(start, b"collections ")
    assert after - before < 30


@STARTS
def test_few_classes_are_compiled_from_text_at_each_start(start: str) -> None:
    # Dataclasses: 40 take as long as all the structs of an engine.
    (made,) = told(start, b"dataclasses ")
    assert made < 80
