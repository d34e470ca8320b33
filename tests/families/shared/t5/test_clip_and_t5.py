"""Prompts encoded with CLIP and T5: weights by each tool's rule, and what is not encoded."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from backends.base import Array, Session
from engine.api.conventions import CONVENTIONS
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, Phase
from engine.compile.network import Network
from engine.families.checkpoint import Component, ComponentSource, IdentifiedCheckpoint, Parts
from engine.families.latents import LatentFormat
from engine.families.shared.t5.clip_and_t5 import ClipAndT5Text
from engine.graphs.clip_text import ClipTextConfig, clip_text
from engine.graphs.t5 import T5Config, t5_encoder
from engine.text.t5_tokenizer import load_t5_tokenizer
from tests.graphs.networks import random_weights, wanted
from tests.graphs.test_networks import load
from tests.metadata.records import PLAIN_REQUEST

CLIP = ClipTextConfig(vocabulary=49408, width=8, mlp_width=16, layers=2, heads=2)
T5 = T5Config(vocabulary=32128, width=12, heads=2, head_width=4, mlp_width=16, layers=2)
WORDS = load_t5_tokenizer()
A1111, COMFY, DIFFUSERS = ConventionName.A1111, ConventionName.COMFY, ConventionName.DIFFUSERS


def checkpoint() -> IdentifiedCheckpoint:
    clip, t5 = wanted(lambda g: clip_text(g, CLIP)), wanted(lambda g: t5_encoder(g, T5))
    sources = {
        component: ComponentSource(component, config, weights)
        for component, config, weights in (
            (Component.TEXT_ENCODER, CLIP, clip),
            (Component.TEXT_ENCODER_2, T5, t5),
        )
    }
    return IdentifiedCheckpoint(
        path=Path("flux.safetensors"),
        family="flux1",
        variant="dev",
        latent=LatentFormat(16, 8, 1.0),
        default_size=1024,
        missing=(),
        evidence=(),
        parts=Parts(sources, "digest", ()),
        make_architecture=_no_architecture,
    )


def _no_architecture(_: IdentifiedCheckpoint) -> Any:
    raise NotImplementedError


class Runner:
    """Runs networks with random weights, and notes the feeds of each."""

    def __init__(self) -> None:
        self.fed: list[Mapping[str, Array]] = []

    def encode(
        self,
        network: Network,
        work: Callable[[Session], Any],
        problem: Callable[[Any], str | None],
    ) -> Any:
        result = work(load(network.emit, random_weights(network.emit)))
        assert problem(result) is None
        return result

    def run(
        self,
        phase: Phase,
        network: Network,
        work: Callable[[Session], Any],
        problem: Callable[[Any], str | None],
        *,
        keep: bool = False,
    ) -> Any:
        return self.encode(network, work, problem)

    def call(self, session: Session, feeds: Mapping[str, Array]) -> dict[str, Array]:
        self.fed.append(feeds)
        return session.run(feeds)

    @property
    def rows(self) -> list[list[int]]:
        """The rows of T5, each without its padding."""
        rows = [row for fed in self.fed if "buckets" in fed for row in fed["tokens"]]
        return [row[: int(np.argmax(row == 1)) + 1].tolist() for row in rows]


def request(prompt: str, name: ConventionName, negative: str = "", guidance: float = 1.0):
    return msgspec.structs.replace(
        PLAIN_REQUEST,
        prompt=prompt,
        negative_prompt=negative,
        guidance=guidance,
        convention=CONVENTIONS[name],
    )


def encoded(
    resolved: ResolvedRequest, *, guided: bool = False
) -> tuple[Mapping[str, Array], Runner]:
    """The denoiser's inputs for a request, and the runner that made them."""
    runner = Runner()
    plan = ClipAndT5Text(checkpoint(), positions=512, embeds_guidance=not guided).read([resolved])
    texts = resolved.prompt, resolved.negative_prompt
    inputs = plan.encode(runner)[texts].inputs(0, resolved, guided=guided)
    contexts, tokens = plan.shape(texts, guided=guided)
    assert inputs["context"].shape == (contexts, tokens, T5.width)
    assert inputs["pooled"].shape == (contexts, CLIP.width)
    return inputs, runner


def test_one_row_is_run_where_nothing_depends_on_others() -> None:
    for name in (A1111, COMFY, DIFFUSERS):
        _, runner = encoded(request("a cat", name, "a dog"))
        assert runner.rows == [[*WORDS.encode("a cat"), 1]]


def test_the_negative_prompt_is_encoded_where_it_has_an_effect() -> None:
    inputs, runner = encoded(request("a cat", COMFY, "a dog", 3.0), guided=True)
    assert runner.rows == [[*WORDS.encode(text), 1] for text in ("a cat", "a dog")]
    assert np.abs(inputs["context"][0] - inputs["context"][1]).max() > 1e-3
    assert np.abs(inputs["pooled"][0] - inputs["pooled"][1]).max() > 1e-3


def test_comfyui_scales_differences_from_the_empty_prompt_of_equal_length() -> None:
    plain, _ = encoded(request("cat", COMFY))
    weighted, runner = encoded(request("(cat:1.5)", COMFY))
    empty, _ = encoded(request("", COMFY))
    assert runner.rows == [[*WORDS.encode("cat"), 1], [1]]
    first, rest = plain["context"][0], empty["context"][0]
    expected = first.copy()
    words = len(WORDS.encode("cat"))
    expected[:words] = (first[:words] - rest[:words]) * 1.5 + rest[:words]
    np.testing.assert_allclose(weighted["context"][0], expected, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(weighted["pooled"], plain["pooled"])


def test_forge_multiplies_and_restores_the_mean_of_the_row() -> None:
    plain, _ = encoded(request("cat", A1111))
    weighted, runner = encoded(request("(cat:1.5)", A1111))
    assert runner.rows == [[*WORDS.encode("cat"), 1]]
    first = plain["context"][0]
    scaled = first.copy()
    scaled[: len(WORDS.encode("cat"))] *= np.float32(1.5)
    expected = scaled * (first.mean(dtype=np.float64) / scaled.mean(dtype=np.float64))
    np.testing.assert_allclose(weighted["context"][0], expected, rtol=0, atol=1e-4)


def test_texts_that_change_are_weighed_each_by_itself_in_forge() -> None:
    alone, _ = encoded(request("(cat:1.5)", A1111))
    changing, _ = encoded(request("[(cat:1.5):dog:0.5]", A1111))
    np.testing.assert_allclose(changing["context"], alone["context"], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "positions"), [(COMFY, 256), (DIFFUSERS, 512)])
def test_all_positions_of_a_row_are_the_context(name: ConventionName, positions: int) -> None:
    inputs, _ = encoded(request("a cat", name))
    assert inputs["context"].shape == (1, positions, T5.width)
    assert np.abs(inputs["context"][0, -1]).max() > 0
