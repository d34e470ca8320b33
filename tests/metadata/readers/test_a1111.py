"""AUTOMATIC1111's text as a request: its keys, its defaults by version, its fused names."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.conventions import CONVENTIONS, Convention, RefinerHandover, convention_of
from engine.api.denoiser_options import DenoiserOptions, FreeUVersion, Tiling
from engine.api.noise_rules import InitialNoise, RandomSource
from engine.api.prompt_rules import Emphasis
from engine.api.request import (
    GuidanceOptions,
    RefinerChoice,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
)
from engine.api.values import ConventionName
from engine.metadata.infotext import Parameter, parse_infotext
from engine.metadata.readers import ImportedRequest
from engine.metadata.readers.a1111 import import_infotext
from engine.metadata.record import record_chunks
from engine.metadata.record_text import record_infotext
from tests.metadata.readers.pictures import from_text, imported
from tests.metadata.records import PLAIN

# Each example replaces the same file; a busy disk is no failure.
IN_ONE_FOLDER = settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def with_line(folder: Path, line: str) -> ImportedRequest:
    """A text whose line has enough pairs whatever is tested."""
    return from_text(folder, f"a cat\n{line}, RNG: CPU, Version: v1.10.1, User: me")


def test_our_own_text_without_the_record_maps(tmp_path: Path) -> None:
    found = imported(tmp_path, record_chunks(PLAIN)[0])
    assert found.request == GenerateRequest(
        prompt="a cat, (masterpiece:1.2)",
        negative_prompt="blurry",
        width=512,
        height=768,
        steps=20,
        guidance=7.0,
        sampler=SamplerName.DPMPP_2M,
        schedule=ScheduleName.KARRAS,
        seed=965400086,
        expand_wildcards=False,
    )
    assert found.record is None
    assert found.warnings == ('It was made with the model "dream v1.5"; choose it to match.',)


def test_a_value_without_a_counterpart_gives_a_warning(tmp_path: Path) -> None:
    found = from_text(
        tmp_path,
        "a cat <lora:foo:0.8> <lora:bar>\nSteps: 9, Sampler: IPNDM, Seed: 1, Size: 512x512, "
        "Clip skip: 2, Denoising strength: 0.5, NGMS: 0.5, Model: m\x1b[31m, VAE: soft.vae.pt, "
        "Mask blur: 4",
    )
    assert (found.request.steps, found.request.seed) == (9, 1)
    assert (found.request.clip_skip, found.request.strength) == (2, 0.5)
    assert found.request.sampler is None
    assert found.warnings == (
        '"Sampler: IPNDM" was not taken over.',
        'It was made with the model "m[31m"; choose it to match.',
        'It was made with the VAE "soft.vae.pt"; choose it to match.',
        "It was made from another picture, which is not in the file.",
        "Not taken over: NGMS.",
    )
    assert found.unmapped == (Parameter("NGMS", "0.5"),)


@pytest.mark.parametrize(
    ("line", "sampler", "schedule"),
    [
        ("Sampler: Euler a", "euler_a", "normal"),
        ("Sampler: DPM++ 2M Karras", "dpmpp_2m", "karras"),
        ("Sampler: DPM++ 2M SDE Karras", "dpmpp_2m_sde", "karras"),
        ("Sampler: DPM++ 2M SDE Heun Exponential", "dpmpp_2m_sde_heun", "exponential"),
        ("Sampler: DPM++ 2M SDE Polyexponential", "dpmpp_2m_sde", "polyexponential"),
        ("Sampler: DPM2 a Karras", "dpm2_a", "karras"),
        ("Sampler: DPM++ 3M SDE", "dpmpp_3m_sde", "exponential"),
        ("Sampler: Euler SGMUniform", "euler", "sgm_uniform"),
        ("Sampler: Euler a Automatic", "euler_a", "normal"),
        ("Sampler: k_euler_a", "euler_a", "normal"),
        ("Sampler: DPM++ 2M, Schedule type: Beta", "dpmpp_2m", "beta"),
        ("Sampler: Euler, Schedule type: Align Your Steps", "euler", "align_your_steps"),
        ("Sampler: Euler, Schedule type: KL Optimal", "euler", "kl_optimal"),
        ("Sampler: Euler, Schedule type: Uniform", "euler", "uniform"),
        ("Sampler: DPM++ 2M, Schedule type: Automatic", "dpmpp_2m", "karras"),
        ("Sampler: DPM++ 2M", "dpmpp_2m", "karras"),
        ("Sampler: DPM++ 2M SDE", "dpmpp_2m_sde", "exponential"),
        # The fused name counts more, as in `get_sampler_and_scheduler`.
        ("Sampler: DPM++ 2M Karras, Schedule type: Beta", "dpmpp_2m", "karras"),
        # These visit timesteps of their own.
        ("Sampler: DDIM, Schedule type: Karras", "ddim", None),
        ("Sampler: UniPC, Schedule type: Automatic", "unipc", None),
        ("Sampler: UniPC, UniPC variant: bh2", "unipc_bh2", None),
        ("Sampler: LCM", "lcm", "normal"),
        ("Sampler: Karras", None, "normal"),
        # Other tools that write this text, by their own names.
        ("Sampler: euler_a karras", "euler_a", "karras"),
        ("Sampler: dpmpp_2m_karras", "dpmpp_2m", "karras"),
        ("Sampler: dpmpp_2m_sde_gpu, Scheduler: sgm_uniform", "dpmpp_2m_sde", "sgm_uniform"),
        ("Schedule type: Karras", None, None),
    ],
)
def test_samplers_and_schedules_are_read_by_every_name(
    tmp_path: Path, line: str, sampler: str | None, schedule: str | None
) -> None:
    request = with_line(tmp_path, line).request
    assert (request.sampler, request.schedule) == (sampler, schedule)


@pytest.mark.parametrize("version", ["", ", Version: v1.8.0", ", Version: 1.5.2"])
@pytest.mark.parametrize(
    ("sampler", "schedule"), [("DPM++ 2M", "normal"), ("DPM2", "normal"), ("Restart", "karras")]
)
def test_before_1_9_a_sampler_alone_has_the_plain_schedule(
    tmp_path: Path, version: str, sampler: str, schedule: str
) -> None:
    text = f"a\nSteps: 20, Sampler: {sampler}, Seed: 1{version}"
    assert from_text(tmp_path, text).request.schedule == schedule


@pytest.mark.parametrize("version", ["f0.0.17v1.8.0rc-latest-277-g0af28699", "f1.7.0-v1.7.0"])
def test_forge_names_the_version_it_comes_from(tmp_path: Path, version: str) -> None:
    text = f"a\nSteps: 20, Sampler: DPM++ 2M, Seed: 1, Version: {version}"
    assert from_text(tmp_path, text).request.schedule is ScheduleName.NORMAL
    text = text.replace(version, "f2.0.1v1.10.1-previous-669-gdfdcbab6")
    assert from_text(tmp_path, text).request.schedule is ScheduleName.KARRAS


def a1111(**changes: Any) -> Convention:
    return msgspec.structs.replace(CONVENTIONS[ConventionName.A1111], **changes)


@pytest.mark.parametrize(
    ("line", "convention"),
    [
        ("RNG: CPU", a1111()),
        ("Face: x", a1111(random_source=RandomSource.CUDA, step_source=RandomSource.CUDA)),
        ("RNG: GPU", a1111(random_source=RandomSource.CUDA, step_source=RandomSource.CUDA)),
        ("RNG: NV", a1111(random_source=RandomSource.CUDA, step_source=RandomSource.CUDA)),
        ("RNG: CPU, Emphasis: Original", a1111()),
        ("RNG: CPU, Emphasis: No norm", a1111(emphasis=Emphasis.NO_NORM)),
        ("RNG: CPU, Emphasis: Ignore", a1111(emphasis=Emphasis.NONE)),
        ("RNG: CPU, Emphasis: None", a1111(emphasis=Emphasis.LITERAL)),
        (
            "RNG: CPU, SGM noise multiplier: True",
            a1111(initial_noise=InitialNoise.VARIANCE),
        ),
        (
            "RNG: CPU, Discard penultimate sigma: True",
            a1111(
                discards_next_to_last=(*a1111().discards_next_to_last, SamplerName.EULER_ANCESTRAL)
            ),
        ),
    ],
)
def test_the_convention_follows_from_the_text(
    tmp_path: Path, line: str, convention: Convention
) -> None:
    text = f"a (cat)\nSteps: 20, Sampler: Euler a, Seed: 1, {line}, Version: v1.10.1"
    assert convention_of(from_text(tmp_path, text).request.convention) == convention


OPTIONS = (
    "Eta: 0.67, Sigma churn: 0.5, Sigma tmin: 0.1, Sigma tmax: 10, Sigma noise: 1.003, "
    "Schedule min sigma: 0.03, Schedule max sigma: 14.6, Schedule rho: 5"
)
CHURN = SamplerOptions(churn=0.5, churn_from=0.1, churn_to=10, noise_scale=1.003)
ENDS = ScheduleOptions(sigma_min=0.03, sigma_max=14.6)


@pytest.mark.parametrize(
    ("names", "sampler", "schedule"),
    [
        ("Heun, Schedule type: Karras", CHURN, msgspec.structs.replace(ENDS, rho=5.0)),
        ("Euler a, Schedule type: Normal", SamplerOptions(eta=0.67, noise_scale=1.003), ENDS),
        # Its settings are written where they do nothing, too.
        ("DPM++ 2M, Schedule type: Simple", SamplerOptions(), ScheduleOptions()),
        ("unheard of", SamplerOptions(), ENDS),
    ],
)
def test_options_of_sampler_and_schedule_are_read(
    tmp_path: Path, names: str, sampler: SamplerOptions, schedule: ScheduleOptions
) -> None:
    request = with_line(tmp_path, f"Sampler: {names}, {OPTIONS}").request
    assert request.sampler_options == sampler
    assert request.schedule_options == schedule


def test_a_value_of_zero_stands_for_the_default(tmp_path: Path) -> None:
    line = "Sigma tmax: 0, Schedule min sigma: 0, Schedule max sigma: 0.0, Schedule rho: 0"
    request = with_line(tmp_path, f"Sampler: Heun, Schedule type: Karras, {line}").request
    assert request.sampler_options == SamplerOptions()
    assert request.schedule_options == ScheduleOptions()


def test_ddim_has_its_own_eta(tmp_path: Path) -> None:
    found = with_line(tmp_path, "Sampler: DDIM, Eta DDIM: 0.5")
    assert found.request.sampler_options == SamplerOptions(eta=0.5)


def test_options_of_the_seed_are_read(tmp_path: Path) -> None:
    request = with_line(
        tmp_path,
        "Seed: 1, Variation seed: 7, Variation seed strength: 0.25, Seed resize from: 512x640, "
        "ENSD: 31337",
    ).request
    assert request.seed_options == SeedOptions(
        variation_seed=7, variation_strength=0.25, resize_from=(512, 640), eta_seed_delta=31337
    )
    assert with_line(tmp_path, "ENSD: -3").request.seed_options.eta_seed_delta == -3
    assert with_line(tmp_path, "Variation seed: 7").request.seed_options == SeedOptions()


def test_options_of_guidance_are_read(tmp_path: Path) -> None:
    request = with_line(tmp_path, "CFG Rescale: 0.7, Skip Early CFG: 0.5").request
    # A1111 leaves guidance out where step / steps <= 0.5.
    assert request.guidance_options == GuidanceOptions(
        rescale=0.7, range=(math.nextafter(0.5, 1), 1.0)
    )
    assert with_line(tmp_path, "Skip Early CFG: 1").request.guidance_options.range == (1.0, 1.0)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("Noise Schedule: Zero Terminal SNR", True),
        ("Zero SNR: True", True),
        ("Noise Schedule: Default", None),
        ("Noise Schedule: odd", None),
    ],
)
def test_zero_terminal_snr_is_read(tmp_path: Path, pair: str, expected: bool | None) -> None:
    found = with_line(tmp_path, pair)
    assert found.request.zero_terminal_snr is expected
    assert bool(found.warnings) == ("odd" in pair)


@pytest.mark.parametrize(
    ("first", "size"), [("512x576", (512, 576)), ("0x0", (448, 704)), ("1x1", (640, 1024))]
)
def test_very_old_files_state_the_first_pass_separately(
    tmp_path: Path, first: str, size: tuple[int, int]
) -> None:
    text = f"a\nSteps: 20, Seed: 1, Size: 640x1024, First pass size: {first}"
    request = from_text(tmp_path, text).request
    assert (request.width, request.height) == size
    (second,) = request.second_passes
    assert (second.width, second.height) == (640, 1024)


@pytest.mark.parametrize(
    ("version", "prompt", "words"),
    [
        ("v1.6.0", "a", ["half precision"]),
        ("v1.7.0-133-gabcdef01", "a", ["half precision"]),
        ("v1.7.0-225-gabcdef01", "a", []),
        ("v1.5.1", "[a:b:1.5]", ["half precision", "counted in steps"]),
        ("v1.5.1", "[a:b:0.5] [a:b:15]", ["half precision"]),
        ("v1.10.1", "[a:b:1.5]", []),
        ("ComfyUI", "[a:b:1.5]", []),
    ],
)
def test_differences_of_old_versions_give_a_warning(
    tmp_path: Path, version: str, prompt: str, words: list[str]
) -> None:
    found = from_text(tmp_path, f"{prompt}\nSteps: 20, Seed: 1, RNG: CPU, Version: {version}")
    assert len(found.warnings) == len(words)
    assert all(word in warning for word, warning in zip(words, found.warnings, strict=True))


def test_forge_names_modules_and_distilled_guidance(tmp_path: Path) -> None:
    found = with_line(
        tmp_path,
        "Steps: 20, CFG scale: 1, Distilled CFG Scale: 3.5, Module 1: ae, Module 2: clip_l",
    )
    assert found.request.guidance == 3.5
    assert found.request.guidance_options.true_cfg == 1
    assert found.warnings == (
        'It was made with the VAE and the text encoders "ae", "clip_l"; choose them to match.',
    )


def test_forge_has_both_scales_for_a_second_pass(tmp_path: Path) -> None:
    line = (
        "Steps: 20, CFG scale: 1, Distilled CFG Scale: 3.5, Denoising strength: 0.5, Hires "
        "upscale: 2, Hires CFG Scale: 1, Hires Distilled CFG Scale: 2.5, Model: flux1-dev"
    )
    found = with_line(tmp_path, line)
    assert found.request.second_passes[0].guidance == 2.5
    assert found.unmapped == ()


def test_forge_has_true_guidance_beside_the_distilled_one(tmp_path: Path) -> None:
    line = "Steps: 20, CFG scale: 2, Distilled CFG Scale: 4, Model: "
    dev = with_line(tmp_path, f"{line}flux1-dev").request
    assert (dev.guidance, dev.guidance_options.true_cfg) == (4, 2)
    schnell = with_line(tmp_path, f"{line}flux1-schnell").request
    assert (schnell.guidance, schnell.guidance_options.true_cfg) == (2, 1)


@pytest.mark.parametrize(
    "pair",
    [
        "Steps: 0",
        "Steps: 1001",
        "Steps: " + "9" * 5000,
        "Steps: 1e2",
        "Steps: ٣",
        "CFG scale: nan",
        "CFG scale: inf",
        "CFG scale: -1",
        "CFG scale: seven",
        "Seed: -1",
        "Seed: 18446744073709551616",
        "Size: 63x512",
        "Size: 512x8193",
        "Size: 999999999999x5",
        "Size: big",
        "Clip skip: 0",
        "Denoising strength: 1.01",
        "Eta: -0.1",
        "Sigma churn: 1e999",
        "Schedule rho: nan",
        "ENSD: 1.5",
        "ENSD: 9223372036854775808",
        "Variation seed strength: 2",
        "Seed resize from: 0x512",
        "Emphasis: \x1b[31mloud",
        "Skip Early CFG: 2",
        "Sampler: \x1b[31m",
        "Sampler: Euler, Schedule type: ???",
    ],
)
def test_values_out_of_range_are_left_out_with_a_warning(tmp_path: Path, pair: str) -> None:
    found = with_line(tmp_path, pair)
    plain = GenerateRequest(prompt="a cat", expand_wildcards=False)
    if "Sampler" in pair:
        assert found.request.schedule in (None, ScheduleName.NORMAL)
    else:
        assert found.request == plain
    assert "was not taken over." in found.warnings[0]
    assert found.warnings[0].isprintable()
    assert len(found.warnings[0]) < 130


def test_a_prompt_alone_is_a_request(tmp_path: Path) -> None:
    found = from_text(tmp_path, "a red house\nNegative prompt: rain")
    assert found.request == GenerateRequest(
        prompt="a red house", negative_prompt="rain", expand_wildcards=False
    )
    assert found.warnings == ()


VALUES = st.one_of(
    st.sampled_from(["512x512", "nan", "-1", "1e999", "Euler a Karras", '"', "\\", "True"]),
    st.text(max_size=12),
)
KEYS = st.sampled_from(
    [
        "Steps", "Sampler", "Schedule type", "CFG scale", "Seed", "Size", "Clip skip", "Model",
        "RNG", "Eta", "ENSD", "Emphasis", "First pass size", "Hires upscale", "Skip Early CFG",
        "Hires resize", "Hires steps", "Hires upscaler", "Hires sampler", "Hires prompt",
        "Hires schedule type", "Hires checkpoint", "Hires CFG Scale", "Denoising strength",
        "Variation seed", "Variation seed strength", "Seed resize from",
        "Discard penultimate sigma",
    ]
)  # fmt: skip


@IN_ONE_FOLDER
@given(prompt=st.text(max_size=20), pairs=st.lists(st.tuples(KEYS, VALUES), max_size=9))
def test_any_text_gives_a_request_within_bounds(
    tmp_path: Path, prompt: str, pairs: list[tuple[str, str]]
) -> None:
    line = ", ".join(f"{key}: {value}" for key, value in pairs)
    # The word keeps the text from starting like the JSON of another tool.
    found = from_text(tmp_path, f"a {prompt}\n{line}")
    request = found.request
    assert request.steps is None or 1 <= request.steps <= 1000
    assert request.guidance is None or 0 <= request.guidance <= 100
    assert request.seed is None or 0 <= request.seed < 2**64
    assert request.width is None or 64 <= request.width <= 8192
    assert all(warning.isprintable() for warning in found.warnings)


def test_a_refiner_is_read_as_a1111_writes_it() -> None:
    choice = RefinerChoice(checkpoint="/models/xl_refiner.safetensors", switch_at=0.7)
    by_steps = msgspec.structs.replace(
        PLAIN.request.convention, refiner_handover=RefinerHandover.EVALUATION
    )
    request = msgspec.structs.replace(PLAIN.request, refiner=choice, convention=by_steps)
    record = msgspec.structs.replace(PLAIN, request=request, refiner_sha256="0123456789abcdef")
    info = record_infotext(record)
    assert info.get("Refiner") == "xl_refiner [0123456789]"
    imported = import_infotext(info)
    assert imported.request.refiner == RefinerChoice(switch_at=0.7)
    assert convention_of(imported.request.convention).refiner_handover is by_steps.refiner_handover
    assert any("xl_refiner [0123456789]" in warning for warning in imported.warnings)
    assert not any("Not taken over" in warning for warning in imported.warnings)


@pytest.mark.parametrize(
    ("version", "handover"),
    [("v1.7.0", RefinerHandover.EVALUATION), ("v1.10.1", RefinerHandover.LEVEL)],
)
def test_old_versions_switch_to_the_refiner_by_steps(
    version: str, handover: RefinerHandover
) -> None:
    text = f"a\nSteps: 20, Seed: 1, Refiner: x, Refiner switch at: 0.8, Version: {version}"
    imported = import_infotext(parse_infotext(text))
    assert convention_of(imported.request.convention).refiner_handover is handover


@pytest.mark.parametrize(
    "templates",
    [
        "Template: a {cat|dog}",
        "Template: a {cat|dog}\nof two lines, Steps: 3\nNegative Template: {x|y}",
        "Negative Template: {x|y}",
    ],
)
def test_templates_after_the_settings_are_removed(tmp_path: Path, templates: str) -> None:
    """sd-dynamic-prompts writes what the prompt was drawn from in lines of its own."""
    text = f"a cat\nNegative prompt: x\nSteps: 9, Sampler: Euler, Seed: 5, Size: 64x64\n{templates}"
    request = from_text(tmp_path, text).request
    assert (request.prompt, request.negative_prompt) == ("a cat", "x")
    assert (request.steps, request.seed, request.width) == (9, 5, 64)


def test_a_template_in_a_prompt_is_text(tmp_path: Path) -> None:
    text = "Template: a cat\nTemplate: b\nSteps: 9, Sampler: Euler, Seed: 5"
    assert from_text(tmp_path, text).request.prompt == "Template: a cat\nTemplate: b"


def test_keys_count_whatever_their_case(tmp_path: Path) -> None:
    line = "STEPS: 9, sampler: Euler a, CFG Scale: 4.5, Clip Skip: 2, seed: 5, size: 64x96"
    found = from_text(tmp_path, f"a\n{line}")
    request = found.request
    assert (request.steps, request.sampler, request.guidance) == (9, "euler_a", 4.5)
    assert (request.clip_skip, request.seed, request.height) == (2, 5, 96)
    assert found.unmapped == ()


def test_a_key_in_its_own_case_comes_before_another(tmp_path: Path) -> None:
    found = from_text(tmp_path, "a\nSteps: 9, CFG scale: 4, CFG Scale: 8, Seed: 5")
    assert found.request.guidance == 4


def test_a_prompt_may_begin_with_a_brace(tmp_path: Path) -> None:
    found = from_text(tmp_path, "{big (cat, dog) on a mat}\nSteps: 9, Sampler: Euler, Seed: 5")
    assert found.request.prompt == "{big (cat, dog) on a mat}"


def test_forges_freeu_and_guidance_by_attention_are_read(tmp_path: Path) -> None:
    found = with_line(
        tmp_path,
        "Steps: 20, Sampler: Euler, Tiling: True, freeu_enabled: True, freeu_b1: 1.01, "
        "freeu_b2: 1.02, freeu_s1: 0.99, freeu_s2: 0.95, freeu_start: 0, freeu_end: 0.6, "
        "pagi_enabled: True, pagi_scale: 2.5, pagi_attenuation: 0, pagi_start_step: 0.1, "
        "pagi_end_step: 1, sag_enabled: True, sag_scale: -0.5, sag_blur_sigma: 3, sag_threshold: 2",
    )
    assert found.request.denoiser_options == DenoiserOptions(
        tiling=Tiling.BOTH,
        freeu=FreeUVersion.V2,
        freeu_b1=1.01,
        freeu_b2=1.02,
        freeu_s1=0.99,
        freeu_s2=0.95,
        freeu_range=(0.0, 0.6),
    )
    assert found.request.guidance_options == GuidanceOptions(
        pag_scale=2.5, pag_range=(0.1, 1.0), sag_scale=-0.5, sag_blur=3.0, sag_threshold=2.0
    )
    assert not any("taken over" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("line", "tiling"),
    [
        ("Tile X: True, Tile Y: False", Tiling.X),
        ("Tile X: False, Tile Y: True", Tiling.Y),
        ("Tile X: True, Tile Y: True", Tiling.BOTH),
        ("Tiling: False", Tiling.NONE),
    ],
)
def test_axes_of_seamless_edges_are_read(tmp_path: Path, line: str, tiling: Tiling) -> None:
    found = with_line(tmp_path, f"Steps: 20, Sampler: Euler, {line}")
    assert found.request.denoiser_options.tiling is tiling


@pytest.mark.parametrize(
    "line", ["pagi_enabled: True, pagi_attenuation: 10", "Tile X: True, Stop Tiling After Step: 5"]
)
def test_attenuation_and_a_part_with_seamless_edges_are_told(tmp_path: Path, line: str) -> None:
    found = with_line(tmp_path, f"Steps: 20, Sampler: Euler, {line}")
    assert any(line.rpartition(", ")[2].partition(":")[0] in warning for warning in found.warnings)


def test_our_own_text_tells_of_seamless_edges_freeu_and_guidance_by_attention() -> None:
    request = msgspec.structs.replace(
        PLAIN.request,
        denoiser_options=DenoiserOptions(
            tiling=Tiling.Y, freeu=FreeUVersion.V2, freeu_s2=0.4, freeu_range=(0.25, 1.0)
        ),
        guidance_options=GuidanceOptions(pag_scale=2.5, pag_range=(0.0, 0.5), sag_scale=1.0),
    )
    record = msgspec.structs.replace(PLAIN, request=request)
    found = import_infotext(record_infotext(record)).request
    assert found.denoiser_options == request.denoiser_options
    assert found.guidance_options == request.guidance_options


def test_the_perturbed_attention_of_forges_extension_is_read(tmp_path: Path) -> None:
    line = (
        "Steps: 20, Sampler: Euler, pag_enabled: True, pag_scale: 2, pag_rescale: 0, "
        "pag_rescale_mode: full, pag_adaptive_scale: 0.5, pag_block: middle, pag_block_id: 0, "
    )
    found = with_line(tmp_path, f"{line}pag_block_list: ")
    assert found.request.guidance_options == GuidanceOptions(pag_scale=2.0, pag_adaptive=0.125)
    assert not any("taken over" in warning for warning in found.warnings)
    other = with_line(tmp_path, line.replace("middle", "output") + "pag_sigma_start: 5.4")
    assert {
        '"pag_block: output" was not taken over.',
        '"pag_sigma_start: 5.4" was not taken over.',
    } <= set(other.warnings)


def test_an_enlargement_of_the_finished_picture_is_told(tmp_path: Path) -> None:
    found = with_line(
        tmp_path,
        "Steps: 20, Sampler: Euler, Postprocess upscale by: 4, Postprocess upscaler: R-ESRGAN 4x+",
    )
    assert found.warnings[-1] == (
        'It was enlarged 4 times with "R-ESRGAN 4x+" after it was made; use Upscale on the picture '
        "for that."
    )
    assert found.unmapped == ()
