"""Writes proofs.json: where in which published wheel each word of `emitted` stands.

`python -m tests.backends.options.freeze [FOLDER]` downloads the wheels (half a gigabyte), keeps
them in FOLDER where one is given, and fails where a word is in none and in no documentation.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.backends.options.emitted import speakers
from tests.backends.options.wheels import digest, download, found_in

PROOFS = Path(__file__).with_name("proofs.json")
_LINUX = ("manylinux_2_28_x86_64",)
_WINDOWS = ("win_amd64",)


@dataclass(frozen=True, slots=True)
class Source:
    """A wheel, and whose words are looked for in it."""

    requirement: str
    platforms: tuple[str, ...]
    speakers: tuple[str, ...]


SOURCES = (
    Source("onnxruntime==1.31.1", _LINUX, ("sessions",)),
    Source("onnxruntime==1.31.1", ("macosx_14_0_arm64",), ("apple_coreml", "placement")),
    Source("onnxruntime-directml==1.24.4", _WINDOWS, ("windows_directml", "placement")),
    Source(
        "onnxruntime-windowsml==1.30.0.202609102321", _WINDOWS, ("windows_directml", "placement")
    ),
    Source("windowsml==2.5.96", _WINDOWS, ("windows_ml",)),
    Source(
        "onnxruntime-migraphx==1.27.1", ("manylinux_2_34_x86_64",), ("amd_migraphx", "placement")
    ),
    Source("onnxruntime-gpu==1.31.1", _LINUX, ("nvidia_cuda", "placement")),
    Source("onnxruntime-ep-nv-tensorrt-rtx-cu13==0.5.0", _LINUX, ("nvidia_tensorrt_rtx",)),
    Source("onnxruntime-ep-webgpu==0.4.0", _LINUX, ("webgpu",)),
    Source("openvino==2026.4.1", _LINUX, ("intel_openvino",)),
)
_PLUGIN = "https://github.com/onnxruntime/onnxruntime-ep-amdgpu/blob/a2ea3b2"
# What no wheel can show: AMD's plug-in is on AMD's own index, and compilers write values as short
# as these into the code.
DOCUMENTED: Mapping[str, Mapping[str, str]] = {
    "amd_migraphx plug-in": {
        "MIGraphXExecutionProvider": f"{_PLUGIN}/src/migraphx/pyproject.toml",
        "cache_dir": f"{_PLUGIN}/src/migraphx/mgx_options.h",
    },
    "onnx_runtime environment": {
        "ORT_DISABLE_TELEMETRY": (
            "https://github.com/microsoft/onnxruntime/blob/v1.31.1/docs/Privacy.md"
        ),
    },
    # Of the driver, whose libraries are in no wheel.
    "nvidia_cuda environment": {
        "CUDA_DEVICE_ORDER": "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#env-vars",
    },
}


@dataclass(frozen=True, slots=True)
class Wheel:
    """The findings in one wheel: by speaker, by word, the file of the wheel."""

    requirement: str
    platforms: tuple[str, ...]
    sha256: str
    nbytes: int
    words: Mapping[str, Mapping[str, str]]


def prove(folder: Path) -> dict[str, Wheel]:
    """Every wheel with what was found in it. Exits with a message where a word is not."""
    said = speakers()
    wheels: dict[str, Wheel] = {}
    for source in SOURCES:
        path = download(source.requirement, source.platforms, folder)
        words: dict[str, Mapping[str, str]] = {}
        for speaker in source.speakers:
            wanted = said.get(speaker, set())
            words[speaker] = dict(sorted(found_in(path, wanted).items()))
            missing = wanted - words[speaker].keys() - DOCUMENTED.get(speaker, {}).keys()
            if missing:
                sys.exit(f"{path.name} has no {', '.join(sorted(missing))} of {speaker}")
        size = path.stat().st_size
        wheels[path.name] = Wheel(source.requirement, source.platforms, digest(path), size, words)
    return wheels


def main(folder: str | None = None) -> None:
    with TemporaryDirectory() as temporary:
        wheels = prove(Path(folder or temporary))
    content = {"wheels": {n: asdict(w) for n, w in wheels.items()}, "documented": DOCUMENTED}
    PROOFS.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
