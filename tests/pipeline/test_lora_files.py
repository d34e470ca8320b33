"""LoRA files in whole jobs: named by the request or the prompt, at any strength, in every mode."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from backends.cpu import CpuBackend
from engine.api.lora import LoraChoice, LoraMode
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import Component, identify
from engine.lora.folder import LoraLookup
from engine.pipeline.loras import JobLoras
from tests.checkpoints.arrays import write_arrays
from tests.pipeline.jobs import Result, RoomyResidency, a_request, psnr, run
from tests.pipeline.lora_files import FileLora
from tests.thinned import thinned
from tests.tiny_checkpoint import Weights, write_checkpoint

TEXT = (Component.TEXT_ENCODER,)
Pixels = NDArray[np.uint8]


class Studio:
    """A tiny checkpoint and a folder of LoRAs, and jobs with them on the processor."""

    def __init__(self, tiny: Path, folder: Path) -> None:
        self.tiny, self.folder = tiny, folder
        self.style = FileLora(folder / "style.safetensors", tiny)
        self.other = FileLora(folder / "sub" / "other.safetensors", tiny, rank=6, seed=2)
        self.residency = RoomyResidency()

    def request(self, *loras: LoraChoice, **changes: object) -> GenerateRequest:
        fields: dict[str, object] = {"loras": loras, "convention": ConventionName.A1111}
        return a_request(self.tiny, **(fields | changes))

    def run(self, request: GenerateRequest) -> Result:
        checkpoint = identify(Path(request.checkpoint or ""))
        reader = JobLoras(checkpoint, LoraLookup((self.folder,)), read_index)
        return run(request, CpuBackend(), residency=self.residency, read_loras=reader)

    def pixels(self, *loras: LoraChoice, **changes: object) -> Pixels:
        return self.run(self.request(*loras, **changes)).pixels[0]


@pytest.fixture(scope="module")
def studio(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    made = Studio(tiny, tmp_path_factory.mktemp("loras"))
    yield made
    made.residency.release()


@pytest.fixture(scope="module")
def plain(studio: Studio) -> Pixels:
    return studio.pixels()


def a_choice(file: str = "style", strength: float = 1.0, text: float | None = None) -> LoraChoice:
    return LoraChoice(file=file, strength=strength, text_strength=text)


def test_a_lora_makes_the_picture_of_a_file_with_its_changes(
    studio: Studio, plain: Pixels, tmp_path: Path
) -> None:
    def change(weights: Weights) -> None:
        studio.style.change(weights, 0.8, -0.5)
        studio.other.change(weights, -1.2, -1.2)

    merged = write_checkpoint(tmp_path / "merged", change=change)
    elsewhere = msgspec.structs.replace(studio.request(), checkpoint=str(merged))
    result = studio.run(studio.request(a_choice("style", 0.8, -0.5), a_choice("other", -1.2)))
    assert psnr(result.pixels[0], studio.run(elsewhere).pixels[0]) > 70
    assert psnr(result.pixels[0], plain) < 30
    first, second = result.pictures[0].loras
    assert (first.applied_keys, first.total_keys, first.rest) == (studio.style.keys,) * 2 + ((),)
    assert (first.path, second.text_strength) == (str(studio.style.path), -1.2)
    assert not result.warnings


@pytest.mark.parametrize("mode", LoraMode)
def test_strength_0_makes_the_picture_without(
    studio: Studio, plain: Pixels, mode: LoraMode
) -> None:
    found = studio.pixels(a_choice(strength=0.0), lora_mode=mode)
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize(
    ("mode", "clip_skip"),
    thinned(list(product([LoraMode.SIDE, LoraMode.TEXT_SIDE], [1, 2])), [(LoraMode.TEXT_SIDE, 2)]),
)
def test_side_branches_and_merged_weights_make_one_picture(
    studio: Studio, mode: LoraMode, clip_skip: int
) -> None:
    loras = a_choice("style", 1.4, 0.5), a_choice("other", -0.7, -0.9)
    merged, beside = (
        studio.pixels(*loras, lora_mode=way, clip_skip=clip_skip) for way in (LoraMode.MERGE, mode)
    )
    assert psnr(merged, beside) > 60


def test_a_change_of_the_table_of_words_is_merged_in_every_mode(tiny: Path, studio: Studio) -> None:
    name = "lora_te_text_model_embeddings_token_embedding"
    table = (
        identify(tiny).components[TEXT[0]].weights["text_model.embeddings.token_embedding.weight"]
    )
    random = np.random.default_rng(4)
    factors = {
        f"{name}.lora_up.weight": random.standard_normal((table.shape[0], 2)),
        f"{name}.lora_down.weight": random.standard_normal((2, table.shape[1])),
    }
    extra = {key: array.astype(np.float32) for key, array in factors.items()}
    words = FileLora(studio.folder / "words.safetensors", tiny, components=TEXT, extra=extra)
    choice = a_choice(str(words.path), 1.0, 0.4)
    merged = studio.pixels(choice, lora_mode=LoraMode.MERGE)
    np.testing.assert_array_equal(studio.pixels(choice, lora_mode=LoraMode.TEXT_SIDE), merged)
    assert psnr(merged, studio.pixels()) < 30


def test_a_tag_in_the_prompt_is_a_choice(studio: Studio) -> None:
    prompt = "a red horse, blue house"
    tagged = studio.pixels(prompt=f"{prompt}<lora:style:0.6:0.9>")
    np.testing.assert_array_equal(tagged, studio.pixels(a_choice("style", 0.9, 0.6), prompt=prompt))


@pytest.mark.parametrize("mode", thinned([LoraMode.AUTO, LoraMode.SIDE], [LoraMode.SIDE]))
def test_a_strength_that_changes_is_the_same_merged_or_beside(
    studio: Studio, mode: LoraMode
) -> None:
    changes = {"prompt": "a red horse<lora:style:te=0.3:unet=1.5@0,-1.5@1>", "steps": 4}
    merged = studio.pixels(**changes, lora_mode=LoraMode.MERGE)
    assert psnr(merged, studio.pixels(**changes, lora_mode=mode)) > 60
    constant = studio.pixels(a_choice("style", 1.5, 0.3), prompt="a red horse", steps=4)
    assert psnr(merged, constant) < 50


def test_weights_by_block_are_factors_of_the_strength(studio: Studio) -> None:
    none, every = ",".join("0" * 26), ",".join(["0.5"] * 26)
    prompt = "a red horse"
    off = studio.run(studio.request(prompt=f"{prompt}<lora:style:0.8:lbw={none}>"))
    # What is in no block, such as the time embedding, keeps its weight.
    assert off.pictures[0].loras[0].blocks == none
    half = studio.pixels(prompt=f"{prompt}<lora:style:1.0:lbw={every}>")
    whole = studio.pixels(prompt=f"{prompt}<lora:style:0.5>")
    assert psnr(half, whole) > psnr(off.pixels[0], whole)


def test_weights_of_elements_are_those_of_their_layers(studio: Studio) -> None:
    """The last rule of a layer counts, so that all layers are off but for those of a half."""
    own = studio.folder / "elempresets.txt"
    own.write_text("OFF:::0,NOT BASE::0.5\n\nHALF:::0.5", encoding="utf-8")
    prompt = "a red horse<lora:style"
    texts_off = studio.pixels(prompt=f"{prompt}:1.0:lbwe=OFF>")
    np.testing.assert_array_equal(texts_off, studio.pixels(prompt=f"{prompt}:te=0:unet=0.5>"))
    half = studio.pixels(prompt=f"{prompt}:1.0:lbwe=HALF>")
    np.testing.assert_array_equal(half, studio.pixels(prompt=f"{prompt}:0.5>"))
    own.unlink()


def test_a_dora_that_the_tool_measures_otherwise_is_told(studio: Studio) -> None:
    layer = "lora_unet_down_blocks_0_resnets_0_time_emb_proj"
    weights = identify(studio.tiny).components[Component.DENOISER].weights
    out, into = weights["down_blocks.0.resnets.0.time_emb_proj.weight"].shape
    arrays = {"lora_up.weight": (out, 1), "lora_down.weight": (1, into), "dora_scale": (out, 1)}
    path = studio.folder / "dora.safetensors"
    write_arrays(path, {f"{layer}.{part}": np.ones(shape) for part, shape in arrays.items()})
    (warning,) = studio.run(studio.request(a_choice("dora"))).warnings
    assert "trained by the lengths of outputs" in warning.message
    diffusers = studio.request(a_choice("dora"), convention=ConventionName.DIFFUSERS)
    assert not studio.run(diffusers).warnings
    path.unlink()


def test_a_lora_that_is_not_found_is_named_and_the_picture_is_made(
    studio: Studio, plain: Pixels
) -> None:
    result = studio.run(studio.request(LoraChoice(file="gone", hash="0123456789ab")))
    np.testing.assert_array_equal(result.pixels[0], plain)
    (warning,) = result.warnings
    assert "gone" in warning.message
    assert "0123456789ab" in warning.hint
    (report,) = result.pictures[0].loras
    assert (report.name, report.path, report.applied_keys) == ("gone", None, 0)


def test_keys_that_fit_no_layer_are_told(studio: Studio, tmp_path: Path) -> None:
    extra = {
        f"lora_unet_no_such_layer_{number}.{part}.weight": np.ones((4, 4), np.float32)
        for number in range(6)
        for part in ("lora_up", "lora_down")
    }
    path = studio.folder / "more.safetensors"
    more = FileLora(path, studio.tiny, components=(Component.TEXT_ENCODER,), extra=extra)
    result = studio.run(studio.request(a_choice("more", 0.5)))
    (warning,) = result.warnings
    assert f"12 of the {more.keys} keys" in warning.message
    (report,) = result.pictures[0].loras
    assert (report.applied_keys, report.total_keys) == (more.keys - 12, more.keys)
    assert len(report.rest) == 8


def test_a_lora_for_another_family_is_refused(studio: Studio) -> None:
    path = studio.folder / "flux.safetensors"
    names = (
        f"lora_unet_double_blocks_{i}_img_attn_qkv.lora_{part}.weight"
        for i in range(3)
        for part in ("up", "down")
    )
    write_arrays(path, {name: np.ones((4, 4), np.float32) for name in names})
    with pytest.raises(EngineError) as caught:
        studio.run(studio.request(a_choice("flux")))
    assert caught.value.code is ErrorCode.LORA_MISMATCH


def test_a_lora_that_is_not_used_is_not_read(studio: Studio, plain: Pixels) -> None:
    choice = msgspec.structs.replace(a_choice("flux"), enabled=False)
    np.testing.assert_array_equal(studio.pixels(choice), plain)


def test_changes_of_weights_that_the_checkpoint_lacks_are_told(studio: Studio) -> None:
    layer = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn1_to_q"
    extra = {f"{layer}.diff_b": np.ones(64, np.float32)}
    FileLora(studio.folder / "biased.safetensors", studio.tiny, rank=3, extra=extra)
    result = studio.run(studio.request(a_choice("biased", 0.5)))
    (warning,) = result.warnings
    assert "changes 1 weights that this model lacks" in warning.message
    assert "attn1.to_q.bias" in warning.detail


def test_a_change_of_another_size_is_left_out_and_told(studio: Studio) -> None:
    extra = {"lora_unet_conv_out.diff_b": np.ones(7, np.float32)}
    FileLora(studio.folder / "odd.safetensors", studio.tiny, components=TEXT, extra=extra)
    (warning,) = studio.run(studio.request(a_choice("odd", 0.5))).warnings
    assert "lora_unet_conv_out.diff_b" in warning.detail


def test_weights_by_block_for_another_kind_of_model_change_nothing_and_that_is_told(
    studio: Studio,
) -> None:
    of_flux = ",".join(["0.5"] * 61)
    result = studio.run(studio.request(prompt=f"a house <lora:style:1:lbw={of_flux}>"))
    plain = studio.run(studio.request(prompt="a house <lora:style:1>"))
    (warning,) = result.warnings
    assert "are for another kind of model" in warning.message
    np.testing.assert_array_equal(result.pixels[0], plain.pixels[0])
    own = studio.run(studio.request(prompt="a house <lora:style:1:lbw=ALL0.5>"))
    assert not own.warnings
    assert not np.array_equal(own.pixels[0], plain.pixels[0])
