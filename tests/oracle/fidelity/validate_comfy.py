"""ComfyUI's own levels, samplers, noise and prompts, without the rest of the tool."""
# pyright: basic, reportMissingImports=false

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import torch
from numpy.typing import NDArray

from tests.oracle.fidelity.networks import SHAPE, Networks, init_picture
from tests.oracle.fidelity.picture import Picture
from tests.oracle.fidelity.validate import enter

TOOL = "ComfyUI"
_REAL = frozenset(
    {
        "conds",
        "extra_samplers",
        "extra_samplers.uni_pc",
        "k_diffusion",
        "k_diffusion.deis",
        "k_diffusion.sa_solver",
        "k_diffusion.sampling",
        "k_diffusion.utils",
        "ldm",
        "ldm.modules",
        "ldm.modules.diffusionmodules",
        "ldm.modules.diffusionmodules.util",
        "model_sampling",
        "sample",
        "samplers",
        "sd1_clip",
    }
)


class _Tool:
    """The tool's modules."""

    def __init__(self, checkout: Path) -> None:
        enter(checkout, "comfy", _REAL)
        # Two names of it are imported, and not used here.
        sys.modules.setdefault("einops", MagicMock())
        patcher = importlib.import_module("comfy.model_patcher")
        patcher.set_model_options_post_cfg_function = _after_guidance  # type: ignore[attr-defined]
        utils = importlib.import_module("comfy.utils")
        utils.repeat_to_batch_size = lambda tensor, size: tensor  # type: ignore[attr-defined]
        memory = importlib.import_module("comfy.model_management")
        memory.intermediate_device = lambda: torch.device("cpu")  # type: ignore[attr-defined]
        self.samplers = importlib.import_module("comfy.samplers")
        self.sampling = importlib.import_module("comfy.model_sampling")
        self.sample = importlib.import_module("comfy.sample")
        self.clip = importlib.import_module("comfy.sd1_clip")
        self.conds = importlib.import_module("comfy.conds")
        source = (checkout / "comfy_extras" / "nodes_model_advanced.py").read_text()
        space: dict[str, Any] = {"torch": torch}
        begin, end = source.index("class RescaleCFG"), source.index("class ModelComputeDtype")
        exec(source[begin:end], space)
        self.rescale = space["RescaleCFG"]


def _after_guidance(options: dict[str, Any], function: Any, **_: Any) -> dict[str, Any]:
    return options | {"sampler_post_cfg_function": [function]}


def load(checkout: Path) -> Any:
    """A function that renders a picture with the tool's code."""
    tool = _Tool(checkout)

    def render(networks: Networks, picture: Picture) -> NDArray[np.uint8]:
        with torch.no_grad():
            return networks.pixels(_sampled(tool, networks, picture), rounds=False)

    return render


class _Model:
    """The checkpoint as the tool's samplers know it: `BaseModel`, its patcher and the guider."""

    load_device = torch.device("cpu")

    def __init__(self, tool: _Tool, networks: Networks, picture: Picture) -> None:
        kind = "EPS" if picture.prediction == "epsilon" else "V_PREDICTION"
        bases = (tool.sampling.ModelSamplingDiscrete, getattr(tool.sampling, kind))
        self.model_sampling = type("ModelSampling", bases, {})(zsnr=picture.zero_terminal_snr)
        self.tool, self.networks, self.picture = tool, networks, picture
        self.model_options: dict[str, Any] = {}
        self.inner_model = self.model_patcher = self
        self.positive = _encoded(tool, networks, picture.prompt, picture.clip_skip)
        self.negative = _encoded(tool, networks, picture.negative, picture.clip_skip)
        if picture.rescale:
            tool.rescale().patch(self, picture.rescale)

    def get_model_object(self, name: str) -> Any:
        assert name == "model_sampling"
        return self.model_sampling

    def clone(self) -> Any:
        return self

    def set_model_sampler_cfg_function(self, function: Any) -> None:
        self.model_options["sampler_cfg_function"] = function

    def __call__(self, x: Any, sigma: Any, model_options: dict[str, Any], seed: int) -> Any:
        made = [self.tool.conds.CONDCrossAttn(text) for text in (self.positive, self.negative)]
        context = made[0].concat([made[1]])
        given = self.model_sampling.calculate_input(sigma, x)
        timestep = self.model_sampling.timestep(sigma).float().repeat(2)
        texts = context.repeat_interleave(len(x), 0)
        out = self.networks.predict(given.repeat(2, 1, 1, 1), timestep, texts)
        wide, level = x.repeat(2, 1, 1, 1), sigma.repeat(2)
        cond, uncond = self.model_sampling.calculate_denoised(level, out, wide).chunk(2)
        options = self.model_options | model_options
        return self.tool.samplers.cfg_function(
            self, cond, uncond, self.picture.guidance, x, sigma, options
        )


def _encoded(tool: _Tool, networks: Networks, text: str, clip_skip: int) -> Any:
    tokenizer = tool.clip.SDTokenizer(str(networks.folder / "tokenizer"))

    class Encoder(tool.clip.ClipTokenWeightEncoder):
        def encode(self, tokens: list[list[int]]) -> Any:
            return networks.encode(tokens, clip_skip), None

    encoder = Encoder()
    encoder.special_tokens = {
        "start": tokenizer.start_token,
        "end": tokenizer.end_token,
        "pad": tokenizer.pad_token,
    }
    return encoder.encode_token_weights(tokenizer.tokenize_with_weights(text))[0]


def _sampled(tool: _Tool, networks: Networks, picture: Picture) -> Any:
    model = _Model(tool, networks, picture)
    chooser = tool.samplers.KSampler(
        model,
        steps=picture.steps,
        device=model.load_device,
        sampler=picture.sampler,
        scheduler=picture.schedule,
        denoise=picture.strength,
    )
    empty = torch.zeros((picture.batch_index + 1, *SHAPE))
    noise = tool.sample.prepare_noise(empty, picture.seed)
    init = empty if picture.strength is None else networks.latent(init_picture())
    sampler = tool.samplers.sampler_object(picture.sampler)
    options = {"eta": picture.eta, "s_noise": picture.noise_scale}
    sampler.extra_options = {k: v for k, v in options.items() if v is not None}
    extra = {"model_options": {}, "seed": picture.seed}
    made = sampler.sample(
        _Guider(model), chooser.sigmas, extra, None, noise, init, disable_pbar=True
    )
    return made[-1:]


class _Guider(SimpleNamespace):
    """The model as samplers see it, with the checkpoint inside."""

    def __init__(self, model: _Model) -> None:
        super().__init__(inner_model=model, model_patcher=model)

    def __call__(self, x: Any, sigma: Any, model_options: Any = None, seed: int = 0) -> Any:
        return self.inner_model(x, sigma, model_options or {}, seed)
