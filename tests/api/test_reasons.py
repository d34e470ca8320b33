"""Reasons that backends, trials and packs give in English are found again as sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api.reasons import known_kind, known_reason
from engine.api.sentences import Sentence
from engine.families.foreign_checkpoints import CHECKPOINTS, UNETS
from engine.families.foreign_parts import ADAPTERS, LORA, PARTS

ROOT = Path(__file__).parents[2]
# Files whose texts of several words are reasons for a person; what is not is named below.
FILES = (
    "app/packs/wheels.py",
    "app/packs/trial.py",
    "backends/amd_migraphx.py",
    "backends/apple_coreml.py",
    "backends/hardware/linux.py",
    "backends/hardware/macos.py",
    "backends/hardware/windows.py",
    "backends/intel_openvino/devices.py",
    "backends/nvidia_cuda/__init__.py",
    "backends/nvidia_tensorrt_rtx.py",
    "backends/onnx_runtime/installed.py",
    "backends/onnx_runtime/plugins.py",
    "backends/onnx_runtime/windows_ml.py",
    "backends/tensorrt/cards.py",
    "backends/tensorrt/driver.py",
    "backends/torch_device/devices.py",
    "backends/windows_directml.py",
    "engine/devices/choice.py",
    "engine/devices/trials.py",
    "engine/packs.py",
)
# Names, parts of other texts, and what only a log has.
_NO_REASON = re.compile(
    "|".join(
        (
            r"^\^|^\W*$|^x0$|unknown|gfx|^list\[|^Linux |^macOS |^install |It ended by itself$",
            r"Apple GPU|Apple graphics|basic display|docs\.openvino|datacentre|Arc\\",
            r"^compute capability|^without a driver|driver \S+( \S+ \S+)?$|^CUDA \S+, cuDNN",
            r"no object|no plug-in|no onnxruntime",
        )
    )
)


def reasons(path: Path) -> Iterator[str]:
    """The texts of several words in a file, with x0, x1 ... for values; no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped: set[int] = set()
    for node in ast.walk(tree):
        name = (
            getattr(node.func, "id", getattr(node.func, "attr", ""))
            if isinstance(node, ast.Call)
            else ""
        )
        if isinstance(node, ast.Expr) or name in {"sentence", "warning", "info", "debug"}:
            skipped |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(inner) for inner in ast.walk(node) if inner is not node}
    for node in ast.walk(tree):
        text = "" if id(node) in skipped else _text(node)
        if re.search(r"[a-z]{2,} .*[a-z]{2,}", text):
            yield text


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = enumerate(node.values)
    return "".join(str(p.value) if isinstance(p, ast.Constant) else f"x{n}" for n, p in parts)


@pytest.mark.parametrize("file", FILES)
def test_every_reason_of_a_file_is_known(file: str) -> None:
    unknown = {
        reason
        for reason in reasons(ROOT / file)
        if isinstance(known_reason(reason), str) and not _NO_REASON.search(reason)
    }
    assert unknown == set()


@pytest.mark.parametrize(
    "text",
    [
        "no AMD graphics card found",
        "It crashed (SIGSEGV): free(): invalid pointer",
        "onnxruntime 1.20 does not start: out of memory",
        "1.9x faster than CUDA here",
    ],
)
def test_a_known_reason_reads_the_same_in_english(text: str) -> None:
    known = known_reason(text)
    assert isinstance(known, Sentence)
    assert str(known) == text


def test_a_reason_within_a_reason_is_known_too() -> None:
    known = known_reason("The runtime pack webgpu is left out: its file a.so is missing.")
    assert isinstance(known, Sentence)
    values = dict(known.values)
    assert values["name"] == "webgpu"
    assert isinstance(values["reason"], Sentence)


def test_words_of_a_driver_stay_a_text() -> None:
    assert known_reason("CUDA error 700: an illegal memory access") == (
        "CUDA error 700: an illegal memory access"
    )


def test_a_text_of_any_length_stays_a_text() -> None:
    text = "it failed: " * 100_000
    assert known_reason(text) == text


def test_every_kind_of_file_that_is_no_model_is_known() -> None:
    kinds = (*LORA, *ADAPTERS, *PARTS, *UNETS, *CHECKPOINTS)
    unknown = {kind.title for kind in kinds if isinstance(known_kind(kind.title), str)}
    assert len(kinds) > 50
    assert unknown == set(), (
        "a new form of title has its sentence in _KINDS of engine/api/reasons.py"
    )
    # What fits no other sentence is a name: English words would be left in it.
    for kind in kinds:
        known = known_kind(kind.title)
        assert isinstance(known, Sentence)
        if known.template in ("a {name}", "an {name}"):
            assert " " not in str(dict(known.values)["name"]), kind.title


def test_a_kind_reads_the_same_in_english() -> None:
    for text in ("a Flux model", "a LoRA for SDXL", "an estimator of depth or normals (Lotus)"):
        known = known_kind(text)
        assert isinstance(known, Sentence)
        assert str(known) == text
