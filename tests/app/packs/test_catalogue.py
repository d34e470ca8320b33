"""The list of packs that ships: each is described, pinned by hash, and an extra of its name."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from app.packs.catalogue import Catalogue, Pack, Platform, catalogue_file
from backends.registry import BACKENDS
from engine.api.values import ErrorCode
from engine.errors import EngineError

ROOT = Path(__file__).parents[3]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
LINUX = Platform("linux", "x86_64", "3.13")
WINDOWS = Platform("windows", "x86_64", "3.13")
MAC = Platform("macos", "arm64", "3.13")
EVERY = [
    pytest.param(pack, id=f"{pack.id} on {platform.system}")
    for platform in (LINUX, WINDOWS, MAC)
    for pack in Catalogue.read(platform=platform).packs
    if not pack.unavailable
]
NAMES = {
    "intel-openvino", "nvidia-tensorrt-rtx", "nvidia-cuda", "amd-migraphx", "windows-directml",
    "windows-ml", "webgpu", "torch-cuda", "torch-mps", "torch-rocm", "torch-xpu", "nvidia-tensorrt",
}  # fmt: skip


def available(platform: Platform) -> set[str]:
    return {pack.id for pack in Catalogue.read(platform=platform).packs if not pack.unavailable}


def test_each_system_has_its_packs() -> None:
    everywhere = {"webgpu"}
    of_both = {"intel-openvino", "nvidia-tensorrt-rtx", "nvidia-cuda"} | everywhere
    assert available(LINUX) == of_both | {"amd-migraphx", "torch-cuda"}
    assert available(WINDOWS) == of_both | {"windows-ml", "windows-directml"}
    assert available(MAC) == everywhere | {"torch-mps"}


@pytest.mark.parametrize("pack", EVERY)
def test_a_pack_is_pinned_and_described(pack: Pack) -> None:
    assert pack.hosts == ("files.pythonhosted.org",)
    assert all(wheel.url.startswith("https://") for wheel in pack.wheels)
    assert pack.download_bytes > 1_000_000
    assert pack.disk_bytes > pack.download_bytes
    assert pack.summary.endswith(".")
    assert pack.needs.endswith(".")
    assert pack.licences
    assert all(licence.url.startswith("https://") for licence in pack.licences)
    assert set(pack.backends) <= {backend.name for backend in BACKENDS}
    assert bool(pack.gain) == bool(pack.gain_source)


@pytest.mark.parametrize("pack", EVERY)
def test_a_pack_has_the_newest_that_its_extra_allows(pack: Pack) -> None:
    wanted = [Requirement(line) for line in EXTRAS[pack.id]]
    found = {
        name: version for name, version, *_ in (_parsed(wheel.file_name) for wheel in pack.wheels)
    }
    named = [line for line in wanted if canonicalize_name(line.name) in found]
    assert named
    assert all(line.specifier.contains(found[canonicalize_name(line.name)]) for line in named)


def _parsed(file_name: str) -> tuple[str, str]:
    name, version, _, _ = parse_wheel_filename(file_name)
    return canonicalize_name(name), str(version)


@pytest.mark.parametrize("pack", EVERY)
def test_a_pack_brings_nothing_that_the_base_has(pack: Pack) -> None:
    base = {
        "numpy",
        "onnx",
        "onnxruntime",
        "protobuf",
        "pillow",
        "tokenizers",
        "msgspec",
    }
    assert base.isdisjoint(_parsed(wheel.file_name)[0] for wheel in pack.wheels)
    replacing = {w.file_name for w in pack.wheels if re.match(r"onnxruntime_(?!ep_)", w.file_name)}
    assert pack.replaces_onnxruntime == bool(replacing)


def test_packs_that_nobody_publishes_say_why() -> None:
    packs = {pack.id: pack for pack in Catalogue.read(platform=LINUX).packs}
    assert set(packs) == NAMES
    assert packs["torch-rocm"].unavailable.startswith(
        "PyTorch publishes it on download.pytorch.org"
    )
    assert packs["nvidia-tensorrt"].unavailable.startswith("NVIDIA publishes its libraries")
    assert packs["windows-ml"].unavailable == "It is made for Windows."
    assert packs["torch-mps"].unavailable == "It is made for macOS."


def test_another_python_or_processor_is_the_reason() -> None:
    older = Catalogue.read(platform=Platform("linux", "x86_64", "3.11"))
    pack = older.named("intel-openvino")
    assert pack.unavailable == "It is made for Python 3.13; this is Python 3.11."
    assert pack.is_for_another_python
    # It has no native modules of Python's.
    assert not older.named("webgpu").unavailable
    arm = Catalogue.read(platform=Platform("linux", "arm64", "3.13")).named("intel-openvino")
    assert arm.unavailable == "It is made for x86_64 processors; this one is arm64."
    assert not arm.is_for_another_python


def test_an_unknown_pack_is_answered_with_the_known_ones() -> None:
    with pytest.raises(EngineError, match="no runtime pack 'cuda'") as caught:
        Catalogue.read().named("cuda")
    assert "nvidia-cuda" in caught.value.hint


@pytest.mark.parametrize("content", ["", "packs = 3", "[packs.x]\ntitle = 'X'", "\0"])
def test_a_damaged_list_is_said(content: str, tmp_path: Path) -> None:
    path = tmp_path / "packs.toml"
    path.write_text(content)
    with pytest.raises(EngineError) as caught:
        Catalogue.read(path)
    assert caught.value.code is ErrorCode.NOT_AVAILABLE


def test_the_list_lies_beside_the_code() -> None:
    assert catalogue_file() == ROOT / "installers" / "packs.toml"
