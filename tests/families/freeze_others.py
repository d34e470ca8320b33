"""Writes `frozen/others.jsonl`: what the networks of diffusers and spandrel are made of, in short.

`python -m tests.families.freeze_others`, where diffusers, spandrel and spandrel_extra_arches are
installed. Networks are built without weights, as their classes have them by default; of tensors
whose names differ in numbers and endings alone the first is kept.
"""
# pyright: basic, reportMissingImports=false
# The packages are absent from the environment that is type-checked.

import contextlib
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import diffusers.models
import spandrel.architectures
import spandrel_extra_arches.architectures
import torch
from diffusers.models.modeling_utils import ModelMixin

FROZEN = Path(__file__).parent / "frozen" / "others.jsonl"
_PARTS = 4
# Told by what is left out here, or by nothing: parts of sound models, plain stacks of layers.
_LEFT_OUT = {
    "diffusers.AnimaTextConditioner",
    "diffusers.AutoencoderSAME",
    "diffusers.ChromaTransformer2DModel",
    "diffusers.DiTTransformer2DModel",
    "diffusers.DreamLiteUNetModel",
    "diffusers.FluxTransformer2DModel",
    "diffusers.Kandinsky6SRLatentUpscalerBank",
    "diffusers.LongCatAudioDiTTransformer",
    "diffusers.MiniMaxMusic3ConditionEncoder",
    "diffusers.MiniMaxMusic3RVQDepthDecoder",
    "diffusers.MiniMaxMusic3Transformer1DModel",
    "diffusers.MiniMaxMusic3Vocoder",
    "diffusers.RFD4ProteinaTransformer",
    "diffusers.SD3Transformer2DModel",
    "diffusers.T5FilmDecoder",
    "diffusers.UNet1DModel",
    "diffusers.UNet2DConditionModel",
    "diffusers.UNetSpatioTemporalConditionModel",
    "diffusers.ZImageTransformer2DModel",
    "spandrel.Compact",
    "spandrel.DnCNN",
    "spandrel.MixDehazeNet",
}
_ARGUMENTS = ({}, {"scale": 4}, {"upscale": 4}, {"num_in_ch": 3, "num_out_ch": 3})


def main() -> None:
    """Write the file, a class in each line."""
    with FROZEN.open("w") as file:
        for name, kind in sorted({**dict(_diffusers()), **dict(_spandrel())}.items()):
            shapes = {} if name in _LEFT_OUT else _shapes(kind)
            if shapes:
                file.write(
                    json.dumps({"of": name, "tensors": shapes}, separators=(",", ":")) + "\n"
                )


def _diffusers() -> Iterator[tuple[str, type]]:
    root = diffusers.models
    for _, name, _ in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        module = importlib.import_module(name)
        for title, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, ModelMixin) and kind.__module__ == name:
                yield f"diffusers.{title}", kind


def _spandrel() -> Iterator[tuple[str, type]]:
    for root in (spandrel.architectures, spandrel_extra_arches.architectures):
        for _, name, _ in pkgutil.iter_modules(root.__path__):
            if name.startswith("_"):
                continue
            module = importlib.import_module(f"{root.__name__}.{name}")
            for title, kind in inspect.getmembers(module, inspect.isclass):
                if issubclass(kind, torch.nn.Module):
                    yield f"spandrel.{title}", kind


def _shapes(kind: type) -> dict[str, list[int]]:
    """By name; empty where the class cannot be built without being told its sizes."""
    for device in ("meta", "cpu"):
        for arguments in _ARGUMENTS:
            with contextlib.suppress(Exception), torch.device(device):
                return _shortened(kind(**arguments).state_dict())
    return {}


def _shortened(state: dict[str, torch.Tensor]) -> dict[str, list[int]]:
    kept: dict[str, tuple[str, list[int]]] = {}
    for name, tensor in state.items():
        parts = re.sub(r"\d+", "0", name).removesuffix(".bias").removesuffix(".weight").split(".")
        kept.setdefault(".".join(parts[:_PARTS]), (name, list(tensor.shape)))
    return dict(kept.values())


if __name__ == "__main__":
    main()
