"""LoRAs that were distilled to few steps are recognised by their names, and others are not."""

from pathlib import Path

import pytest

from engine.api.lora_files import FewStepSettings
from engine.api.values import SamplerName, ScheduleName
from engine.lora.few_steps import few_steps_of

UNET = ("lora_unet_down_blocks_0_attentions_0_proj_in.lora_down.weight",)
# Names of the files that the authors publish, with sampler, steps and guidance of their cards.
PUBLISHED = {
    "lcm-lora-sdv1-5": ("LCM", SamplerName.LCM, 4, 1.0),
    "LCM_LoRA_Weights_SD15": ("LCM", SamplerName.LCM, 4, 1.0),
    "sdxl_lightning_2step_lora": ("Lightning", SamplerName.EULER, 2, 1.0),
    "sdxl_lightning_8step_lora": ("Lightning", SamplerName.EULER, 8, 1.0),
    "Hyper-SDXL-8steps-lora": ("Hyper", SamplerName.EULER, 8, 1.0),
    "Hyper-SD15-1step-lora": ("Hyper", SamplerName.TCD, 4, 1.0),
    "Hyper-SDXL-12steps-CFG-lora": ("Hyper", SamplerName.EULER, 12, 5.0),
    "dmd2_sdxl_4step_lora_fp16": ("DMD2", SamplerName.LCM, 4, 1.0),
    "TCD-SDXL-LoRA": ("TCD", SamplerName.TCD, 4, 1.0),
    "pcm_sdxl_smallcfg_2step_converted": ("PCM", SamplerName.EULER, 2, 1.0),
    "pcm_sd15_normalcfg_4step_converted": ("PCM", SamplerName.EULER, 4, 3.0),
    "pcm_sdxl_normalcfg_16step_converted": ("PCM", SamplerName.EULER, 16, 4.5),
    "pcm_sdxl_lcmlike_lora_converted": ("PCM", SamplerName.LCM, 4, 1.0),
    "sd_xl_turbo_lora_v1": ("Turbo", SamplerName.EULER_ANCESTRAL, 4, 1.0),
}


def of_file(name: str) -> FewStepSettings | None:
    return few_steps_of((), Path(f"/loras/{name}.safetensors"), UNET)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_has_the_settings_of_its_card(name: str) -> None:
    found = of_file(name)
    assert found is not None
    settings = found.title, found.sampler, found.steps, found.guidance
    assert settings == PUBLISHED[name]
    assert found.schedule is ScheduleName.SGM_UNIFORM


@pytest.mark.parametrize(
    ("name", "family", "wanted"),
    [
        ("Hyper-FLUX.1-dev-16steps-lora", "flux1", ("Hyper", SamplerName.EULER, 16, 3.5)),
        ("FLUX.1-Turbo-Alpha", "flux1", ("Turbo", SamplerName.EULER, 8, 3.5)),
        ("ink_zimage_turbo_lora", "zimage", None),
        ("Hyper-Chroma-8steps", "chroma", None),
        ("flux_lcm_style", "flux1", None),
        ("lcm-lora-sdv1-5", "sd1", ("LCM", SamplerName.LCM, 4, 1.0)),
    ],
)
def test_the_settings_are_those_for_the_family(
    name: str, family: str, wanted: tuple[str, SamplerName, int, float] | None
) -> None:
    found = few_steps_of((), Path(f"/loras/{name}.safetensors"), UNET, (family,))
    settings = found and (found.title, found.sampler, found.steps, found.guidance)
    assert settings == wanted


@pytest.mark.parametrize(
    "name", ["lightning_strike_effect", "Hyperrealism", "hyper_detail", "turbo_car", "Malcm style"]
)
def test_a_style_of_a_similar_name_has_none(name: str) -> None:
    assert of_file(name) is None


def test_a_file_that_also_changes_the_text_encoder_is_a_style() -> None:
    keys = (*UNET, "lora_te_text_model_encoder_layers_0_mlp_fc1.lora_down.weight")
    assert few_steps_of((), Path("lcm-lora.safetensors"), UNET) is not None
    assert few_steps_of((), Path("lcm-lora.safetensors"), keys) is None


def test_the_metadata_and_the_folder_of_a_file_with_a_general_name_count() -> None:
    general = Path("/loras/lcm-lora-sdxl/pytorch_lora_weights.safetensors")
    found = few_steps_of((), general, UNET)
    assert found is not None
    assert found.title == "LCM"
    cache = Path("/hub/models--h1t--TCD-SDXL-LoRA/snapshots") / ("0123456789abcdef" * 3)[:40]
    found = few_steps_of((), cache / "pytorch_lora_weights.safetensors", UNET)
    assert found is not None
    assert found.title == "TCD"
    found = few_steps_of(("SDXL-Lightning 2 steps",), Path("/loras/fast.safetensors"), UNET)
    assert found is not None
    assert (found.title, found.steps) == ("Lightning", 2)
