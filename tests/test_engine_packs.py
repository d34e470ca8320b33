"""Active packs come first where Python looks, in each process that computes; broken ones do not."""

import json
import locale
import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from engine import packs
from engine.devices.fingerprint import installed_runtimes
from engine.packs import PacksInUse, use_packs

LIBRARY = bytes(100)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for packs that the environment names; the path of modules is put back."""
    folder = tmp_path / "packs of Zoë"
    folder.mkdir()
    monkeypatch.setenv(packs.FOLDER, str(folder))
    monkeypatch.delenv(packs.ON_TRIAL, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    held = len(packs._locks)  # pyright: ignore[reportPrivateUsage]
    yield folder
    for lock in packs._locks[held:]:  # pyright: ignore[reportPrivateUsage]
        lock.release()


def put(
    root: Path,
    name: str,
    *,
    module: str = "tiny",
    distribution: str = "",
    replaces_onnxruntime: bool = False,
    changes: Mapping[str, object] | None = None,
) -> Path:
    """Put an unpacked pack into the folder; return the folder of its modules."""
    site = root / name / "site"
    package = site / module
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"FROM = {name!r}")
    (package / "native.so").write_bytes(LIBRARY)
    distribution = distribution or module
    metadata = site / f"{distribution}-1.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Name: {distribution}\nVersion: 1.0\n")
    identity, _, version = name.rpartition("-")
    facts = {
        "id": identity,
        "version": version,
        "system": packs.this_system(),
        "machine": packs.this_machine(),
        "python": "",
        "replaces_onnxruntime": replaces_onnxruntime,
        "files": [[f"{module}/native.so", len(LIBRARY), "", 0]],
    }
    (root / name / "installed.json").write_text(json.dumps(facts | dict(changes or {})))
    return site


def activate(root: Path, *names: str) -> None:
    active = {name.rpartition("-")[0]: name for name in names}
    (root / "active.json").write_text(json.dumps({"active": active}))


def ids(used: PacksInUse) -> list[str]:
    return [f"{pack.id}-{pack.version}" for pack in used.packs]


def test_without_a_folder_of_packs_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(packs.FOLDER, raising=False)
    before = list(sys.path)
    assert use_packs() == PacksInUse()
    assert sys.path == before


def test_an_active_pack_is_searched_first_and_an_inactive_one_not(root: Path) -> None:
    site = put(root, "tiny-1.0")
    put(root, "other-1.0", module="other")
    activate(root, "tiny-1.0")
    used = use_packs()
    assert ids(used) == ["tiny-1.0"]
    assert used.problems == ()
    assert sys.path[0] == str(site)
    assert not any("other" in place for place in sys.path)


def test_a_second_call_changes_nothing(root: Path) -> None:
    put(root, "tiny-1.0")
    activate(root, "tiny-1.0")
    use_packs()
    before = list(sys.path)
    assert ids(use_packs()) == ["tiny-1.0"]
    assert sys.path == before


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"system": "plan9"}, "made for another system"),
        ({"machine": "vax"}, "made for another system"),
        ({"python": "2.7"}, "made for Python 2.7, and this is"),
        ({"files": [["tiny/gone.dll", 3, "", 0]]}, "its file gone.dll is missing"),
        ({"files": [["tiny/native.so", 99, "", 0]]}, "its file native.so has another size"),
        ({"files": 3}, "its list of files is damaged"),
        ({"id": None, "files": None}, "its list of files is damaged"),
    ],
)
def test_a_pack_that_does_not_fit_is_left_out_and_said(
    changes: dict[str, object], reason: str, root: Path
) -> None:
    put(root, "tiny-1.0", changes=changes)
    fine = put(root, "fine-1.0", module="fine")
    activate(root, "tiny-1.0", "fine-1.0")
    used = use_packs()
    assert ids(used) == ["fine-1.0"]
    assert sys.path[0] == str(fine)
    (problem,) = used.problems
    assert problem.startswith("The runtime pack tiny-1.0 is left out: ")
    assert reason in problem


def test_a_pack_whose_folder_is_missing_is_said(root: Path) -> None:
    activate(root, "tiny-1.0")
    assert use_packs().problems == (
        "The runtime pack tiny-1.0 is left out: its folder is missing.",
    )


@pytest.mark.parametrize("content", ["", "[]", '{"active": []}', '{"active": {"a": 3}}', "\0"])
def test_a_damaged_state_breaks_nothing(content: str, root: Path) -> None:
    (root / "active.json").write_text(content)
    assert use_packs().packs == ()


def test_two_packs_with_an_onnx_runtime_are_not_used_together(root: Path) -> None:
    for name in ("first-1.0", "second-1.0"):
        put(root, name, module="onnxruntime", replaces_onnxruntime=True)
    activate(root, "first-1.0", "second-1.0")
    used = use_packs()
    assert ids(used) == ["first-1.0"]
    assert "it brings an ONNX Runtime, and so does first" in used.problems[0]


def test_a_pack_on_trial_takes_the_place_of_its_earlier_version(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "tiny-1.0")
    put(root, "ort-1.0", module="onnxruntime", replaces_onnxruntime=True)
    put(root, "tiny-1.1", replaces_onnxruntime=True)
    put(root, "fine-1.0", module="fine")
    activate(root, "tiny-1.0", "ort-1.0", "fine-1.0")
    monkeypatch.setenv(packs.ON_TRIAL, "tiny-1.1")
    used = use_packs()
    assert sorted(ids(used)) == ["fine-1.0", "tiny-1.1"]
    assert used.problems == ()


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_pack_hides_the_onnx_runtime_that_comes_along(root: Path) -> None:
    put(root, "ort-1.0", module="onnxruntime", replaces_onnxruntime=True)
    activate(root, "ort-1.0")
    said = run_python(
        "from engine.packs import use_packs; use_packs(); import onnxruntime;"
        "print(onnxruntime.FROM)"
    )
    assert said == "ort-1.0"


# Each process that computes, with its arguments before the parent's id.
CHILDREN = {
    "engine.devices.trial_process": ["backends.cpu", "CpuBackend", "."],
    "engine.compile.compile_process": [],
    "engine.server.process": [],
    "app.cli": [],
}


@pytest.mark.parametrize("module", CHILDREN)
def test_each_process_that_computes_takes_the_packs_before_a_runtime(
    module: str, root: Path
) -> None:
    """Whatever it does then, its path of modules has the pack before its own."""
    put(root, "ort-1.0", module="onnxruntime", replaces_onnxruntime=True)
    activate(root, "ort-1.0")
    seen = root / "seen"
    code = (
        "import sys, os, atexit\n"
        f"import {module} as process, engine.packs\n"
        "assert 'onnxruntime' not in sys.modules, 'it comes too late'\n"
        "real = process.use_packs\n"
        "def watched():\n"
        "    found = real()\n"
        f"    open({str(seen)!r}, 'w').write(sys.path[0])\n"
        "    os._exit(0)\n"
        "process.use_packs = watched\n"
        "import pickle, io\n"
        "process.pickle = type('P', (), {'load': staticmethod(lambda _: None)})\n"
        f"arguments = {CHILDREN[module]!r}\n"
        "if hasattr(process, 'run_engine'): process.run_engine(os.getppid())\n"
        "run = getattr(process, 'main', None)\n"
        "if run: run([*arguments, f'--parent={os.getppid()}'])\n"
        "else: process.run(['models'])\n"
    )
    # Its stdin stays open: the end of it would end the process.
    reading, writing = os.pipe()
    try:
        subprocess.run([sys.executable, "-I", "-c", code], stdin=reading, check=True, timeout=60)
    finally:
        os.close(reading)
        os.close(writing)
    assert seen.read_text() == str(root / "ort-1.0" / "site")


def test_verdicts_depend_on_the_packs_in_use(root: Path) -> None:
    before = installed_runtimes(map(Path, sys.path))
    put(root, "ort-1.0", module="onnxruntime_made")
    activate(root, "ort-1.0")
    use_packs()
    after = installed_runtimes(map(Path, sys.path))
    assert set(after) - set(before) == {"onnxruntime_made-1.0"}


def test_compiled_networks_depend_on_the_onnx_runtime_in_use(root: Path) -> None:
    code = (
        "from engine.packs import use_packs; use_packs()\n"
        "from backends.onnx_runtime.installed import installed\n"
        "print(installed())"
    )
    without = run_python(code)
    gpu = "onnxruntime_gpu"
    put(root, "ort-1.0", module="onnxruntime", distribution=gpu, replaces_onnxruntime=True)
    activate(root, "ort-1.0")
    assert without.startswith("onnxruntime 1.")
    assert run_python(code) == "onnxruntime-gpu 1.0"


def test_runtimes_on_windows_name_files_in_utf_8(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, str]] = []

    def tell(category: int, name: str) -> None:
        told.append((category, name))

    monkeypatch.setattr(locale, "setlocale", tell)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delenv(packs.FOLDER)
    assert use_packs() == PacksInUse()
    assert told == [(locale.LC_CTYPE, ".UTF8")]


def test_the_machine_of_packs_is_that_of_this_python_on_windows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A Python for x86-64 runs on ARM64, too, and uses packs for x86-64."""
    monkeypatch.setattr(platform, "machine", lambda: "ARM64")
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "win-amd64")
    monkeypatch.setattr(sys, "platform", "win32")
    assert packs.this_machine() == "x86_64"
