"""ComfyUI's graphs: the sampler that made the picture, and what led to it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.control import ControlLayer
from engine.api.conventions import CONVENTIONS, Convention, convention_of
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.noise_rules import RandomSource
from engine.api.prompt_rules import Emphasis, PromptFeature, PromptGrammar
from engine.api.request import (
    GuidanceOptions,
    RefinerChoice,
    SamplerOptions,
    ScheduleOptions,
)
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.metadata.png import insert_text_chunks
from engine.metadata.readers import ImportedRequest, read_request, recognise
from engine.metadata.texts import TextChunk
from tests.metadata.readers.graphs import (
    CUSTOM,
    TEXT_TO_PICTURE,
    Graph,
    node,
    prompt,
    with_inputs,
    with_nodes,
)
from tests.metadata.readers.pictures import exif, imported, jpeg, user_comment, webp
from tests.metadata.records import PNG


def read(folder: Path, graph: Mapping[str, Any]) -> ImportedRequest:
    return imported(folder, TextChunk("workflow", '{"nodes": []}'), prompt(graph))


EXPECTED = GenerateRequest(
    prompt="a red house, (sea:1.2)",
    negative_prompt="watermark",
    width=512,
    height=768,
    steps=20,
    guidance=8.0,
    sampler=SamplerName.EULER,
    schedule=ScheduleName.NORMAL,
    seed=156680208700286,
    convention=ConventionName.COMFY,
    expand_wildcards=False,
)


def test_the_default_workflow_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, TEXT_TO_PICTURE)
    assert found.request == EXPECTED
    assert found.tool == "ComfyUI"
    assert found.unmapped == ()
    assert found.warnings == (
        'It was made with the model "sd15\\dream.safetensors"; choose it to match.',
    )


def test_webp_and_jpeg_name_the_graph_in_exif(tmp_path: Path) -> None:
    text = b"prompt:" + json.dumps(TEXT_TO_PICTURE).encode()
    data = exif({0x0110: (2, text + b"\0"), 0x010F: (2, b"workflow:{}\0")}, {}, "<")
    for name, content in (
        ("a.webp", webp((b"EXIF", data))),
        ("a.jpg", jpeg((0xE1, b"Exif\0\0" + data))),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        assert read_request(path).request == EXPECTED


def test_a_sampler_of_several_nodes_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, CUSTOM)
    comfy = CONVENTIONS[ConventionName.COMFY]
    assert found.request == GenerateRequest(
        prompt="a red house, (sea:1.2)",
        negative_prompt="watermark",
        width=512,
        height=768,
        steps=12,
        guidance=5.5,
        sampler=SamplerName.DPMPP_2M_SDE_HEUN,
        schedule=ScheduleName.KARRAS,
        seed=42,
        convention=found.request.convention,
        sampler_options=SamplerOptions(eta=0.8, noise_scale=1.01),
        schedule_options=ScheduleOptions(sigma_min=0.03, sigma_max=14.6, rho=7.0),
        guidance_options=GuidanceOptions(rescale=0.7),
        zero_terminal_snr=True,
        expand_wildcards=False,
    )
    assert convention_of(found.request.convention) == msgspec.structs.replace(
        comfy, step_source=RandomSource.CUDA, discards_next_to_last=()
    )
    assert found.unmapped == ()
    assert 'VAE "soft.safetensors"' in found.warnings[1]


def test_a_guider_without_a_negative_prompt_does_not_guide(tmp_path: Path) -> None:
    guider = node("BasicGuider", model=["4", 0], conditioning=["6", 0])
    request = read(tmp_path, with_nodes(CUSTOM, n22=guider)).request
    assert (request.prompt, request.negative_prompt) == ("a red house, (sea:1.2)", "")
    assert request.guidance == 1.0


FLUX = with_nodes(
    CUSTOM,
    n4=node("UNETLoader", unet_name="flux1-dev.safetensors", weight_dtype="default"),
    n6=node("CLIPTextEncode", text="a red house", clip=["33", 0]),
    n22=node("BasicGuider", model=["4", 0], conditioning=["32", 0]),
    n32=node("FluxGuidance", conditioning=["6", 0], guidance=2.5),
    n33=node("DualCLIPLoader", clip_name1="t5.safetensors", clip_name2="l.gguf", type="flux"),
)


def scales(request: GenerateRequest) -> tuple[float | None, float]:
    return request.guidance, request.guidance_options.true_cfg


def test_guidance_that_flux_takes_is_apart_from_cfg(tmp_path: Path) -> None:
    found = read(tmp_path, FLUX)
    assert scales(found.request) == (2.5, 1.0)
    assert found.request.prompt == "a red house"
    assert found.unmapped == ()
    guider = node("CFGGuider", model=["4", 0], positive=["32", 0], negative=["7", 0], cfg=3.0)
    assert scales(read(tmp_path, with_nodes(FLUX, n22=guider)).request) == (2.5, 3.0)


def test_flux_without_a_node_of_guidance_has_the_usual_one(tmp_path: Path) -> None:
    guider = node("BasicGuider", model=["4", 0], conditioning=["6", 0])
    graph = with_nodes(FLUX, n22=guider)
    assert scales(read(tmp_path, graph).request) == (3.5, 1.0)
    schnell = node("UNETLoader", unet_name="flux1-schnell.safetensors", weight_dtype="default")
    assert scales(read(tmp_path, with_nodes(graph, n4=schnell)).request) == (1.0, 1.0)
    whole = with_nodes(
        TEXT_TO_PICTURE, n4=node("CheckpointLoaderSimple", ckpt_name="flux1-dev-fp8.safetensors")
    )
    assert scales(read(tmp_path, with_inputs(whole, "3", cfg=1.0)).request) == (3.5, 1.0)
    assert scales(read(tmp_path, with_inputs(whole, "3", cfg=6.0)).request) == (6.0, 1.0)


def test_fluxs_own_encoder_has_guidance_and_the_words_of_t5(tmp_path: Path) -> None:
    encoder = node(
        "CLIPTextEncodeFlux", clip_l="red", t5xxl="a red house", guidance=4.0, clip=["33", 0]
    )
    guider = node("BasicGuider", model=["4", 0], conditioning=["6", 0])
    request = read(tmp_path, with_nodes(FLUX, n6=encoder, n22=guider)).request
    assert (request.prompt, scales(request)) == ("a red house", (4.0, 1.0))


def test_a_custom_sampler_with_a_basic_scheduler_is_read(tmp_path: Path) -> None:
    graph = with_nodes(
        CUSTOM,
        n13=node(
            "SamplerCustom",
            add_noise=True,
            noise_seed=7,
            cfg=6.0,
            model=["4", 0],
            positive=["6", 0],
            negative=["7", 0],
            sampler=["16", 0],
            sigmas=["17", 0],
            latent_image=["5", 0],
        ),
        n16=node("KSamplerSelect", sampler_name="dpmpp_2m"),
        n17=node("BasicScheduler", model=["4", 0], scheduler="sgm_uniform", steps=9, denoise=1.0),
    )
    found = read(tmp_path, graph)
    request = found.request
    assert (request.sampler, request.schedule) == ("dpmpp_2m", "sgm_uniform")
    assert (request.steps, request.seed, request.guidance) == (9, 7, 6.0)
    assert found.unmapped == ()


def test_changed_sigmas_give_a_warning(tmp_path: Path) -> None:
    graph = with_nodes(CUSTOM, n18=node("SplitSigmas", sigmas=["17", 0], step=5))
    graph = with_inputs(graph, "13", sigmas=["18", 0])
    found = read(tmp_path, graph)
    assert found.request.steps == 12
    assert "Not taken over: SplitSigmas." in found.warnings


@pytest.mark.parametrize(
    ("name", "sampler", "source"),
    [
        ("dpmpp_sde", "dpmpp_sde", RandomSource.CPU),
        ("dpmpp_3m_sde_gpu", "dpmpp_3m_sde", RandomSource.CUDA),
        ("dpm_2_ancestral", "dpm2_a", RandomSource.CUDA),
        ("ddim", "ddim", RandomSource.CUDA),
    ],
)
def test_only_sde_samplers_without_gpu_draw_on_the_processor(
    tmp_path: Path, name: str, sampler: str, source: RandomSource
) -> None:
    graph = with_inputs(TEXT_TO_PICTURE, "3", sampler_name=name)
    request = read(tmp_path, graph).request
    assert request.sampler == sampler
    convention: Convention = convention_of(request.convention)
    assert convention.step_source is source
    assert convention.discards_next_to_last == (
        CONVENTIONS[ConventionName.COMFY].discards_next_to_last
    )


def test_values_are_followed_through_nodes_that_hold_them(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n20=node("PrimitiveInt", value=31),
        n21=node("Seed (rgthree)", seed=99),
        n22=node("PrimitiveStringMultiline", value="words\nof a node"),
        n23=node("ShowText|pysssss", text=["22", 0], text_0="shown"),
    )
    graph = with_inputs(graph, "3", steps=["20", 0], seed=["21", 0])
    graph = with_inputs(graph, "6", text=["23", 0])
    request = read(tmp_path, graph).request
    assert (request.steps, request.seed, request.prompt) == (31, 99, "words\nof a node")


def with_prompt_of(text: dict[str, Any], **nodes: dict[str, Any]) -> Graph:
    """The default workflow with its prompt's text from a node."""
    return with_inputs(with_nodes(TEXT_TO_PICTURE, n50=text, **nodes), "6", text=["50", 0])


BOX = {"n51": node("Text Multiline", text=" of stone "), "n52": node("DF_Text_Box", Text="sky")}


@pytest.mark.parametrize(
    ("joined", "words"),
    [
        (node("StringConcatenate", string_a="a", string_b="b", delimiter=", "), "a, b"),
        (
            node("Text Concatenate", delimiter=", ", clean_whitespace="true",
                 text_a="house", text_b=["51", 0], text_c="", text_d=["52", 0]),
            "house, of stone, sky",
        ),
        (
            node("Text Concatenate", delimiter="\\n", clean_whitespace="false",
                 text_b=["51", 0], text_a=["52", 0]),
            "sky\n of stone ",
        ),
        (node("Text Concatenate", linebreak_addition="true", text_a="a", text_b="b"), "a\nb"),
        (node("Text Concatenate", linebreak_addition="false", text_a="a", text_b="b"), "ab"),
        (node("JoinStrings", string1="a", string2="b", delimiter=" + "), "a + b"),
        (node("CR Text Concatenate", text1="a", text2="b", separator="-"), "a-b"),
        (node("DF_Text_Box", Text="alone"), "alone"),
        (node("easy positive", positive="alone"), "alone"),
        (node("ImpactWildcardProcessor", wildcard_text="{a|b}", populated_text="b", seed=4), "b"),
    ],
)  # fmt: skip
def test_texts_that_nodes_hold_and_join_are_read(
    tmp_path: Path, joined: dict[str, Any], words: str
) -> None:
    found = read(tmp_path, with_prompt_of(joined, **BOX))
    assert found.request.prompt == words
    assert not any("prompt" in warning for warning in found.warnings)


def test_the_number_of_an_output_selects_its_text(tmp_path: Path) -> None:
    strings = node("Text String", text="one", text_b="two", text_c="", text_d="")
    graph = with_inputs(with_prompt_of(strings), "6", text=["50", 1])
    assert read(tmp_path, graph).request.prompt == "two"
    for nothing in (4, -9):
        graph = with_inputs(with_prompt_of(strings), "6", text=["50", nothing])
        assert read(tmp_path, graph).request.prompt == ""


def test_a_text_that_a_node_may_have_changed_gives_a_warning(tmp_path: Path) -> None:
    drawn = node("Text Random Line", seed=4, text=["51", 0])
    found = read(tmp_path, with_prompt_of(drawn, **BOX))
    assert found.warnings[0] == (
        "Its prompt went through nodes that may have changed it: Text Random Line."
    )


def test_a_prompt_of_unknown_nodes_gives_a_warning_with_their_names(tmp_path: Path) -> None:
    found = read(tmp_path, with_prompt_of(node("Oracle", question="?")))
    assert found.request.prompt == ""
    assert found.warnings[0] == "Its prompt was made by nodes that are not understood: Oracle."


def test_a_text_that_is_joined_with_itself_ends(tmp_path: Path) -> None:
    joined = node("StringConcatenate", string_a=["50", 0], string_b=["50", 0], delimiter="")
    assert read(tmp_path, with_prompt_of(joined)).request.prompt == ""
    doubling = {
        f"n{number}": node(
            "StringConcatenate", string_a=[str(number + 1), 0], string_b=[str(number + 1), 0]
        )
        for number in range(50, 120)
    }
    graph = with_nodes(TEXT_TO_PICTURE, **doubling, n120=node("PrimitiveString", value="x"))
    read(tmp_path, with_inputs(graph, "6", text=["50", 0]))


def test_conditioning_is_followed_to_its_first_text(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n20=node("CLIPTextEncode", text="of the sky", clip=["4", 1]),
        n21=node("ConditioningCombine", conditioning_1=["6", 0], conditioning_2=["20", 0]),
        n22=node("ConditioningSetTimestepRange", conditioning=["21", 0], start=0.0, end=0.5),
        n23=node("ConditioningZeroOut", conditioning=["6", 0]),
    )
    graph = with_inputs(graph, "3", positive=["22", 0], negative=["23", 0])
    found = read(tmp_path, graph)
    assert (found.request.prompt, found.request.negative_prompt) == ("a red house, (sea:1.2)", "")
    assert found.warnings[-1] == (
        "Not taken over: ConditioningSetTimestepRange, ConditioningCombine, ConditioningZeroOut."
    )


def test_a_pair_of_conditionings_keeps_its_places(tmp_path: Path) -> None:
    control = node(
        "ControlNetApplyAdvanced",
        positive=["6", 0],
        negative=["7", 0],
        strength=1.0,
        image=["30", 0],
    )
    graph = with_nodes(TEXT_TO_PICTURE, n20=control)
    graph = with_inputs(graph, "3", positive=["20", 0], negative=["20", 1])
    found = read(tmp_path, graph)
    assert (found.request.prompt, found.request.negative_prompt) == (
        "a red house, (sea:1.2)",
        "watermark",
    )
    assert found.request.controls == (ControlLayer(image=""),)


@pytest.mark.parametrize(("words", "is_said"), [("a house", False), ("other", True)])
def test_different_texts_of_one_encoder_give_a_warning(
    tmp_path: Path, words: str, is_said: bool
) -> None:
    encoder = node("CLIPTextEncodeSDXL", text_g="a house", text_l=words, clip=["4", 1], width=1024)
    found = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n6=encoder))
    assert found.request.prompt == "a house"
    assert ("Not taken over: CLIPTextEncodeSDXL." in found.warnings) == is_said


def test_loras_and_skipped_layers_are_found_on_the_way(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n20=node(
            "LoraLoader",
            lora_name="ink.safetensors",
            strength_model=0.8,
            strength_clip=1.0,
            model=["4", 0],
            clip=["4", 1],
        ),
        n21=node("CLIPSetLastLayer", stop_at_clip_layer=-2, clip=["20", 1]),
        n22=node(
            "Power Lora Loader (rgthree)",
            lora_1={"on": True, "lora": "b.safetensors", "strength": 0.5},
            lora_2={"on": False, "lora": "c.safetensors", "strength": 1},
            model=["20", 0],
        ),
        n23=node("PatchModelAddDownscale", model=["22", 0], block_number=3),
    )
    graph = with_inputs(with_inputs(graph, "6", clip=["21", 0]), "3", model=["23", 0])
    found = read(tmp_path, graph)
    assert found.request.clip_skip == 2
    assert found.warnings[1:] == ("Not taken over: PatchModelAddDownscale.",)


def test_only_the_first_of_two_passes_is_read(tmp_path: Path) -> None:
    second = with_inputs(TEXT_TO_PICTURE, "3", latent_image=["40", 0], denoise=0.5, seed=5)["3"]
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n40=node("LatentUpscale", samples=["3", 0], width=1024, height=1536, crop="disabled"),
        n41=second,
        n8=node("VAEDecode", samples=["41", 0], vae=["4", 2]),
    )
    found = read(tmp_path, graph)
    assert found.request == EXPECTED
    assert "It was sampled 2 times over; only the first pass is taken over." in found.warnings
    assert found.warnings[-1] == "Not taken over: KSampler."


def test_changes_of_the_finished_picture_give_a_warning(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n40=node("ImageUpscaleWithModel", upscale_model=["41", 0], image=["8", 0]),
        n41=node("UpscaleModelLoader", model_name="4x.pth"),
        n9=node("SaveImage", filename_prefix="x", images=["40", 0]),
    )
    sharpened = with_nodes(
        graph,
        n42=node("ImageSharpen", image=["40", 0], alpha=1.0),
        n9=node("SaveImage", filename_prefix="x", images=["42", 0]),
    )
    found = read(tmp_path, sharpened)
    assert found.warnings[1:] == (
        'It was enlarged with "4x.pth" after it was made; use Upscale on the picture for that.',
        "Not taken over: ImageSharpen.",
    )
    assert read(tmp_path, graph).unmapped == ()


def test_the_sampler_that_leads_to_the_saved_picture_counts(tmp_path: Path) -> None:
    other = with_inputs(TEXT_TO_PICTURE, "3", seed=1, latent_image=["5", 0])["3"]
    graph = {
        "1": other,
        "2": node("VAEDecode", samples=["1", 0], vae=["4", 2]),
        "10": node("PreviewImage", images=["2", 0]),
        **TEXT_TO_PICTURE,
    }
    assert read(tmp_path, graph).request.seed == 156680208700286


def test_an_initial_picture_gives_a_warning(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n10=node("LoadImage", image="in.png", upload="image"),
        n11=node("VAEEncode", pixels=["10", 0], vae=["4", 2]),
    )
    found = read(tmp_path, with_inputs(graph, "3", latent_image=["11", 0], denoise=0.6))
    assert found.request.strength == 0.6
    assert (found.request.width, found.request.height) == (None, None)
    assert "It was made from another picture, which is not in the file." in found.warnings


def test_the_place_in_a_batch_is_read(tmp_path: Path) -> None:
    graph = with_inputs(TEXT_TO_PICTURE, "5", batch_size=4)
    found = read(tmp_path, graph)
    assert "It is one of 4 pictures drawn from one seed; the first of them is made." in (
        found.warnings
    )
    graph = with_nodes(
        graph, n10=node("LatentFromBatch", samples=["5", 0], batch_index=2, length=1)
    )
    found = read(tmp_path, with_inputs(graph, "3", latent_image=["10", 0]))
    assert found.request.seed_options.batch_index == 2
    graph = with_inputs(graph, "10", batch_index=1025)
    found = read(tmp_path, with_inputs(graph, "3", latent_image=["10", 0]))
    assert found.request.seed_options.batch_index == 0
    assert '"batch_index: 1025" was not taken over.' in found.warnings
    assert not any("one seed" in warning for warning in found.warnings)


def test_running_only_some_steps_gives_a_warning(tmp_path: Path) -> None:
    inputs = TEXT_TO_PICTURE["3"]["inputs"]
    advanced = node(
        "KSamplerAdvanced",
        noise_seed=inputs["seed"],
        **{key: value for key, value in inputs.items() if key not in ("seed", "denoise")},
        add_noise="enable",
        start_at_step=0,
        end_at_step=10000,
        return_with_leftover_noise="disable",
    )
    found = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n3=advanced))
    assert found.request == EXPECTED
    assert found.unmapped == ()
    graph = with_inputs(with_nodes(TEXT_TO_PICTURE, n3=advanced), "3", start_at_step=5)
    assert "Not taken over: start_at_step." in read(tmp_path, graph).warnings


def test_loaders_of_extensions_hold_prompts_themselves(tmp_path: Path) -> None:
    loader = node(
        "Efficient Loader", ckpt_name="x.ckpt", positive="good", negative="bad", clip_skip=-2
    )
    graph = with_nodes(TEXT_TO_PICTURE, n4=loader)
    graph = with_inputs(graph, "3", positive=["4", 1], negative=["4", 2], model=["4", 0])
    request = read(tmp_path, graph).request
    assert (request.prompt, request.negative_prompt) == ("good", "bad")
    assert request.clip_skip == 2


def test_a_loader_that_makes_the_latent_tells_its_size_and_no_vae(tmp_path: Path) -> None:
    loader = node(
        "Efficient Loader",
        ckpt_name="x.ckpt",
        vae_name="Baked VAE",
        clip_skip=-2,
        positive="good",
        negative="bad",
        empty_latent_width=640,
        empty_latent_height=896,
        batch_size=1,
    )
    links = {"positive": ["4", 1], "negative": ["4", 2], "model": ["4", 0]}
    graph = with_inputs(with_nodes(TEXT_TO_PICTURE, n4=loader), "3", latent_image=["4", 3], **links)
    found = read(tmp_path, graph)
    request = found.request
    assert (request.width, request.height, request.clip_skip) == (640, 896, 2)
    # Nodes that read prompts by rules of their own are told of.
    assert found.warnings == (
        'It was made with the model "x.ckpt"; choose it to match.',
        "Not taken over: Efficient Loader.",
    )


def test_the_size_of_a_picture_is_not_a_start_from_that_picture(tmp_path: Path) -> None:
    """The latent of a control map's size is empty; a ControlNet of a loader starts nothing."""
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n5=node("EmptyLatentImage", width=["50", 0], height=["50", 1], batch_size=1),
        n50=node("GetImageSize+", image=["51", 0]),
        n51=node("LoadImage", image="pose.png"),
    )
    found = read(tmp_path, graph)
    assert found.request.strength is None
    assert "Its size was not found in its graph." in found.warnings
    assert not any("from another picture" in warning for warning in found.warnings)
    loader = node(
        "Efficient Loader",
        ckpt_name="x.ckpt",
        positive="good",
        negative="bad",
        empty_latent_width=640,
        empty_latent_height=896,
        cnet_stack=["50", 0],
    )
    stack = node("Control Net Stacker", image=["51", 0])
    graph = with_nodes(graph, n4=loader, n50=stack)
    request = read(tmp_path, with_inputs(graph, "3", latent_image=["4", 3])).request
    assert (request.width, request.height, request.strength) == (640, 896, None)


RATIO = {"width": 1024, "height": 640, "upscale_factor": 1.0, "batch_size": 1}


@pytest.mark.parametrize(
    ("ratio", "swap", "scale", "size"),
    [
        ("3:4 portrait 896x1152", "Off", 1.0, (896, 1152)),
        ("SDXL - 3:4 portrait 896x1152", "On", 1.0, (1152, 896)),
        ("SD1.5 - 2:3 portrait 512x768", "Off", 1.5, (768, 1152)),
        ("custom", "Off", 1.0, (1024, 640)),
        ("custom", "On", 1.0, (640, 1024)),
    ],
)
def test_the_aspect_ratio_of_comfyroll_is_the_size(
    tmp_path: Path, ratio: str, swap: str, scale: float, size: tuple[int, int]
) -> None:
    chosen = node(
        "CR Aspect Ratio",
        **RATIO,
        aspect_ratio=ratio,
        swap_dimensions=swap,
        prescale_factor=scale,
    )
    found = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n5=chosen))
    assert (found.request.width, found.request.height) == size
    assert found.unmapped == ()
    for first, second in ((0, 1), (1, 0)):
        empty = node("EmptyLatentImage", width=["50", first], height=["50", second], batch_size=1)
        request = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n5=empty, n50=chosen)).request
        assert (request.width, request.height) == (size[first], size[second])


def test_a_size_may_be_told_after_its_shape(tmp_path: Path) -> None:
    latent = node("LatentImageMango", dimensions="3:4 portrait 896x1152")
    request = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n5=latent)).request
    assert (request.width, request.height) == (896, 1152)


def test_a_loader_names_the_checkpoint_beside_its_picture(tmp_path: Path) -> None:
    name = {"content": "sd15\\dream.safetensors", "image": None}
    loader = node("CheckpointLoader|pysssss", ckpt_name=name)
    found = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n4=loader))
    assert (found.model, found.unmapped) == ("sd15\\dream.safetensors", ())


def test_the_written_out_prompt_of_impacts_encoder_is_read(tmp_path: Path) -> None:
    encoder = node(
        "ImpactWildcardEncode",
        model=["4", 0],
        clip=["4", 1],
        wildcard_text="a {cat|dog}",
        populated_text="a cat",
        mode="populate",
        seed=5,
    )
    graph = with_nodes(TEXT_TO_PICTURE, n6=encoder)
    found = read(tmp_path, with_inputs(graph, "3", model=["6", 0], positive=["6", 2]))
    assert found.request.prompt == "a cat"
    assert found.model == "sd15\\dream.safetensors"


def test_unknown_samplers_and_schedules_give_a_warning(tmp_path: Path) -> None:
    graph = with_inputs(TEXT_TO_PICTURE, "3", sampler_name="res_2m", scheduler="bong_tangent")
    found = read(tmp_path, graph)
    assert (found.request.sampler, found.request.schedule) == (None, None)
    assert found.warnings[:2] == (
        '"sampler_name: res_2m" was not taken over.',
        '"scheduler: bong_tangent" was not taken over.',
    )


def no_request(folder: Path, graph: TextChunk) -> None:
    with pytest.raises(EngineError) as caught:
        imported(folder, graph)
    assert caught.value.code is ErrorCode.METADATA_MISSING


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "null",
        '{"1": 5, "2": {"class_type": 5}, "3": {"class_type": "KSampler"}}',
        '{"1": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}}}',
        '{"1": {"class_type": "SaveImage", "inputs": {"images": ["nowhere", 0]}}}',
        '{"1": {"class_type": "SaveImage", "inputs": {"images": [[], {}]}}}',
        '{"prompt": {"1": {"class_type": "SaveImage"}}}',
    ],
)
def test_graphs_without_a_sampler_are_no_request(tmp_path: Path, text: str) -> None:
    no_request(tmp_path, TextChunk("prompt", text))


def test_a_graph_with_cycles_is_read(tmp_path: Path) -> None:
    graph = with_inputs(TEXT_TO_PICTURE, "3", latent_image=["8", 0], model=["20", 0])
    graph = with_nodes(
        graph,
        n20=node("LoraLoader", lora_name="x", strength_model=1, model=["20", 0]),
        n21=node("ConditioningCombine", conditioning_1=["21", 0], conditioning_2=["21", 0]),
        n22=node("PrimitiveInt", value=["22", 0]),
    )
    graph = with_inputs(graph, "3", positive=["21", 0], steps=["22", 0])
    request = read(tmp_path, graph).request
    assert (request.prompt, request.steps, request.seed) == ("", None, 156680208700286)


# Quadratic work would take minutes.
@pytest.mark.timeout(60)
def test_huge_graphs_take_linear_time(tmp_path: Path) -> None:
    chain: Graph = {
        str(number): node("KSampler", latent_image=[str(number - 1), 0], sampler_name="", steps=1)
        for number in range(20_000)
    }
    saves: Graph = {f"s{number}": node("SaveImage", images=["s0", 0]) for number in range(20_000)}
    assert "times over" in " ".join(read(tmp_path, chain).warnings)
    no_request(tmp_path, prompt(saves))


ANY_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
LINKS = st.tuples(st.sampled_from(sorted(TEXT_TO_PICTURE)), st.integers(0, 2)).map(list)


@settings(deadline=None)
@given(
    changes=st.lists(
        st.tuples(
            st.sampled_from(sorted(CUSTOM)),
            st.sampled_from(
                ["latent_image", "model", "positive", "text", "steps", "cfg", "samples", "clip",
                 "sigmas", "sampler", "guider", "width", "denoise", "eta", "lora_name"]
            ),
            st.one_of(ANY_JSON, LINKS),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_any_inputs_give_a_request_within_bounds(changes: list[tuple[str, str, object]]) -> None:
    graph = CUSTOM
    for name, key, value in changes:
        graph = with_inputs(graph, name, **{key: value})
    found = recognise((prompt(graph),))
    if found is None:
        # The sampler was cut off.
        assert any(key in ("samples", "sampler", "sigmas") for _, key, _ in changes)
        return
    assert found.request.steps is None or 1 <= found.request.steps <= 1000
    assert found.request.guidance is None or 0 <= found.request.guidance <= 100
    assert all(warning.isprintable() for warning in found.warnings)


PIPED = with_nodes(
    TEXT_TO_PICTURE,
    n20=node(
        "ToBasicPipe",
        model=["4", 0],
        clip=["4", 1],
        vae=["4", 2],
        positive=["6", 0],
        negative=["7", 0],
    ),
    n21=node("FromBasicPipe", basic_pipe=["20", 0]),
    n3=with_inputs(TEXT_TO_PICTURE, "3", model=["21", 0], positive=["21", 3], negative=["21", 4])[
        "3"
    ],
)


def test_a_role_keeps_its_name_through_a_pipe(tmp_path: Path) -> None:
    """A pipe's outputs are numbered otherwise than those of a pair."""
    found = read(tmp_path, PIPED)
    assert found.request == EXPECTED
    assert found.unmapped == ()


def test_a_role_is_found_in_a_sampler_that_takes_a_pipe(tmp_path: Path) -> None:
    inputs = TEXT_TO_PICTURE["3"]["inputs"]
    apart = ("model", "positive", "negative")
    piped = node(
        "ImpactKSamplerBasicPipe",
        basic_pipe=["20", 0],
        **{key: value for key, value in inputs.items() if key not in apart},
    )
    request = read(tmp_path, with_nodes(PIPED, n3=piped)).request
    assert (request.prompt, request.negative_prompt) == (EXPECTED.prompt, EXPECTED.negative_prompt)


@pytest.mark.parametrize("names", ["{}", "opt_{}", "base_{}", "{}_1"])
def test_a_role_is_followed_by_the_names_of_inputs(tmp_path: Path, names: str) -> None:
    """Whatever the numbers of the outputs are."""
    applied = node(
        "CR Apply Multi-ControlNet",
        **{names.format("negative"): ["7", 0], names.format("positive"): ["6", 0]},
    )
    loaded = node(
        "Lora Loader Stack (rgthree)",
        lora_01="None",
        **{names.format("model"): ["4", 0], names.format("clip"): ["24", 0]},
    )
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n22=applied,
        n23=loaded,
        n24=node("CLIPSetLastLayer", stop_at_clip_layer=-2, clip=["4", 1]),
    )
    graph = with_inputs(graph, "3", model=["23", 0], positive=["22", 4], negative=["22", 0])
    graph = with_inputs(graph, "6", clip=["23", 1])
    found = read(tmp_path, graph)
    assert (found.request.prompt, found.request.negative_prompt) == (
        EXPECTED.prompt,
        EXPECTED.negative_prompt,
    )
    assert found.request.clip_skip == 2
    assert any("sd15\\dream.safetensors" in warning for warning in found.warnings)


def test_an_upscale_model_is_not_the_samplers_model(tmp_path: Path) -> None:
    patched = node("Tiled", upscale_model=["26", 0], clip_vision=["26", 0], other=["4", 0])
    graph = with_nodes(TEXT_TO_PICTURE, n25=patched, n26=node("Upscaler", ckpt_name="wrong.pth"))
    found = read(tmp_path, with_inputs(graph, "3", model=["25", 0]))
    assert not any("wrong.pth" in warning for warning in found.warnings)


def test_a_size_in_words_is_read(tmp_path: Path) -> None:
    empty = node(
        "SDXL Empty Latent Image (rgthree)",
        dimensions="1216 x 832 (landscape)",
        clip_scale=2.0,
        batch_size=1,
    )
    found = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n5=empty))
    assert (found.request.width, found.request.height) == (1216, 832)


def saving_two(first: str, second: str) -> Graph:
    """Two samplers, each with a node that saves its picture."""
    return with_nodes(
        TEXT_TO_PICTURE,
        n9=node("SaveImage", filename_prefix=first, images=["8", 0]),
        n30=with_inputs(TEXT_TO_PICTURE, "3", seed=2)["3"],
        n31=node("VAEDecode", samples=["30", 0], vae=["4", 2]),
        n32=node("SaveImage", filename_prefix=second, images=["31", 0]),
    )


GUESSED = (
    "Its graph saves several pictures, and neither the file's name nor its size tells which of "
    "them it is; one is taken."
)


@pytest.mark.parametrize(
    ("prefixes", "name", "seed"),
    [
        (("base", "hires"), "hires_00005_.png", 2),
        (("base", "hires"), "base_00005_.png", 156680208700286),
        (("a/img", "b\\img-2"), "img-2_00001_.png", 2),
        (("img", "img2"), "img2_00001_.png", 2),
        (("x", "%date:yyyy%/new-%seed%"), "new-5_00001_.png", 2),
    ],
)
def test_the_files_name_tells_which_of_several_pictures_it_is(
    tmp_path: Path, prefixes: tuple[str, str], name: str, seed: int
) -> None:
    path = tmp_path / name
    path.write_bytes(insert_text_chunks(PNG, (prompt(saving_two(*prefixes)),)))
    found = read_request(path)
    assert found.request.seed == seed
    assert GUESSED not in found.warnings


@pytest.mark.parametrize("prefixes", [("base", "hires"), ("pic", "pic"), ("", "%seed%")])
def test_an_unknown_one_of_several_pictures_gives_a_warning(
    tmp_path: Path, prefixes: tuple[str, str]
) -> None:
    """The file is called picture.png."""
    found = read(tmp_path, saving_two(*prefixes))
    assert found.request.seed == 156680208700286
    assert GUESSED in found.warnings


def test_several_pictures_of_one_sampler_are_not_ambiguous(tmp_path: Path) -> None:
    again = node("SaveImage", filename_prefix="again", images=["8", 0])
    assert GUESSED not in read(tmp_path, with_nodes(TEXT_TO_PICTURE, n33=again)).warnings


def test_other_forms_of_exif_texts_are_read(tmp_path: Path) -> None:
    """Save Image Extended with capitals, SaveImagePlus an object of both."""
    graph = json.dumps(TEXT_TO_PICTURE)
    extended = exif({0x010F: (2, f"Prompt: {graph}\0".encode())}, {}, "<")
    plus = user_comment(f'{{"prompt": {graph}, "workflow": {{}}}}')
    for number, data in enumerate((extended, plus)):
        path = tmp_path / f"{number}.jpg"
        path.write_bytes(jpeg((0xE1, b"Exif\0\0" + data)))
        assert read_request(path).request == EXPECTED


def test_a_node_that_redraws_a_part_is_read_without_another_sampler(tmp_path: Path) -> None:
    detailer = node(
        "FaceDetailer",
        seed=9, steps=12, cfg=6.0, sampler_name="euler", scheduler="karras", denoise=0.4,
        image=["40", 0], model=["4", 0], clip=["4", 1], positive=["6", 0], negative=["7", 0],
    )  # fmt: skip
    graph = {key: value for key, value in TEXT_TO_PICTURE.items() if key not in ("3", "5", "8")}
    graph |= {"40": node("LoadImage", image="a.png"), "41": detailer}
    found = read(tmp_path, with_inputs(graph, "9", images=["41", 0]))
    assert (found.request.seed, found.request.strength) == (9, 0.4)
    assert found.request.prompt == EXPECTED.prompt
    assert any("FaceDetailer" in warning for warning in found.warnings)
    assert "It was made from another picture, which is not in the file." in found.warnings


def test_a_sampler_comes_before_a_node_that_redraws_a_part(tmp_path: Path) -> None:
    detailer = node(
        "FaceDetailer", seed=9, steps=12, cfg=6.0, sampler_name="euler", scheduler="karras",
        image=["8", 0],
    )  # fmt: skip
    graph = with_inputs(with_nodes(TEXT_TO_PICTURE, n41=detailer), "9", images=["41", 0])
    assert read(tmp_path, graph).request == EXPECTED


SEARGE: Graph = {
    "1": node("SeargeTextInputV2", prompt="a dragon"),
    "2": node("SeargeTextInputV2", prompt="mud"),
    "3": node("SeargePromptAdapterV2", main_prompt=["1", 0], negative_main_prompt=["2", 0]),
    "4": node(
        "SeargeGenerationParameters",
        seed=7, image_size_preset="832x1216 (2:3)", image_width=1024, image_height=1024, steps=30,
        cfg=4.0, sampler_preset="4 - DPM++ 3M SDE Exp", sampler_name="dpmpp_2m",
        scheduler="karras", base_vs_refiner_ratio=0.8, data=["3", 0],
    ),
    "5": node("SeargeModelSelector", base_checkpoint="xl.safetensors", data=["4", 0]),
}  # fmt: skip


def test_the_settings_of_searges_nodes_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, SEARGE)
    request = found.request
    assert (request.prompt, request.negative_prompt) == ("a dragon", "mud")
    assert (request.sampler, request.schedule) == ("dpmpp_3m_sde", "exponential")
    assert (request.width, request.height, request.steps) == (832, 1216, 30)
    assert (request.seed, request.guidance) == (7, 4.0)
    assert any("stages of their own" in warning for warning in found.warnings)
    plain = with_inputs(
        SEARGE, "4", sampler_preset="none - use sampler_name", image_size_preset="custom size"
    )
    request = read(tmp_path, plain).request
    assert (request.sampler, request.schedule, request.width) == ("dpmpp_2m", "karras", 1024)


def searge(folder: Path, **files: str) -> ImportedRequest:
    chosen = node("SeargeModelSelector", base_checkpoint="xl.safetensors", data=["4", 0], **files)
    return read(folder, with_nodes(SEARGE, n5=chosen))


def test_searges_choices_in_place_of_files_are_none(tmp_path: Path) -> None:
    found = searge(tmp_path, refiner_checkpoint="none", vae_checkpoint="from base model")
    assert found.request.refiner is None
    assert not any("none" in told or "from base" in told for told in found.warnings)
    whole = searge(tmp_path, refiner_checkpoint="refiner.safetensors", vae_checkpoint="soft.pt")
    assert whole.request.refiner == RefinerChoice(switch_at=0.8)
    assert whole.warnings[:3] == (
        'It was made with the model "xl.safetensors"; choose it to match.',
        'It was refined with the model "refiner.safetensors"; choose it to match.',
        'It was made with the VAE "soft.pt"; choose it to match.',
    )


def test_searges_redrawn_pictures_have_a_strength(tmp_path: Path) -> None:
    def redrawn(mode: str) -> ImportedRequest:
        graph = with_nodes(
            with_inputs(SEARGE, "4", image_size_preset="from source image"),
            n6=node("SeargeOperatingMode", workflow_mode=mode, data=["5", 0]),
            n7=node("SeargeImage2ImageAndInpainting", denoise=0.4, data=["6", 0]),
        )
        return read(tmp_path, graph)

    request = redrawn("image-to-image").request
    assert (request.strength, request.width) == (0.4, None)
    assert redrawn("text-to-image").request.strength is None


def test_a_prompt_for_smzs_encoder_is_read_as_a1111_does(tmp_path: Path) -> None:
    encoder = node("smZ CLIPTextEncode", text="[a|b] ((c))", parser="A1111", clip=["4", 1])
    found = read(tmp_path, with_nodes(TEXT_TO_PICTURE, n6=encoder))
    convention = convention_of(found.request.convention)
    assert convention.grammar is PromptGrammar.A1111
    assert convention.emphasis is Emphasis.ORIGINAL
    assert PromptFeature.COMMENTS not in convention.prompt_features
    assert convention.random_source is RandomSource.CPU
    comfy = with_inputs(with_nodes(TEXT_TO_PICTURE, n6=encoder), "6", parser="comfy")
    assert read(tmp_path, comfy).request.convention is ConventionName.COMFY


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        (TextChunk("workflow", '{"nodes": []}'), "holds a ComfyUI workflow, but not the graph"),
        (prompt({"1": node("SaveImage")}), "holds a ComfyUI graph without a sampler that is known"),
        (TextChunk("Comment", "x"), "does not say how it was made"),
    ],
)
def test_the_error_names_what_is_missing(tmp_path: Path, chunk: TextChunk, words: str) -> None:
    with pytest.raises(EngineError) as caught:
        imported(tmp_path, chunk)
    assert words in caught.value.message


def workflow_node(
    number: int, kind: str, values: list[Any], mode: int = 0, **links: tuple[int, str]
) -> dict[str, Any]:
    """A node of the window: values without names, inputs with the number of a link and a type."""
    inputs = [{"name": name, "link": link, "type": type_} for name, (link, type_) in links.items()]
    outputs = [{"name": "out", "type": "MODEL"}, {"type": "CLIP"}, {"type": "VAE"}]
    return {
        "id": number,
        "type": kind,
        "mode": mode,
        "inputs": inputs,
        "outputs": outputs,
        "widgets_values": values,
    }


WORKFLOW: dict[str, list[Any]] = {
    "nodes": [
        workflow_node(4, "CheckpointLoaderSimple", ["sd15\\dream.safetensors"]),
        workflow_node(10, "LoraLoader", ["ink", 1, 1], 4, model=(9, "MODEL"), clip=(10, "CLIP")),
        workflow_node(6, "CLIPTextEncode", ["a red house, (sea:1.2)"], clip=(2, "CLIP")),
        workflow_node(7, "CLIPTextEncode", ["watermark"], clip=(2, "CLIP")),
        workflow_node(5, "EmptyLatentImage", [512, 768, 1]),
        workflow_node(
            3,
            "KSampler",
            [156680208700286, "randomize", 20, 8.0, "euler", "normal", 1.0],
            model=(1, "MODEL"),
            positive=(3, "CONDITIONING"),
            negative=(4, "CONDITIONING"),
            latent_image=(5, "LATENT"),
        ),
        workflow_node(8, "VAEDecode", [], samples=(6, "LATENT"), vae=(7, "VAE")),
        workflow_node(9, "SaveImage", ["ComfyUI"], images=(8, "IMAGE")),
        workflow_node(11, "SaveImage", ["off"], 2, images=(8, "IMAGE")),
    ],
    "links": [
        [1, 10, 0, 3, 0, "MODEL"],
        [2, 10, 1, 6, 0, "CLIP"],
        [3, 6, 0, 3, 1, "CONDITIONING"],
        [4, 7, 0, 3, 2, "CONDITIONING"],
        [5, 5, 0, 3, 3, "LATENT"],
        [6, 3, 0, 8, 0, "LATENT"],
        [7, 4, 2, 8, 1, "VAE"],
        [8, 8, 0, 9, 0, "IMAGE"],
        [9, 4, 0, 10, 0, "MODEL"],
        [10, 4, 1, 10, 1, "CLIP"],
    ],
}


def test_a_workflow_alone_is_read_with_a_warning(tmp_path: Path) -> None:
    found = imported(tmp_path, TextChunk("workflow", json.dumps(WORKFLOW)))
    assert found.request == EXPECTED
    assert found.warnings == (
        'It was made with the model "sd15\\dream.safetensors"; choose it to match.',
        "It holds a workflow, not the graph that was run: what was set by chance or changed "
        "since is another.",
    )


def test_a_workflow_is_read_through_nodes_of_the_window_alone(tmp_path: Path) -> None:
    """Reroutes, and nodes that set and get a value by its name."""
    nodes: list[dict[str, Any]] = WORKFLOW["nodes"]
    passing = [
        workflow_node(30, "LoraLoader", ["ink", 0.5, 0.4], model=(20, "MODEL"), clip=(21, "CLIP")),
        workflow_node(31, "Reroute", [], model=(22, "*")),
        workflow_node(32, "SetNode", ["words"], clip=(23, "CLIP")),
        workflow_node(33, "GetNode", ["words"]),
    ]
    passed = [
        [20, 4, 0, 30, 0, "MODEL"],
        [21, 4, 1, 30, 1, "CLIP"],
        [22, 30, 0, 31, 0, "MODEL"],
        [23, 30, 1, 32, 0, "CLIP"],
    ]
    origins = {1: [31, 0], 2: [33, 0]}
    links = [
        [link[0], *(origins[link[0]] if link[0] in origins else link[1:3]), *link[3:]]
        for link in WORKFLOW["links"]
    ]

    def reading(passing: list[dict[str, Any]]) -> ImportedRequest:
        workflow = {"nodes": [nodes[0], *nodes[2:], *passing], "links": links + passed}
        return imported(tmp_path, TextChunk("workflow", json.dumps(workflow)))

    found = reading(passing)
    assert found.model == "sd15\\dream.safetensors"
    assert [(lora.file, lora.strength, lora.text_strength) for lora in found.request.loras] == [
        ("ink", 0.5, 0.4)
    ]
    assert found.unmapped == ()
    # A name that nothing sets has no value.
    request = reading(
        [passing_node for passing_node in passing if passing_node["type"] != "SetNode"]
    ).request
    assert [(lora.file, lora.text_strength) for lora in request.loras] == [("ink", 0.0)]


def test_a_common_text_comes_before_a_workflow(tmp_path: Path) -> None:
    common = TextChunk("parameters", "a\nSteps: 9, Sampler: Euler, Seed: 5")
    found = imported(tmp_path, TextChunk("workflow", json.dumps(WORKFLOW)), common)
    assert found.request.seed == 5


ODD_WORKFLOWS: list[dict[str, Any]] = [
        {"nodes": [5, {"id": 1}, {"id": {}, "inputs": 3, "widgets_values": 4}], "links": [1, [1]]},
        {"nodes": [workflow_node(1, "KSampler", [], 4, model=(1, "MODEL"))],
         "links": [[1, 1, 0, 1, 0, "MODEL"]]},
        {"nodes": WORKFLOW["nodes"], "links": [["a", 1, {}, 2, 3], [1, 10, 99, 3, 0, "MODEL"]]},
        {"nodes": WORKFLOW["nodes"], "links": [[1, 10, -9, 3, 0, "MODEL"]]},
    ]  # fmt: skip


@pytest.mark.parametrize("workflow", ODD_WORKFLOWS)
def test_any_workflow_is_read_or_refused(workflow: dict[str, Any]) -> None:
    recognise((TextChunk("workflow", json.dumps(workflow)),))


def test_values_are_followed_by_name_through_a_context(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n60=node("Context (rgthree)", model=["4", 0], seed=["61", 0], steps=7),
        n61=node("Seed (rgthree)", seed=99),
        n62=node("Context (rgthree)", base_ctx=["60", 0], positive=["6", 0], negative=["7", 0]),
        n63=node("Context (rgthree)", base_ctx=["62", 0]),
    )
    linked = {"seed": ["63", 8], "steps": ["63", 9], "positive": ["63", 4], "negative": ["63", 5]}
    request = read(tmp_path, with_inputs(graph, "3", **linked)).request
    assert (request.seed, request.steps) == (99, 7)
    assert (request.prompt, request.negative_prompt) == (EXPECTED.prompt, EXPECTED.negative_prompt)


def test_a_context_tells_its_values_by_its_outputs(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n60=node("Context Big (rgthree)", cfg=5.5, sampler="dpmpp_2m", text_pos_g="a cat"),
        n62=node("Context Big (rgthree)", base_ctx=["60", 0], seed=["61", 0], scheduler="karras"),
        n61=node("Seed (rgthree)", seed=99),
        n63=node("Context Switch Big (rgthree)", ctx_01=["62", 0]),
        n6=node("CLIPTextEncode", text=["63", 17], clip=["4", 1]),
    )
    linked = {"seed": 8, "cfg": 11, "sampler_name": 13, "scheduler": 14}
    links = {key: ["63", output] for key, output in linked.items()}
    found = read(tmp_path, with_inputs(graph, "3", **links))
    request = found.request
    assert (request.seed, request.guidance, request.prompt) == (99, 5.5, "a cat")
    assert (request.sampler, request.schedule) == (SamplerName.DPMPP_2M, ScheduleName.KARRAS)
    assert found.unmapped == ()
    # A value that no context has is none of another name.
    request = read(tmp_path, with_inputs(graph, "3", **links, steps=["63", 9])).request
    assert request.steps is None


@pytest.mark.parametrize("name", ["AYS SD1", "AYS SDXL"])
def test_aligned_steps_of_extensions_are_the_schedule(tmp_path: Path, name: str) -> None:
    request = read(tmp_path, with_inputs(TEXT_TO_PICTURE, "3", scheduler=name)).request
    assert request.schedule is ScheduleName.ALIGN_YOUR_STEPS


def test_switches_and_reroutes_are_passed(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n60=node("Any Switch (rgthree)", any_02=["4", 0], any_01=["99", 0]),
        n61=node("Reroute", **{"": ["60", 0]}),
        n62=node("ImpactSwitch", select=2, input1=["6", 0], input2=["7", 0], sel_mode=False),
        n63=node("Any Switch (rgthree)", any_01=["6", 0], any_02=["7", 0]),
        n64=node("Any Switch (rgthree)", any_01=["64", 0]),
    )
    links = {"model": ["61", 0], "positive": ["63", 0], "negative": ["62", 0]}
    assert read(tmp_path, with_inputs(graph, "3", **links)) == read(tmp_path, TEXT_TO_PICTURE)
    # A switch that leads back to itself leads nowhere.
    assert read(tmp_path, with_inputs(graph, "3", positive=["64", 0])).request.prompt == ""


def test_a_node_that_changes_a_method_is_told_of_with_the_method_read(tmp_path: Path) -> None:
    changed = with_nodes(
        CUSTOM,
        n16=node("DetailDaemonSamplerNode", sampler=["18", 0], detail_amount=0.1),
        n18=node("KSamplerSelect", sampler_name="dpmpp_2m"),
    )
    found = read(tmp_path, changed)
    assert found.request.sampler is SamplerName.DPMPP_2M
    assert "Not taken over: DetailDaemonSamplerNode." in found.warnings
    # One that leads back to itself has no method.
    looped = with_inputs(changed, "16", sampler=["16", 0])
    assert read(tmp_path, looped).request.sampler is None


def test_the_size_in_the_bundle_of_a_loader_is_read(tmp_path: Path) -> None:
    sampling = {"seed": 5, "steps": 20, "cfg": 8, "sampler_name": "euler", "scheduler": "normal"}
    loader = node(
        "easy fullLoader",
        ckpt_name="x.ckpt",
        resolution="832 x 1216",
        empty_latent_width=512,
        empty_latent_height=512,
        positive="good",
        negative="bad",
    )
    graph = {
        "1": loader,
        "2": node("easy preSampling", **sampling, denoise=1.0, pipe=["1", 0]),
        "3": node("easy kSampler", pipe=["2", 0]),
        "4": node("SaveImage", filename_prefix="x", images=["3", 1]),
    }
    request = read(tmp_path, graph).request
    assert (request.width, request.height, request.prompt) == (832, 1216, "good")
    loader = with_inputs(graph, "1", resolution="width x height (custom)")["1"]
    drawn = node("ttN pipeKSampler", **sampling, denoise=1.0, pipe=["1", 0])
    request = read(tmp_path, {"1": loader, "3": drawn, "4": graph["4"]}).request
    assert (request.width, request.height, request.prompt) == (512, 512, "good")


def test_the_loader_of_efficiency_nodes_for_sdxl_is_read(tmp_path: Path) -> None:
    graph = {
        "1": node(
            "Eff. Loader SDXL",
            base_ckpt_name="base.ckpt",
            positive="good",
            negative="bad",
            empty_latent_width=1024,
            empty_latent_height=768,
        ),
        "2": node(
            "KSampler SDXL (Eff.)",
            noise_seed=5,
            steps=25,
            cfg=7.0,
            sampler_name="euler",
            scheduler="normal",
            sdxl_tuple=["1", 0],
            latent_image=["1", 1],
        ),
        "4": node("SaveImage", filename_prefix="x", images=["2", 3]),
    }
    found = read(tmp_path, graph)
    request = found.request
    assert (request.prompt, request.negative_prompt, found.model) == ("good", "bad", "base.ckpt")
    assert (request.width, request.height, request.seed) == (1024, 768, 5)


def test_nodes_whose_numbers_are_not_known_are_told_of(tmp_path: Path) -> None:
    """A computed number of steps, and a script that draws the picture again in a larger size."""
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n60=node("MathExpression|pysssss", expression="a * 2", a=10),
        n61=node("HighRes-Fix Script", upscale_by=1.5, hires_steps=12, seed=3),
    )
    found = read(tmp_path, with_inputs(graph, "3", steps=["60", 0], script=["61", 0]))
    assert found.request.steps is None
    assert "Not taken over: MathExpression|pysssss, HighRes-Fix Script." in found.warnings


def test_a_guider_of_two_prompts_uses_the_first(tmp_path: Path) -> None:
    guider = node(
        "DualCFGGuider", model=["4", 0], cond1=["6", 0], cond2=["7", 0], negative=["7", 0]
    )
    assert read(tmp_path, with_nodes(CUSTOM, n22=guider)).request.prompt == EXPECTED.prompt


def test_a_size_computed_by_nodes_gives_a_warning(tmp_path: Path) -> None:
    graph = with_nodes(TEXT_TO_PICTURE, n64=node("ResolutionSelector", megapixels=1.0))
    found = read(tmp_path, with_inputs(graph, "5", width=["64", 0], height=["64", 1]))
    assert "Its size was not found in its graph." in found.warnings


def test_nodes_that_change_the_denoiser_are_taken_over(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n20=node("FreeU", model=["4", 0], b2=1.5, s1=0.8),
        n21=node("PerturbedAttentionGuidance", model=["20", 0], scale=2.5),
        n22=node("SelfAttentionGuidance", model=["21", 0], scale=-0.5, blur_sigma=3.0),
        n23=node("SeamlessTile", model=["22", 0], tiling="x_only", copy_model="Make a copy"),
    )
    found = read(tmp_path, with_inputs(graph, "3", model=["23", 0]))
    assert found.request.denoiser_options == DenoiserOptions(
        tiling=Tiling.X, freeu=FreeUVersion.V1, freeu_b1=1.1, freeu_b2=1.5, freeu_s1=0.8
    )
    assert found.request.guidance_options == GuidanceOptions(
        pag_scale=2.5, sag_scale=-0.5, sag_blur=3.0
    )
    assert not any("Not taken over" in warning for warning in found.warnings)


def test_perturbed_attention_of_the_extension_is_taken_over(tmp_path: Path) -> None:
    usual = {"unet_block": "middle", "unet_block_id": 0, "sigma_start": -1.0, "rescale": 0.0}

    def reading(**inputs: object) -> ImportedRequest:
        other = node("PerturbedAttention", model=["4", 0], **usual | inputs)
        graph = with_nodes(TEXT_TO_PICTURE, n20=other)
        return read(tmp_path, with_inputs(graph, "3", model=["20", 0]))

    found = reading(scale=2.0, adaptive_scale=0.5)
    assert found.request.guidance_options == GuidanceOptions(pag_scale=2.0, pag_adaptive=0.125)
    assert not any("Not taken over" in warning for warning in found.warnings)
    assert reading().request.guidance_options == GuidanceOptions(pag_scale=3.0)
    for inputs in ({"sigma_start": 5.4}, {"unet_block": "output"}, {"rescale": 0.5}):
        assert reading(**inputs).warnings[-1] == "Not taken over: PerturbedAttention."


def test_words_of_boxes_are_not_the_prompt(tmp_path: Path) -> None:
    box = node(
        "GLIGENTextBoxApply", conditioning_to=["6", 0], clip=["4", 1], text="a sun", width=64
    )
    graph = with_inputs(with_nodes(TEXT_TO_PICTURE, n20=box), "3", positive=["20", 0])
    found = read(tmp_path, graph)
    assert found.request.prompt == "a red house, (sea:1.2)"
    assert found.warnings[-1] == "Not taken over: GLIGENTextBoxApply."


@pytest.mark.parametrize(
    ("value", "steps"), [(True, 4), (["62", 0], 4), (False, 30), (["9", 0], 30)]
)
def test_a_switch_passes_on_the_input_that_it_chooses(
    tmp_path: Path, value: object, steps: int
) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n60=node("PrimitiveInt", value=30),
        n61=node("PrimitiveInt", value=4),
        n62=node("PrimitiveBoolean", value=True),
        n63=node("ComfySwitchNode", switch=value, on_false=["60", 0], on_true=["61", 0]),
    )
    assert read(tmp_path, with_inputs(graph, "3", steps=["63", 0])).request.steps == steps


def test_nodes_of_an_unused_negative_prompt_are_not_told(tmp_path: Path) -> None:
    graph = with_nodes(TEXT_TO_PICTURE, n20=node("ConditioningZeroOut", conditioning=["6", 0]))
    graph = with_inputs(graph, "3", negative=["20", 0])
    assert "Not taken over: ConditioningZeroOut." in read(tmp_path, graph).warnings
    assert read(tmp_path, with_inputs(graph, "3", cfg=1.0)).unmapped == ()


def test_flux_2s_scheduler_is_read(tmp_path: Path) -> None:
    graph = with_nodes(
        CUSTOM,
        n16=node("KSamplerSelect", sampler_name="euler"),
        n17=node("Flux2Scheduler", steps=4, width=512, height=768),
    )
    found = read(tmp_path, graph)
    assert (found.request.schedule, found.request.steps) == ("simple", 4)
    assert found.unmapped == ()


def test_pictures_that_are_seen_are_told(tmp_path: Path) -> None:
    graph = with_nodes(
        TEXT_TO_PICTURE,
        n10=node("LoadImage", image="in.png"),
        n11=node("VAEEncode", pixels=["10", 0], vae=["4", 2]),
        n20=node("ReferenceLatent", conditioning=["6", 0], latent=["11", 0]),
    )
    found = read(tmp_path, with_inputs(graph, "3", positive=["20", 0]))
    assert "It was made with reference pictures, which are not in the file." in found.warnings
    assert found.unmapped == ()
    assert found.request.prompt == "a red house, (sea:1.2)"


def test_a_seed_is_not_a_text(tmp_path: Path) -> None:
    """A node that describes a picture has a seed, and its words are not in the graph."""
    written = node("Florence2Run", image=["9", 0], task="caption", seed=5)
    found = read(tmp_path, with_prompt_of(written))
    assert found.request.prompt == ""
    assert found.warnings[0] == (
        "Its prompt was made by nodes that are not understood: Florence2Run."
    )


@pytest.mark.parametrize("key", ["gguf_name", "model_path"])
def test_loaders_of_other_files_name_the_model(tmp_path: Path, key: str) -> None:
    graph = with_nodes(TEXT_TO_PICTURE, n4=node("Loader", **{key: "svdq-int4-flux.1-dev"}))
    assert read(tmp_path, graph).model == "svdq-int4-flux.1-dev"
