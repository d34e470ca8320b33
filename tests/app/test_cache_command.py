"""`safelight cache`: what is kept, what it is for, and away with it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import run
from backends.base import DType
from engine.compile.cache import NetworkCache
from engine.compile.kept_results import Maker
from engine.weights.working_copies import WorkingCopies
from tests.compile.compiling import Bench
from tests.weights.files import write_sources


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A cache with two compiled networks, a working copy and an encoded prompt."""
    bench = Bench(tmp_path)
    monkeypatch.setenv("SAFELIGHT_CACHE", str(bench.cache))
    bench.numbers()
    bench.change(carries_weights=True)
    bench.numbers()
    weights = write_sources(tmp_path / "half.safetensors", {"w": np.ones(2)}, DType.F16)
    copies = WorkingCopies(bench.cache / "weights")
    copies.make("copy", weights, DType.F32, lambda _d, _t: None, ("denoiser", "pretty pictures"))
    maker = Maker("e" * 64, "text_encoder", "pretty prompts", "a processor")
    for given in "ab":
        NetworkCache(bench.cache).results.put(maker, 64 * given, {"states": np.ones(2)})
    return bench


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert run(["cache", *arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_the_list_states_the_use_of_each_entry(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    output = json_of(capsys)
    assert output["folder"] == str(bench.cache)
    kinds = [entry["kind"] for entry in output["artifacts"]]
    assert sorted(kinds) == [
        *("compiled_network", "compiled_network", "converted_weights", "encoded_prompts")
    ]
    (copy,) = (e for e in output["artifacts"] if e["kind"] == "converted_weights")
    assert (copy["name"], copy["network"], copy["checkpoint"]) == (
        "copy",
        "denoiser",
        "pretty pictures",
    )
    assert run(["cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for heading in ("NAME", "KIND", "NETWORK", "MODEL", "DEVICE", "SIZE", "LAST USED"):
        assert heading in lines[0]
    assert len(lines) == 7
    (prompts,) = (line for line in lines if "pretty prompts" in line)
    assert "encoded prompts" in prompts
    assert sum("computes nothing, for tests" in line for line in lines) == 2
    (own,) = (line for line in lines if " checkpoint " in line)
    assert "text_encoder" in own
    assert lines[-1].endswith(f"in {bench.cache}; all of it can be made again.")


def test_named_artifacts_are_cleared(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    before = json_of(capsys)["artifacts"]
    output = json_of(capsys, "clear", before[0]["name"], "copy", before[3]["name"])
    assert before[3]["kind"] == "encoded_prompts"
    assert [entry["name"] for entry in output["artifacts"]] == [before[1]["name"]]
    freed = before[0]["bytes"] + before[2]["bytes"] + before[3]["bytes"]
    assert output["freed_bytes"] == freed
    assert list((bench.cache / "encoded").iterdir()) == []


def test_everything_is_cleared_but_what_is_in_use(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    session = bench.session()
    assert run(["cache", "clear"]) == 0
    captured = capsys.readouterr()
    assert captured.out.endswith(" freed.\n")
    assert "is in use and stays." in captured.err
    assert len(json_of(capsys)["artifacts"]) == 1
    session.close()
    assert run(["cache", "clear"]) == 0
    assert "in use" not in capsys.readouterr().err
    assert run(["cache"]) == 0
    assert capsys.readouterr().out == f"Nothing is kept in {bench.cache}.\n"


def test_a_name_that_is_not_there(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache", "clear", "../../half.safetensors"]) == 1
    assert "holds nothing called" in capsys.readouterr().err
    assert len(json_of(capsys)["artifacts"]) == 4
