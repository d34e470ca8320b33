"""Freezes the weights that A1111, ComfyUI and InvokeAI make of the cases, by their own functions.

    python -m tests.lora.freeze_tools A1111 COMFY INVOKE

in the oracle environment, with einops. A1111 is the folder of AUTOMATIC1111/stable-diffusion-webui
1.10's modules `network*.py`, here the copy in lllyasviel/stable-diffusion-webui-forge, commit
dfdcbab685e57677014f05a3309b48cc87383167, `packages_3rdparty/webui_lora_collection`. COMFY is the
folder `comfy/weight_adapter` of hiddenswitch/pip-and-uv-installable-ComfyUI, commit
87606c5f028b7e8d474ea78279c75a788c04267c, whose functions are those of comfyanonymous/ComfyUI.
INVOKE is a checkout of invoke-ai/InvokeAI, commit 8e71a8a519. Only what computes weights is
imported; what it imports beside is replaced.

frozen/tools.npz holds by tool, case and strength the changed weight.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import importlib
import sys
import types
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from tests.lora.cases import A1111, CASES, COMFY, INVOKE, STRENGTHS, Case
from tests.lora.torch_layers import layer_of, tensors_of

FROZEN = Path(__file__).parent / "frozen" / "tools.npz"
_MODULES = "lora", "hada", "ia3", "oft", "lokr", "full", "norm", "glora"


def main(a1111: Path, comfy: Path, invoke: Path) -> None:
    """Write the file."""
    makers = {A1111: _a1111(a1111), COMFY: _comfy(comfy), INVOKE: _invoke(invoke)}
    arrays = {
        f"{tool}/{case.name}/{strength}": makers[tool](case, strength)
        for case in CASES
        for tool in case.tools
        for strength in STRENGTHS
    }
    for name, array in arrays.items():
        # ComfyUI logs errors, and leaves the weight unchanged.
        base = next(case.base for case in CASES if case.name == name.split("/")[1])
        assert np.isfinite(array).all(), name
        assert not np.array_equal(array, base), name
    np.savez_compressed(FROZEN, **arrays)


def _a1111(folder: Path) -> Any:
    sys.path.insert(0, str(folder))
    devices = types.SimpleNamespace(cpu=torch.device("cpu"), dtype=torch.float32)
    sys.modules["modules"] = MagicMock(devices=devices)
    for name in ("modules.models", "modules.models.sd3"):
        sys.modules[name] = MagicMock()
    sys.modules["modules.models.sd3.mmdit"] = MagicMock(QkvLinear=type(None))
    sys.modules["modules"].models.sd3.mmdit.QkvLinear = type(None)
    network = importlib.import_module("network")
    imported = [importlib.import_module(f"network_{name}") for name in _MODULES]
    types_ = [
        getattr(
            imported_module, next(n for n in dir(imported_module) if n.startswith("ModuleType"))
        )
        for imported_module in imported
    ]

    def make(case: Case, strength: float) -> Any:
        net = network.Network("name", None)
        net.unet_multiplier = strength
        layer = layer_of(case)
        weights = network.NetworkWeights("key", "diffusion_model_key", tensors_of(case), layer)
        modules = (type_().create_module(net, weights) for type_ in types_)
        module = next(module for module in modules if module is not None)
        updown, _ = module.calc_updown(layer.weight)
        return (layer.weight + updown).numpy()

    return make


def _comfy(folder: Path) -> Any:
    for name in ("comfy_frozen", "comfy_frozen.weight_adapter"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder if name.endswith("adapter") else folder.parent)]
        sys.modules[name] = package
    management = types.ModuleType("comfy_frozen.model_management")
    cast = {"cast_to_device": lambda tensor, device, dtype: tensor.to(device, dtype)}
    vars(management).update(cast)
    sys.modules["comfy_frozen.model_management"] = management
    names = {"lora": "LoRA", "loha": "LoHa", "lokr": "LoKr", "glora": "GLoRA"}
    names |= {"oft": "OFT", "boft": "BOFT"}
    adapters = [
        getattr(importlib.import_module(f"comfy_frozen.weight_adapter.{stem}"), f"{name}Adapter")
        for stem, name in names.items()
    ]

    def make(case: Case, strength: float) -> Any:
        tensors = {f"x.{part}": tensor for part, tensor in tensors_of(case).items()}
        alpha, dora = tensors.get("x.alpha"), tensors.get("x.dora_scale")
        number = None if alpha is None else alpha.item()
        loaded = (kind.load("x", tensors, number, dora, set()) for kind in adapters)
        adapter = next(adapter for adapter in loaded if adapter is not None)
        weight = torch.from_numpy(case.base)
        args = weight, "x", strength, 1.0, None, lambda a: a
        return adapter.calculate_weight(*args, torch.float32, None).numpy()

    return make


def _invoke(checkout: Path) -> Any:
    for name in ("invokeai", "invokeai.backend", "invokeai.backend.patches"):
        package = types.ModuleType(name)
        package.__path__ = [str(checkout / name.replace(".", "/"))]
        sys.modules[name] = package
    cast = "invokeai.backend.model_manager.load.model_cache.torch_module_autocast.cast_to_device"
    for name in (cast, "invokeai.backend.util.logging", "invokeai.backend.util.calc_tensor_size"):
        sys.modules[name] = MagicMock(cast_to_device=lambda tensor, device: tensor)
    sys.modules["invokeai.backend.util"] = MagicMock()
    make_layer = importlib.import_module("invokeai.backend.patches.layers.utils")

    def make(case: Case, strength: float) -> Any:
        layer = layer_of(case)
        patch = make_layer.any_lora_layer_from_state_dict(tensors_of(case))
        with torch.no_grad():
            found = patch.get_parameters(dict(layer.named_parameters()), weight=strength)
            return (layer.weight + found["weight"]).numpy()

    return make


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
