"""Freezes what ComfyUI's control networks add in its sampling loop, by running it.

    python -m tests.pipeline.freeze_comfy_controls CHECKOUT

in the oracle environment, where CHECKOUT is comfyanonymous/ComfyUI, commit
a125cd84b054a57729b5eecab930ca9408719832. `nodes.ControlNetApplyAdvanced`, `comfy.controlnet`,
`comfy.sample` and `comfy.model_base` are the tool's; its UNet and the control networks are replaced
by ones that answer with a tenth of what they see, and with ones.

comfy_controls.npz holds by name of `control_loops.COMFY` float32 [evaluations, rows, residuals], as
a1111_controls.npz does; and under "levels/model" the noise levels of `control_loops.SHARES` of the
timesteps, for several kinds of models.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import ast
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from tests.pipeline.control_loops import COMFY, SHARES, Led, Loop

FROZEN = Path(__file__).parent / "frozen" / "comfy_controls.npz"
SIDE = 8


class UNet(torch.nn.Module):
    """Sees little, and keeps what it is told to add."""

    def __init__(self, **_: Any) -> None:
        super().__init__()
        self.dtype = torch.float32
        self.seen: list[Any] = []

    def forward(self, x: Any, t: Any, control: Any = None, **given: Any) -> Any:
        rows = given["transformer_options"]["cond_or_uncond"]
        added = [[0.0]] * len(rows)
        if control is not None:
            parts = [part for key in ("input", "output", "middle") for part in control[key]]
            added = [[float(part[place].mean()) for part in parts] for place in range(len(rows))]
        self.seen.append(dict(zip(rows, added, strict=True)))
        return 0.1 * x


class Answers(torch.nn.Module):
    """A control network, or an adapter, whose residuals are ones."""

    dtype = torch.float32
    unshuffle_amount = 8

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, *_: Any, **given: Any) -> Any:
        def ones(count: int) -> Any:
            return [torch.ones(2, 1, 2, 2) for _ in range(count)]

        if "hint" not in given:
            return {"input": ones(self.count)}
        return {"middle": ones(1), "output": ones(self.count - 1)}


def main(checkout: Path) -> None:
    """Write the file."""
    prepare(checkout)
    arrays = {name: run(loop, checkout) for name, loop in COMFY.items()}
    for name, sampling in samplings().items():
        levels = [sampling.percent_to_sigma(share) for share in SHARES]
        arrays[f"levels/{name}"] = np.array([float(level) for level in levels], np.float32)
    np.savez_compressed(FROZEN, **arrays)


def samplings() -> dict[str, Any]:
    """Samplings of models, by the names of `test_control_loops`."""
    sampling = importlib.import_module("comfy.model_sampling")
    edm, flow = sampling.ModelSamplingContinuousEDM(), sampling.ModelSamplingDiscreteFlow()
    edm.set_parameters(0.002, 80.0, 0.5)
    flow.set_parameters(3.0)
    return {
        "epsilon": sampling.ModelSamplingDiscrete(),
        "zero terminal": sampling.ModelSamplingDiscrete(zsnr=True),
        "edm": edm,
        "flow": flow,
    }


def run(loop: Loop, checkout: Path) -> Any:
    """Return the numbers that are added in each evaluation of a run."""
    base = importlib.import_module("comfy.model_base")
    patcher = importlib.import_module("comfy.model_patcher")
    config = importlib.import_module("comfy.supported_models_base").BASE({"in_channels": 4})
    model = base.BaseModel(config, unet_model=UNet)
    positive, negative = ([[torch.zeros(1, 77, 8), {}]] for _ in range(2))
    node = class_of(checkout / "nodes.py", "ControlNetApplyAdvanced")()
    for led in loop.layers:
        image = torch.zeros(1, 8 * SIDE, 8 * SIDE, 3)
        given = network(led, loop), image, led.weight, *led.range
        positive, negative = node.apply_controlnet(positive, negative, *given)
    device = torch.device("cpu")
    noise = torch.randn(1, 4, SIDE, SIDE, generator=torch.Generator().manual_seed(3))
    importlib.import_module("comfy.sample").sample(
        patcher.ModelPatcher(model, device, device),
        noise,
        loop.steps,
        7.0,
        loop.sampler.value,
        loop.schedule.value,
        positive,
        negative,
        torch.zeros_like(noise),
        denoise=loop.strength,
        seed=3,
        disable_pbar=True,
    )
    return evaluations(model.diffusion_model.seen)


def evaluations(seen: list[dict[int, list[float]]]) -> Any:
    """[evaluations, rows, residuals] of what the UNet was told, in one batch or two."""
    width = max(len(added) for call in seen for added in call.values())
    found: list[Any] = []
    rows: dict[int, list[float]] = {}
    for call in seen:
        rows |= call
        if len(rows) == 2:
            found.append([np.broadcast_to(rows[place], width) for place in (0, 1)])
            rows = {}
    return np.array(found, np.float32)


def network(led: Led, loop: Loop) -> Any:
    """A control network, as the tool's loaders make it."""
    control = importlib.import_module("comfy.controlnet")
    if led.adapts:
        return control.T2IAdapter(Answers(4), 3, 8, "nearest-exact")
    count = 10 if loop.sdxl else 13
    given = {"load_device": torch.device("cpu"), "global_average_pooling": led.means}
    return control.ControlNet(Answers(count), **given)


def class_of(path: Path, name: str) -> Any:
    """A class of a file that imports too much to be imported."""
    tree = ast.parse(path.read_text())
    body: list[ast.stmt] = [
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name
    ]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(body, []), str(path), "exec"), names)
    return names[name]


def prepare(checkout: Path) -> None:
    """Make the tool's modules importable without what is left out."""
    sys.argv = ["comfy", "--cpu"]
    sys.path.insert(0, str(checkout))
    for name in ("torchaudio", "av", "kornia", "aiohttp", "torchvision", "comfy.model_detection"):
        sys.modules[name] = MagicMock()
    node = SimpleNamespace(ComfyNode=object, NodeOutput=lambda *given: given)
    sys.modules["comfy_api"] = MagicMock()
    sys.modules["comfy_api.latest"] = MagicMock(io=node, ComfyExtension=object)
    importlib.import_module("comfy.options").enable_args_parsing()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
