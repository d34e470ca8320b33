"""Tokens and masks that each family with T5 or Qwen3 gives its encoder and denoiser for a text."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import numpy as np

from backends.base import Array, Session
from engine.api.conventions import CONVENTIONS
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName
from engine.compile.network import Network
from engine.families.architecture import Architecture, TextPlan
from engine.families.checkpoint import Component, ComponentSource, IdentifiedCheckpoint, Parts
from engine.families.chroma.architecture import architecture_of as chroma
from engine.families.flux.architecture import architecture_of as flux
from engine.families.flux2.architecture import architecture_of as flux2
from engine.families.latents import LatentFormat
from engine.families.sd3.architecture import architecture_of as sd3
from engine.families.shared.prompts.prompt_tokens import PromptTokens
from engine.families.zimage.architecture import architecture_of as zimage
from engine.graphs.clip_text import ClipTextConfig
from engine.graphs.flux import FluxConfig
from engine.graphs.flux2 import Flux2Config
from engine.graphs.qwen3 import Qwen3Config
from engine.graphs.sd3 import Sd3Config
from engine.graphs.t5 import T5Config
from tests.metadata.records import PLAIN_REQUEST
from tests.text.freeze_qwen_tokens import CHATS
from tests.text.t5_cases import BY_HAND, drawn_prompts

_CLIP = ClipTextConfig(49408, 4, 8, layers=2, heads=2)
_T5 = T5Config(32128, 16, heads=2, head_width=4, mlp_width=16, layers=2)
_QWEN3 = Qwen3Config(151_936, 16, heads=2, key_heads=1, head_width=8, mlp_width=16, layers=28)
_WIDTHS: Any = {"width": 64, "heads": 2, "mlp_width": 128, "context_width": 16}
_BLOCKS: Any = {"in_channels": 64, "out_channels": 64, "double_blocks": 1, "single_blocks": 1}
_FLUX = FluxConfig(**_BLOCKS, **_WIDTHS, pooled_width=8)
_FLUX2 = Flux2Config(**_BLOCKS, **_WIDTHS)
_SD3 = Sd3Config(**_WIDTHS, channels=16, pooled_width=8, blocks=1, places=8)
_SIZE = 64
_L, _G, _THIRD = Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.TEXT_ENCODER_3
_DENOISER = Component.DENOISER


@dataclass(frozen=True)
class _Family:
    architecture: Callable[[IdentifiedCheckpoint], Architecture]
    configs: Mapping[Component, object]


FAMILIES = {
    "flux": _Family(flux, {_L: _CLIP, _G: _T5, _DENOISER: _FLUX}),
    "chroma": _Family(chroma, {_L: _T5}),
    "sd3": _Family(sd3, {_L: _CLIP, _G: _CLIP, _THIRD: _T5, _DENOISER: _SD3}),
    "zimage": _Family(zimage, {_L: _QWEN3}),
    "flux2": _Family(flux2, {_L: _QWEN3, _DENOISER: _FLUX2}),
}


def texts_of(every: int) -> list[str]:
    """Return one drawn prompt of so many, and all of the others."""
    drawn = len(drawn_prompts())
    return texts()[:drawn:every] + texts()[drawn:]


def texts() -> list[str]:
    """Return the 1,000 drawn prompts, those by hand, and empty and very long ones."""
    long = ("a cat by the sea, " * 70).strip(), "(a red:1.3) house, " * 99, "\u6e56" * 600
    return [*drawn_prompts(), *BY_HAND, *CHATS, "", " ", "()", *long]


@dataclass(frozen=True)
class FedPrompt:
    """The rows of T5 or Qwen3 for a prompt, and the positions of the text that are attended to.

    `seen` are the first positions of each row that the encoder attends to, `attended` those that
    the denoiser does. Rows of Z-Image are without padding, which nothing reads.
    """

    rows: list[list[int]]
    seen: list[int]
    attended: int
    weights: list[float]

    @property
    def digest(self) -> str:
        """The first characters of a digest."""
        weights = np.array(self.weights, np.float32).tolist()
        told = json.dumps([self.rows, self.seen, self.attended, weights])
        return hashlib.sha256(told.encode()).hexdigest()[:8]


def fed(family: str, text: str, name: ConventionName) -> FedPrompt:
    """Read and encode a text by a tool's rules, and note what the family gives its networks."""
    request = msgspec.structs.replace(
        PLAIN_REQUEST,
        prompt=text,
        negative_prompt="",
        guidance=1.0,
        convention=CONVENTIONS[name],
        width=_SIZE,
        height=_SIZE,
    )
    runner = _Runner()
    plan = _checkpoint(family).architecture.text.read([request])
    inputs = plan.encode(runner)[text, ""].inputs(0, request, guided=False)
    rows = [(feeds["tokens"][0].tolist(), _seen(feeds)) for feeds in runner.fed]
    if family == "zimage":
        rows = [(row[:seen], seen) for row, seen in rows]
    return FedPrompt(
        rows=[row for row, _ in rows],
        seen=[seen for _, seen in rows],
        attended=_attended(inputs, request),
        weights=_weights(plan, text)[: len(rows[0][0])],
    )


def _checkpoint(family: str) -> IdentifiedCheckpoint:
    """Return a checkpoint without weights: no network is run."""
    stated = FAMILIES[family]
    return IdentifiedCheckpoint(
        path=Path("model.safetensors"),
        family=family,
        variant="",
        latent=LatentFormat(16, 8, 1.0),
        default_size=1024,
        missing=(),
        evidence=(),
        parts=Parts(
            {
                component: ComponentSource(component, config, {})
                for component, config in stated.configs.items()
            },
            "digest",
            (),
        ),
        make_architecture=stated.architecture,
    )


@dataclass
class _Runner:
    """Notes what T5 or Qwen3 is fed, and answers with states of ones."""

    fed: list[Mapping[str, Array]] = field(default_factory=list[Mapping[str, Array]])

    def encode(
        self,
        network: Network,
        work: Callable[[Session], Any],
        problem: Callable[[Any], str | None],
    ) -> Any:
        names = ("tokens", "attention_mask", "end")
        session = SimpleNamespace(inputs=[SimpleNamespace(name=name) for name in names])
        return work(cast(Session, session))

    def call(self, session: Session, feeds: Mapping[str, Array]) -> dict[str, Array]:
        is_clip = "attention_mask" in feeds
        if not is_clip:
            self.fed.append(feeds)
        width = _CLIP.width if is_clip else _T5.width
        states = np.ones((*feeds["tokens"].shape, width), np.float32)
        return {"last_hidden_state": states, "states": states, "pooled": states[:, 0]}


def _seen(feeds: Mapping[str, Array]) -> int:
    """Return the number of positions that the last one attends to, which are the first ones."""
    bias = feeds["later"][-1] if "later" in feeds else feeds.get("key_bias")
    if bias is None:
        return int(feeds["tokens"].shape[1])
    return _first(bias.ravel() == 0)


def _attended(inputs: Mapping[str, Array], request: ResolvedRequest) -> int:
    """Return the number of positions of T5's or Qwen3's states that the denoiser attends to."""
    if "is_token" in inputs:
        return _first(inputs["is_token"][0] > 0)
    if "key_bias" in inputs:
        patches = (request.height // 16) * (request.width // 16)
        return _first(inputs["key_bias"].ravel()[:-patches] == 0)
    context = inputs["context"][0]
    # CLIP's states, which are narrower, stand before T5's.
    return int((context != 0).all(axis=1).sum())


def _first(marks: Array) -> int:
    count = int(marks.sum())
    assert marks[:count].all()
    return count


def _weights(plan: TextPlan, text: str) -> list[float]:
    """Return the weights of the tokens of a prompt's first row."""
    owner: Any = getattr(plan, "t5", plan)
    sides: PromptTokens | tuple[PromptTokens, ...] = owner.prompts[text, ""]
    tokens = sides[0] if isinstance(sides, tuple) else sides
    (mixture,) = tokens.positives[0].texts[0]
    return mixture.phrases[0].chunks.weights[0].tolist()
