"""Freezes the keys that OneTrainer, AI-toolkit and SimpleTuner write, and the layer each means.

Run with torch, diffusers, transformers and the pure-Python package parse on the path, and with the
three programs' code (github.com/Nerogar/OneTrainer at 23df3832, ostris/ai-toolkit at 27a03a91,
bghira/SimpleTuner at bc8e6ab77) unpacked in the folders named as arguments:

    python -m tests.lora.freeze_trainers ONETRAINER AI_TOOLKIT SIMPLETUNER

The networks have the published sizes, on torch's `meta` device. The programs' own classes make the
modules, and their own savers name the tensors; the layer's meaning is the module that the program
wrapped, which a number in each tensor carries through the saver.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# pyright: reportPrivateUsage=false

import importlib
import importlib.util
import json
import lzma
import math
import sys
import types
from collections.abc import Callable, Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch

from tests.lora.cases import CASES, Case
from tests.lora.freeze_layouts import (
    CONVOLUTIONS,
    LINEAR,
    RANK,
    TEXT,
    UNETS,
    Keys,
    Layers,
    _clip,
    encoder_name,
    peft,
    texts,
    unet,
)

FROZEN = Path(__file__).parent / "frozen" / "trainers.json.xz"
ROTATED = FROZEN.with_name("onetrainer.npz")

States = dict[str, Any]
Layout = tuple[str, Keys, Layers]

# Packages that the programs import and that make no keys.
_ABSENT = frozenset(
    {
        "accelerate", "av", "bitsandbytes", "cv2", "gguf", "mgds", "omegaconf", "optimum", "PIL",
        "platformdirs", "torchao", "torchaudio", "torchvision",
    }
)  # fmt: skip
# The ends of keys, after the layer.
_ENDINGS = (
    ".alpha", ".dora_scale", ".magnitude", ".diff", ".diff_b",
    ".lora_magnitude_vector.weight", ".lora_magnitude_vector",
    *(f".lora_{side}.weight" for side in ("down", "up", "mid", "A", "B")),
    ".oft_R.weight", ".oft_R.scaled_oft",
)  # fmt: skip


class _Stands(MetaPathFinder, Loader):
    """Gives a mock for each package that is absent."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        absent = fullname.partition(".")[0] in _ABSENT
        return ModuleSpec(fullname, self, is_package=True) if absent else None

    def create_module(self, spec: ModuleSpec) -> Any:
        # Classes that are asked for with `isinstance`.
        kinds = {name: type(name, (), {}) for name in ("QTensor", "QBytesTensor")}
        mock = MagicMock(AffineQuantizedTensor=type("AffineQuantizedTensor", (), {}), **kinds)
        mock.__path__, mock.__spec__ = [], spec
        return mock

    def exec_module(self, module: Any) -> None:
        pass


def layer_of(key: str) -> str:
    """The layer of a key, as it is spelled."""
    ending = next((ending for ending in _ENDINGS if key.endswith(ending)), None)
    return key.removesuffix(ending) if ending else key.rpartition(".")[0]


def layout(states: States, save: Callable[[States], States]) -> tuple[Keys, Layers]:
    """The keys that a saver writes, with their shapes, and the layer that each of them means.

    `states` are by the module's own name, as in "unet.conv_in.lora_down.weight".
    """
    layers = {layer: number for number, layer in enumerate(dict.fromkeys(map(layer_of, states)))}
    marked = {
        # Alpha takes part in a product.
        key: torch.tensor(float(RANK if key.endswith(".alpha") else layers[layer_of(key)])).expand(
            tensor.shape
        )
        for key, tensor in states.items()
    }
    saved = save(marked)
    names = list(layers)
    meanings = {
        layer_of(key): names[int(tensor.flatten()[0].item())]
        for key, tensor in saved.items()
        if not key.endswith(".alpha")
    }
    return {key: list(tensor.shape) for key, tensor in saved.items()}, meanings


def named(states: States) -> States:
    """The states of text encoders as files name them: transformers 5 has no `text_model.`."""
    found: States = {}
    for key, tensor in states.items():
        component, _, name = key.partition(".")
        found[key if component == "unet" else f"{component}.{_clip(name)}"] = tensor
    return found


# --- OneTrainer ---

_TYPES = {
    "sd1": "STABLE_DIFFUSION_15",
    "sd2": "STABLE_DIFFUSION_21",
    "sdxl": "STABLE_DIFFUSION_XL_10_BASE",
}
# Settings of OneTrainer's configuration, by type.
_ONETRAINER: dict[str, dict[str, Any]] = {
    "dora": {"lora_decompose": True},
    "dora outputs": {"lora_decompose": True, "lora_decompose_output_axis": True},
    "loha": {"peft_type": "LOHA"},
    "lokr": {"peft_type": "LOKR", "lokr_dim": RANK, "lokr_use_tucker": True},
    "lokr dora": {"peft_type": "LOKR", "lokr_full_matrix": True, "lokr_weight_decompose": True},
    "oft": {"peft_type": "OFT_2"},
    "oft scaled": {"peft_type": "OFT_2", "oft_scaled": True},
}


def onetrainer_layouts(family: str) -> Iterator[Layout]:
    saver, model = _onetrainer(family)
    plain = onetrainer_states(family, {})
    forms = {
        "legacy": lambda states: saver._convert_legacy(model, states),
        "kohya": lambda states: saver._convert_kohya(model, states),
        "diffusers": sys.modules["modules.util.convert_lora_util"].convert_to_diffusers,
        "internal": lambda states: states,
        "comfy": lambda states: _written(saver, model, "_save_comfy", states),
    }
    for name, save in forms.items():
        if (family, name) != ("sd2", "kohya") and (family, name) != ("sd1", "kohya"):
            yield f"OneTrainer {name}", *layout(plain, save)
    alone = {key: tensor for key, tensor in plain.items() if key.startswith("unet.")}
    yield (
        "OneTrainer original",
        *layout(alone, lambda states: _written(saver, model, "_save_original", states)),
    )
    if family != "sd1":
        return
    for name, options in _ONETRAINER.items():
        yield f"OneTrainer {name}", *layout(onetrainer_states(family, options), forms["legacy"])
    outputs = onetrainer_states(family, _ONETRAINER["dora outputs"])
    yield "OneTrainer dora diffusers", *layout(outputs, forms["diffusers"])
    inputs = onetrainer_states(family, _ONETRAINER["dora"])
    yield "OneTrainer dora comfy", *layout(inputs, forms["comfy"])


def _onetrainer(family: str) -> tuple[Any, Any]:
    name = "StableDiffusionXL" if family == "sdxl" else "StableDiffusion"
    folder = name[:1].lower() + name[1:]
    saver = importlib.import_module(f"modules.modelSaver.{folder}.{name}LoRASaver")
    model = importlib.import_module(f"modules.model.{name}Model")
    types_ = importlib.import_module("modules.util.enum.ModelType").ModelType
    return (
        getattr(saver, f"{name}LoRASaver")(),
        getattr(model, f"{name}Model")(types_[_TYPES[family]]),
    )


def onetrainer_states(family: str, options: dict[str, Any]) -> States:
    """The states of OneTrainer's modules on all layers."""
    modules = importlib.import_module("modules.module.LoRAModule")
    config = importlib.import_module("modules.util.config.TrainConfig").TrainConfig
    chosen = config.default_values()
    chosen.lora_rank = RANK
    chosen.train_device = "meta"
    for name, given in options.items():
        kinds: Any = type(getattr(chosen, name))
        setattr(chosen, name, kinds[given] if name == "peft_type" else given)
    parts = {"unet": unet(family)} | {
        encoder_name(place): text for place, text in enumerate(texts(family))
    }
    states: States = {}
    for component, root in parts.items():
        states |= modules.LoRAModuleWrapper(root, component, chosen).state_dict()
    return named(states)


def onetrainer_weights() -> dict[str, Any]:
    """The weights of small layers, rotated by OneTrainer's module of OFT, by case."""
    kind = importlib.import_module("modules.module.LoRAModule").OFTModule
    return {
        case.name: _rotated(kind, case) for case in CASES if case.name.startswith("oft of inputs")
    }


def _rotated(kind: Any, case: Case) -> Any:
    packed = torch.from_numpy(case.tensors["oft_R.weight"])
    size = (1 + math.isqrt(1 + 8 * packed.shape[1])) // 2
    shape = case.shape
    layer = (
        torch.nn.Linear(shape[1], shape[0], bias=False)
        if len(shape) == 2
        else torch.nn.Conv2d(shape[1], shape[0], shape[2:], bias=False)
    )
    layer.weight.data = torch.from_numpy(case.base)
    blocks = math.prod(shape[1:]) // size
    module = kind("x", layer, size, len(packed) != blocks, "oft_R.scaled_oft" in case.tensors)
    module.oft_R.weight.data = packed
    module.hook_to_module()
    with torch.no_grad():
        if len(shape) == 2:
            return layer(torch.eye(shape[1])).T.numpy()
        module.op = lambda _, weight, *args, **kwargs: weight
        return layer(torch.zeros(1)).numpy()


def _written(saver: Any, model: Any, method: str, states: States) -> States:
    """The states that a method of OneTrainer's saver would write."""
    found: States = {}
    saver._get_state_dict = lambda _: dict(states)
    saver._write_lora_file = lambda model, destination, states: found.update(states)
    getattr(saver, method)(model, "", None)
    return found


# --- AI-toolkit ---

# The types of network that it has for UNets, with arguments of its class; its DoRA is for linear
# layers alone, and SD 1 projects by convolutions.
_TOOLKIT: dict[str, dict[str, Any]] = {
    "lora": {},
    "lokr": {"network_type": "lokr"},
    "dora": {"network_type": "dora", "conv_lora_dim": None},
    "peft": {"peft_format": True},
}


def toolkit_layouts(family: str) -> Iterator[Layout]:
    special = importlib.import_module("toolkit.lora_special")
    # The products are made only to look for NaN in them.
    sys.modules["toolkit.models.lokr"].make_kron = lambda *_: torch.zeros((), device="cpu")
    for name in _TOOLKIT:
        if name == "dora" and family == "sd1":
            continue
        options = {"conv_lora_dim": RANK, "conv_alpha": 1.0} | _TOOLKIT[name]
        root, encoders = unet(family), texts(family)
        with torch.device("meta"):
            kind = options.get("network_type", "lora")
            network = special.LoRASpecialNetwork(
                encoders if len(encoders) > 1 else encoders[0],
                root,
                lora_dim=RANK,
                alpha=1.0,
                is_sdxl=family == "sdxl",
                is_v2=family == "sd2",
                network_config=_toolkit_config(kind),
                target_lin_modules=list(special.LoRANetwork.UNET_TARGET_REPLACE_MODULE),
                **{"network_type": "lora", **options},
            )
        modules = {id(module): name for name, module in root.named_modules()}
        meaning = {id_: f"unet.{name}" for id_, name in modules.items()}
        for place, encoder in enumerate(encoders):
            component = encoder_name(place)
            for inner, module in encoder.named_modules():
                meaning[id(module)] = f"{component}.{_clip(inner)}"
        loras = [*network.text_encoder_loras, *network.unet_loras]
        # The saver copies tensors, which the device without numbers does not allow.
        states = {
            f"{lora.lora_name}.{key}": torch.zeros(tensor.shape)
            for lora in loras
            for key, tensor in lora.state_dict().items()
        }
        network.state_dict = lambda states=states: dict(states)
        saved = _text_names(network.get_state_dict())
        layers = {
            _text_name(lora.lora_name.replace("$$", ".")): meaning[id(lora.org_module[0])]
            for lora in loras
        }
        yield (
            f"AI-toolkit {name}",
            {key: list(tensor.shape) for key, tensor in saved.items()},
            layers,
        )


def _toolkit_config(kind: str) -> Any:
    return importlib.import_module("toolkit.config_modules").NetworkConfig(type=kind, linear=RANK)


def _text_names(states: States) -> States:
    return {_text_name(key): tensor for key, tensor in states.items()}


def _text_name(key: str) -> str:
    """A key as with transformers 4, whose text encoders have `text_model`."""
    for mark in ("_", "."):
        for prefix in ("lora_te", "lora_te1", "lora_te2"):
            key = key.replace(
                f"{prefix}{mark}encoder{mark}", f"{prefix}{mark}text_model{mark}encoder{mark}"
            )
    return key


# --- SimpleTuner ---


def simpletuner_layouts(family: str, path: Path) -> Iterator[Layout]:
    """The form for ComfyUI; its others are diffusers' own, and LyCORIS's wrapper."""
    spec = importlib.util.spec_from_file_location("simpletuner_lora_format", path)
    assert spec is not None
    assert spec.loader is not None
    forms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(forms)

    def save(states: States) -> States:
        return forms.convert_diffusers_to_comfyui_sd_lora(
            states, adapter_metadata={"lora_alpha": 1}, sdxl=family == "sdxl"
        )

    parts = {"unet": peft(unet(family), LINEAR + CONVOLUTIONS)}
    for place, text in enumerate(texts(family)):
        parts[encoder_name(place)] = peft(text, TEXT)
    states = {
        f"{component}.{key.removeprefix('base_model.model.')}": tensor
        for component, found in parts.items()
        for key, tensor in found.items()
    }
    yield "SimpleTuner comfyui", *layout(named(states), save)


def main(onetrainer: str, toolkit: str, simpletuner: str) -> None:
    sys.meta_path.append(_Stands())
    sys.path[:0] = [onetrainer, toolkit]
    gguf = MagicMock(GGUFLinear=type("GGUFLinear", (), {}))
    sys.modules["diffusers.quantizers.gguf.utils"] = gguf
    # What AI-toolkit's network imports beside its modules.
    for name in ("saving", "metadata", "audio.album_artwork", "prompt_utils", "guidance"):
        sys.modules[f"toolkit.{name}"] = MagicMock()
    sys.modules["toolkit.logging_aitk"] = MagicMock()
    quantize = types.ModuleType("toolkit.util.quantize")
    vars(quantize).update(is_quantized_tensor=lambda _: False)
    sys.modules["toolkit.util.quantize"] = quantize
    path = Path(simpletuner) / "simpletuner/helpers/training/lora_format.py"
    layouts: dict[str, dict[str, Any]] = {}
    for family in UNETS:
        made = (
            *onetrainer_layouts(family),
            *toolkit_layouts(family),
            *simpletuner_layouts(family, path),
        )
        for name, keys, layers in made:
            print(family, name, len(keys), len(layers))  # noqa: T201
            layouts[f"{family}: {name}"] = {"keys": keys, "layers": layers}
    text = json.dumps(layouts, separators=(",", ":"))
    np.savez_compressed(ROTATED, **onetrainer_weights())
    FROZEN.write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main(*sys.argv[1:4])
