"""The sections. A section is a function from a `Setting` to `Findings`."""

from collections.abc import Callable, Mapping

from benchmarks.report import Findings
from benchmarks.sections.ablation import ablation
from benchmarks.sections.activations import activations
from benchmarks.sections.artifacts import artifacts
from benchmarks.sections.blob import blob
from benchmarks.sections.compilers import compilers
from benchmarks.sections.components import components
from benchmarks.sections.control import control
from benchmarks.sections.gallery import gallery
from benchmarks.sections.identify import identify_files
from benchmarks.sections.installed import installed
from benchmarks.sections.lora import lora, lora_sdxl
from benchmarks.sections.memory import memory
from benchmarks.sections.models import models
from benchmarks.sections.parity import parity
from benchmarks.sections.picture import picture
from benchmarks.sections.quantized import quantized
from benchmarks.sections.quantized_files import quantized_files
from benchmarks.sections.quantized_layers import quantized_layers
from benchmarks.sections.reference import reference
from benchmarks.sections.sdxl import sdxl
from benchmarks.sections.setting import Setting
from benchmarks.sections.shapes import shapes
from benchmarks.sections.start import start
from benchmarks.sections.starter import starter
from benchmarks.sections.step import step
from benchmarks.sections.tensorrt import tensorrt
from benchmarks.sections.tiles import tiles
from benchmarks.sections.upscale import upscale
from benchmarks.sections.webgpu import webgpu
from benchmarks.sections.weights import weights
from benchmarks.sections.whole_models import flux, zimage
from benchmarks.sections.window import window

SECTIONS: Mapping[str, Callable[[Setting], Findings]] = {
    "step": step,
    "control": control,
    "picture": picture,
    "start": start,
    "memory": memory,
    "activations": activations,
    "lora": lora,
    "lora_sdxl": lora_sdxl,
    "starter": starter,
    "window": window,
    "models": models,
    "gallery": gallery,
    "parity": parity,
    "components": components,
    "ablation": ablation,
    "identify": identify_files,
    "installed": installed,
    "tensorrt": tensorrt,
    "artifacts": artifacts,
    "blob": blob,
    "compilers": compilers,
    "shapes": shapes,
    "sdxl": sdxl,
    "flux": flux,
    "zimage": zimage,
    "webgpu": webgpu,
    "tiles": tiles,
    "upscale": upscale,
    "weights": weights,
    "quantized": quantized,
    "quantized_files": quantized_files,
    "quantized_layers": quantized_layers,
    "reference": reference,
}

# Measured only on request: they answer a single question, or take long.
ASKED_FOR = (
    "activations",
    "blob",
    "gallery",
    "installed",
    "lora",
    "lora_sdxl",
    "shapes",
    "compilers",
    "tensorrt",
    "sdxl",
    "flux",
    "zimage",
    "webgpu",
    "tiles",
    "upscale",
    "weights",
    "quantized",
    "quantized_files",
    "quantized_layers",
    "reference",
)
