"""Graphs as ComfyUI writes them: node classes and inputs of its `nodes.py` and `comfy_extras/`."""

import json
from typing import Any

from engine.metadata.texts import TextChunk

Graph = dict[str, dict[str, Any]]


def node(kind: str, **inputs: Any) -> dict[str, Any]:
    """A node; a link is [name of the node, number of its output]."""
    return {"inputs": inputs, "class_type": kind, "_meta": {"title": kind}}


# The shape of ComfyUI's default workflow.
TEXT_TO_PICTURE: Graph = {
    "3": node(
        "KSampler",
        seed=156680208700286,
        steps=20,
        cfg=8.0,
        sampler_name="euler",
        scheduler="normal",
        denoise=1.0,
        model=["4", 0],
        positive=["6", 0],
        negative=["7", 0],
        latent_image=["5", 0],
    ),
    "4": node("CheckpointLoaderSimple", ckpt_name="sd15\\dream.safetensors"),
    "5": node("EmptyLatentImage", width=512, height=768, batch_size=1),
    "6": node("CLIPTextEncode", text="a red house, (sea:1.2)", clip=["4", 1]),
    "7": node("CLIPTextEncode", text="watermark", clip=["4", 1]),
    "8": node("VAEDecode", samples=["3", 0], vae=["4", 2]),
    "9": node("SaveImage", filename_prefix="ComfyUI", images=["8", 0]),
}

# Sampling in parts: noise, guider, sampler and sigmas are nodes of their own.
CUSTOM: Graph = {
    **{name: TEXT_TO_PICTURE[name] for name in ("4", "5", "6", "7", "9")},
    "8": node("VAEDecode", samples=["13", 1], vae=["20", 0]),
    "20": node("VAELoader", vae_name="soft.safetensors"),
    "13": node(
        "SamplerCustomAdvanced",
        noise=["25", 0],
        guider=["22", 0],
        sampler=["16", 0],
        sigmas=["17", 0],
        latent_image=["5", 0],
    ),
    "25": node("RandomNoise", noise_seed=42),
    "22": node("CFGGuider", model=["30", 0], positive=["6", 0], negative=["7", 0], cfg=5.5),
    "16": node(
        "SamplerDPMPP_2M_SDE", solver_type="heun", eta=0.8, s_noise=1.01, noise_device="gpu"
    ),
    "17": node("KarrasScheduler", steps=12, sigma_max=14.6, sigma_min=0.03, rho=7.0),
    "30": node("RescaleCFG", model=["31", 0], multiplier=0.7),
    "31": node("ModelSamplingDiscrete", model=["4", 0], sampling="v_prediction", zsnr=True),
}


def with_nodes(graph: Graph, **changes: Any) -> Graph:
    """A graph with nodes changed or added by name; `n3` stands for "3"."""
    return graph | {name.removeprefix("n"): value for name, value in changes.items()}


def with_inputs(graph: Graph, name: str, **inputs: Any) -> Graph:
    """A graph with inputs of one node changed."""
    changed = graph[name] | {"inputs": graph[name]["inputs"] | inputs}
    return graph | {name: changed}


def prompt(graph: object) -> TextChunk:
    """The PNG text it is written as."""
    return TextChunk("prompt", json.dumps(graph))
