"""ComfyUI's KSamplerAdvanced: base and refiner, and the last steps of a run."""

from pathlib import Path
from typing import Any

import pytest

from engine.api.request import RefinerChoice
from engine.api.second_passes import SecondPass
from engine.metadata.png import insert_text_chunks
from engine.metadata.readers import ImportedRequest, read_request
from engine.metadata.readers.comfy import import_graph
from tests.metadata.readers.graphs import TEXT_TO_PICTURE, Graph, node, prompt, with_nodes
from tests.metadata.records import PNG

OTHER_PROMPT = "Its refiner had a prompt or a guidance of its own; here it has the base's."


def advanced(latent: str, loader: str, **inputs: Any) -> dict[str, Any]:
    """A sampler that takes a part of 20 steps."""
    usual: dict[str, Any] = {
        "add_noise": "enable",
        "noise_seed": 5,
        "steps": 20,
        "cfg": 8.0,
        "sampler_name": "euler",
        "scheduler": "karras",
        "start_at_step": 0,
        "end_at_step": 10000,
        "return_with_leftover_noise": "disable",
        "model": [loader, 0],
        "positive": ["6", 0],
        "negative": ["7", 0],
        "latent_image": [latent, 0],
    }
    return node("KSamplerAdvanced", **(usual | inputs))


def refined(**second: Any) -> Graph:
    """SDXL's base for 16 of 20 steps, and its refiner for the others."""
    going_on = {"add_noise": "disable", "start_at_step": 16, "noise_seed": 0}
    return with_nodes(
        TEXT_TO_PICTURE,
        n3=advanced("5", "4", end_at_step=16, return_with_leftover_noise="enable"),
        n40=advanced("3", "41", **(going_on | second)),
        n41=node("CheckpointLoaderSimple", ckpt_name="refiner.safetensors"),
        n8=node("VAEDecode", samples=["40", 0], vae=["41", 2]),
    )


def read(graph: Graph) -> ImportedRequest:
    found = import_graph(graph)
    assert found is not None
    return found


def test_a_sampler_that_goes_on_with_another_model_is_a_refiner() -> None:
    found = read(refined())
    request = found.request
    assert request.refiner == RefinerChoice(switch_at=0.8)
    assert (request.steps, request.seed, request.guidance) == (20, 5, 8.0)
    assert request.second_passes == ()
    assert found.unmapped == ()
    assert found.warnings[1:] == (
        'It was refined with the model "refiner.safetensors"; choose it to match.',
    )


def test_a_refiners_own_prompt_is_told() -> None:
    words = node("CLIPTextEncode", text="of its own", clip=["41", 1])
    assert OTHER_PROMPT in read(with_nodes(refined(positive=["42", 0]), n42=words)).warnings
    assert OTHER_PROMPT in read(refined(cfg=5.0)).warnings
    assert OTHER_PROMPT not in read(refined()).warnings


def test_a_run_in_two_parts_of_one_model_has_no_refiner() -> None:
    found = read(refined(model=["4", 0]))
    assert (found.request.refiner, found.request.second_passes) == (None, ())
    assert found.unmapped == ()


@pytest.mark.parametrize(
    "second",
    [
        {"add_noise": "enable"},
        {"start_at_step": 12},
        {"end_at_step": 18},
        {"return_with_leftover_noise": "enable"},
        {"steps": 30},
        {"sampler_name": "dpmpp_2m"},
        {"scheduler": "normal"},
    ],
)
def test_a_sampler_that_does_otherwise_is_no_refiner(second: dict[str, Any]) -> None:
    found = read(refined(**second))
    assert found.request.refiner is None
    assert found.warnings[-1].startswith("Not taken over: end_at_step, return_with_leftover_noise")


def test_a_refined_picture_is_enlarged_and_redrawn() -> None:
    again = node("LatentUpscaleBy", samples=["40", 0], upscale_method="nearest-exact", scale_by=1.5)
    graph = with_nodes(
        refined(),
        n50=again,
        n51=advanced("50", "4", start_at_step=12, noise_seed=5),
        n8=node("VAEDecode", samples=["51", 0], vae=["4", 2]),
    )
    found = read(graph)
    request = found.request
    assert request.refiner == RefinerChoice(switch_at=0.8)
    before = "Its refiner took over before the picture was enlarged; here it does in the last pass."
    assert before in found.warnings
    assert before not in read(refined()).warnings
    assert request.second_passes == (
        SecondPass(scale=1.5, upscaler="Latent (nearest-exact)", steps=8, strength=0.4),
    )


def test_the_last_steps_of_a_run_redraw_a_picture() -> None:
    """In ComfyUI 9 of 14 steps at this strength are the last 9 of a schedule of 14."""
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n3=advanced("11", "4", steps=14, start_at_step=5),
        n10=node("LoadImage", image="in.png", upload="image"),
        n11=node("VAEEncode", pixels=["10", 0], vae=["4", 2]),
    )
    found = read(graph)
    steps, strength = found.request.steps, found.request.strength
    assert steps == 9
    assert strength is not None
    assert strength == pytest.approx(9 / 14)
    assert int(steps / strength) == 14
    assert found.unmapped == ()


def test_passes_before_one_that_is_not_understood_are_read() -> None:
    """Base and refiner, one enlargement that is known and one that is not."""
    graph = with_nodes(
        refined(),
        n50=node("LatentUpscaleBy", samples=["40", 0], upscale_method="area", scale_by=1.5),
        n51=advanced("50", "4", start_at_step=10),
        n52=node("LatentComposite", samples_to=["51", 0], samples=["51", 0]),
        n53=advanced("52", "4", start_at_step=10),
        n8=node("VAEDecode", samples=["53", 0], vae=["4", 2]),
    )
    found = read(graph)
    assert found.request.refiner == RefinerChoice(switch_at=0.8)
    assert len(found.request.second_passes) == 1
    told = "It was sampled 4 times over; only the first 2 passes are taken over."
    assert told in found.warnings
    assert found.warnings[-1] == "Not taken over: KSamplerAdvanced."


TWO_PASSES = with_nodes(
    TEXT_TO_PICTURE,
    n40=node("LatentUpscale", samples=["3", 0], upscale_method="bislerp", width=768, height=1152,
             crop="disabled"),
    n41=TEXT_TO_PICTURE["3"] | {
        "inputs": TEXT_TO_PICTURE["3"]["inputs"] | {"latent_image": ["40", 0], "denoise": 0.5}
    },
    n42=node("VAEDecode", samples=["41", 0], vae=["4", 2]),
    n43=node("SaveImage", filename_prefix="ComfyUI", images=["42", 0]),
)  # fmt: skip
GUESSED = "Its graph saves several pictures"
# Both are enlarged by a file once they are made, and brought to a size.
ENLARGED = with_nodes(
    TWO_PASSES,
    n50=node("UpscaleModelLoader", model_name="4x.pth"),
    n51=node("ImageUpscaleWithModel", upscale_model=["50", 0], image=["8", 0]),
    n52=node("ImageScale", image=["51", 0], upscale_method="area", width=1024, height=1536),
    n53=node("ImageUpscaleWithModel", upscale_model=["50", 0], image=["42", 0]),
    n54=node("ImageScale", image=["53", 0], upscale_method="area", width=1536, height=2304),
    n9=node("SaveImage", filename_prefix="ComfyUI", images=["52", 0]),
    n43=node("SaveImage", filename_prefix="ComfyUI", images=["54", 0]),
)


# The first pass is shown, and the second one saved.
SHOWN = with_nodes(TWO_PASSES, n9=node("PreviewImage", images=["8", 0]))


@pytest.mark.parametrize(
    ("graph", "size", "passes", "is_told"),
    [
        (TWO_PASSES, (512, 768), 0, False),
        (TWO_PASSES, (768, 1152), 1, False),
        (TWO_PASSES, (640, 640), 1, True),
        (ENLARGED, (1024, 1536), 0, False),
        (ENLARGED, (1536, 2304), 1, False),
        (ENLARGED, (512, 768), 1, True),
        (SHOWN, (512, 768), 0, False),
        (SHOWN, (768, 1152), 1, False),
        (SHOWN, (640, 640), 1, False),
    ],
)
def test_a_pictures_size_tells_which_pass_it_is_of(
    tmp_path: Path, graph: Graph, size: tuple[int, int], passes: int, *, is_told: bool
) -> None:
    """Both are saved under one name; of an unknown size it is the last pass's."""
    path = tmp_path / "ComfyUI_00001_.png"
    sides = b"".join(side.to_bytes(4, "big") for side in size)
    path.write_bytes(insert_text_chunks(PNG[:16] + sides + PNG[24:], (prompt(graph),)))
    found = read_request(path)
    assert len(found.request.second_passes) == passes
    assert any(told.startswith(GUESSED) for told in found.warnings) == is_told
