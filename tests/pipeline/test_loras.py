"""Pictures with LoRAs: merged into the weights, beside the layers, and at changing strengths."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backends.cpu import CpuBackend
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, SamplerName
from engine.families import identify
from engine.memory.residency import Residency
from engine.pipeline.denoise.lora_stretches import PassLoras, Stretch
from engine.pipeline.picture_loras import WITHOUT_LORAS, PictureLoras
from engine.text.lora_strengths import RunLength
from tests.pipeline.counting import CountingBackend
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run
from tests.pipeline.tiny_loras import TinyLora, beside
from tests.thinned import thinned
from tests.tiny_checkpoint import Weights, write_checkpoint

Pixels = NDArray[np.uint8]
STRENGTHS = (0.8, -0.6, 1.7)


@pytest.fixture(scope="module")
def lora(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyLora:
    return TinyLora(tmp_path_factory.mktemp("lora"), tiny)


@pytest.fixture(scope="module")
def other(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> TinyLora:
    return TinyLora(tmp_path_factory.mktemp("other"), tiny, rank=5, seed=2)


def pixels(tiny: Path, loras: PictureLoras = WITHOUT_LORAS, **changes: object) -> Pixels:
    """The first picture of a request, with LoRAs."""
    request = a_request(tiny, **changes)
    made = run(request, CpuBackend(), residency=RESIDENCY, read_loras=lambda _request, _run: loras)
    return made.pixels[0]


@pytest.fixture(scope="module")
def plain(tiny: Path) -> Pixels:
    return pixels(tiny)


def test_a_checkpoint_without_patches_is_itself(tiny: Path) -> None:
    checkpoint = identify(tiny)
    assert checkpoint.with_patches({}) is checkpoint


@pytest.mark.parametrize("text", thinned([0.0, 0.7], [0.7]))
def test_a_merged_picture_is_that_of_a_file_with_the_merged_weights(
    tiny: Path, lora: TinyLora, plain: Pixels, tmp_path: Path, text: float
) -> None:
    def change(weights: Weights) -> None:
        lora.changed(weights, 0.8, text)

    file = write_checkpoint(tmp_path / "merged", change=change)
    found = pixels(tiny, lora.merged(0.8, text))
    np.testing.assert_array_equal(found, pixels(file))
    assert psnr(found, plain) < 30


@pytest.mark.parametrize("strength", thinned(STRENGTHS, [-0.6]))
def test_side_branches_make_the_merged_picture(
    tiny: Path, lora: TinyLora, plain: Pixels, strength: float
) -> None:
    found = pixels(tiny, beside(lora, strengths=lambda _: (strength,)))
    assert psnr(found, pixels(tiny, lora.merged(strength))) > 60
    assert psnr(found, plain) < 30


def test_side_branches_of_strength_0_make_the_picture_without(
    tiny: Path, lora: TinyLora, plain: Pixels
) -> None:
    np.testing.assert_array_equal(pixels(tiny, beside(lora, strengths=lambda _: (0.0,))), plain)


def test_side_branches_of_two_loras_are_added(tiny: Path, lora: TinyLora, other: TinyLora) -> None:
    found = pixels(tiny, beside(lora, other, strengths=lambda _: (0.9, -0.4)))
    both = lora.merged(0.9).passes[0].patches, other.merged(-0.4).passes[0].patches
    ((component, first),), ((_, second),) = (patches.items() for patches in both)
    merged = {name: first.merged[name] + second.merged[name] for name in first.merged}
    joint = PassLoras((Stretch(0, {component: type(first)("both", merged)}),))
    assert psnr(found, pixels(tiny, PictureLoras("both", (joint,)))) > 60


def in_stretches(lora: TinyLora, *strengths: tuple[int, float]) -> PictureLoras:
    """Merged weights that change within the run: the strength from each evaluation on."""
    found = tuple(Stretch(start, lora.patches(strength)) for start, strength in strengths)
    return PictureLoras(strengths, (PassLoras(found),))


def stepwise(*strengths: tuple[int, float]) -> Callable[[int], tuple[float]]:
    """The same strengths, as a function of the evaluation."""
    return lambda evaluation: (
        [strength for start, strength in strengths if start <= evaluation][-1],
    )


@pytest.mark.parametrize(
    "sampler",
    thinned(
        [SamplerName.DPMPP_2M, SamplerName.EULER_ANCESTRAL, SamplerName.HEUN], [SamplerName.HEUN]
    ),
)
def test_strengths_that_change_over_the_steps_are_those_of_merged_stretches(
    tiny: Path, lora: TinyLora, sampler: SamplerName
) -> None:
    changing = (0, 0.9), (2, 0.0), (3, -0.5)
    changes = {"sampler": sampler, "steps": 4}
    found = pixels(tiny, beside(lora, strengths=stepwise(*changing)), **changes)
    merged = pixels(tiny, in_stretches(lora, *changing), **changes)
    assert psnr(found, merged) > 60
    assert psnr(merged, pixels(tiny, lora.merged(0.9), **changes)) < 45


def test_stretches_of_the_same_weights_are_one_run(tiny: Path, lora: TinyLora) -> None:
    split = in_stretches(lora, (0, 0.8), (1, 0.8), (2, 0.8))
    whole = pixels(tiny, lora.merged(0.8), sampler=SamplerName.EULER_ANCESTRAL)
    np.testing.assert_array_equal(pixels(tiny, split, sampler=SamplerName.EULER_ANCESTRAL), whole)


class Loads:
    """Runs jobs one after another, and counts the networks that each of them loads."""

    def __init__(self, tiny: Path) -> None:
        self.tiny, self.backend, self.residency = tiny, CountingBackend(), Residency()

    def __call__(self, loras: PictureLoras = WITHOUT_LORAS) -> list[str]:
        self.backend.loads.clear()
        request = a_request(self.tiny)
        run(
            request, self.backend, residency=self.residency, read_loras=lambda _request, _run: loras
        )
        return sorted(name for name, _ in self.backend.loads)


def test_a_new_strength_loads_only_what_it_touches(tiny: Path, lora: TinyLora) -> None:
    loads = Loads(tiny)
    assert loads() == ["denoiser", "text_encoder", "vae_decoder"]
    assert loads(lora.merged(0.5)) == ["denoiser"]
    assert loads(lora.merged(0.5)) == []
    assert loads(lora.merged(0.6)) == ["denoiser"]
    assert loads(lora.merged(0.6, 0.2)) == ["text_encoder"]
    assert loads() == ["denoiser", "text_encoder"]
    assert loads.backend.most_open == 3


def test_side_branches_take_any_strength_and_any_lora_of_similar_rank(
    tiny: Path, lora: TinyLora, other: TinyLora
) -> None:
    loads = Loads(tiny)
    loads()
    assert loads(beside(lora, strengths=lambda _: (0.5,))) == ["denoiser"]
    assert loads(beside(lora, strengths=lambda _: (-1.5,))) == []
    assert loads(beside(other, strengths=lambda _: (0.5,))) == []
    assert loads(beside(lora, other, strengths=lambda _: (0.5, 0.2))) == []


def test_each_picture_of_a_batch_has_its_own_loras(
    tiny: Path, lora: TinyLora, other: TinyLora
) -> None:
    words = {7: "one", 8: "none", 9: "other", 10: "one"}
    found = {"one": lora.merged(0.8, 0.4), "other": other.merged(-0.6), "none": WITHOUT_LORAS}

    def read_loras(request: ResolvedRequest, _run: RunLength) -> PictureLoras:
        return found[request.prompt]

    def word(_text: str, seed: int) -> str:
        return words[seed]

    batch = run(
        a_request(tiny, prompt="one of them", count=4, steps=2, convention=ConventionName.A1111),
        CpuBackend(),
        together=True,
        read_loras=read_loras,
        replace_wildcards=word,
    )
    for place, (seed, prompt) in enumerate(words.items()):
        changes = {"prompt": prompt, "negative_prompt": prompt, "seed": seed, "steps": 2}
        alone = pixels(tiny, found[prompt], convention=ConventionName.A1111, **changes)
        np.testing.assert_array_equal(batch.pixels[place], alone)
