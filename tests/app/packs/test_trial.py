"""Packs are tried in processes of their own: what crashes, hangs or lies there is never active."""

import sys
from pathlib import Path

import msgspec
import pytest

from app.packs.installation import Installation, Wishes
from app.packs.store import PackStore
from engine.errors import Cancelled, EngineError
from tests.app.packs.made import a_pack, files_of, installation, names_in

# An ONNX Runtime that is none, in a pack that says it replaces ours.
FAKE_ONNXRUNTIME = {
    "onnxruntime/__init__.py": b"def get_available_providers():\n    return []\n",
    "onnxruntime_made-9.9.dist-info/METADATA": b"Name: onnxruntime-made\nVersion: 9.9\n",
}


@pytest.fixture
def store(tmp_path: Path) -> PackStore:
    return PackStore(tmp_path / "packs of Zoë")


def test_a_pack_whose_modules_import_works(store: PackStore, tmp_path: Path) -> None:
    outcome = Installation(store).install(a_pack(tmp_path / "w"), Wishes(), source=tmp_path / "w")
    assert outcome.verdict.works
    assert store.active() == {"tiny": "tiny-1.0"}


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (b"import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", r"crashed \(SIGSEGV\)"),
        (b"raise ImportError('libcuda.so.1: cannot open')\n", "libcuda.so.1: cannot open"),
        (b"import os\nos._exit(7)\n", "ended by itself"),
    ],
    ids=["crashes", "lacks a library", "exits"],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are of Unix")
def test_a_runtime_that_ends_its_trial_is_rolled_back(
    module: bytes, words: str, store: PackStore, tmp_path: Path
) -> None:
    wheels = tmp_path / "w"
    installation(store).install(a_pack(wheels), Wishes(), source=wheels)
    bad = a_pack(wheels, "1.1", files_of("1.1", module))
    with pytest.raises(EngineError, match=words) as caught:
        Installation(store).install(bad, Wishes(), source=wheels)
    assert caught.value.hint == "The version before it stays in use."
    assert store.active() == {"tiny": "tiny-1.0"}
    assert names_in(store.folder) == {"tiny-1.0"}


def test_an_onnx_runtime_that_cannot_run_the_processor_is_refused(
    store: PackStore, tmp_path: Path
) -> None:
    wheels = tmp_path / "w"
    pack = msgspec.structs.replace(
        a_pack(wheels, "9.9", FAKE_ONNXRUNTIME, name="made", replaces_onnxruntime=True),
        imports=("onnxruntime",),
    )
    with pytest.raises(EngineError, match="ONNX Runtime: "):
        Installation(store).install(pack, Wishes(), source=wheels)
    assert store.active() == {}


def test_a_trial_can_be_stopped(store: PackStore, tmp_path: Path) -> None:
    wheels = tmp_path / "w"
    hanging = a_pack(
        wheels, "1.0", files_of("1.0", b"import threading\nthreading.Event().wait()\n")
    )
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += store.listed("tiny-1.0") is not None
        return asked > 2

    with pytest.raises(Cancelled):
        Installation(store).install(hanging, Wishes(cancelled=cancelled), source=wheels)
    assert store.active() == {}
