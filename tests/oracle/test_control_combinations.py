"""Led pictures with everything else that a picture may have, beside A1111's loop in torch."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import logging
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # k-diffusion copies tensors by torch.tensor
    pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning"),
]
torch = pytest.importorskip("torch")
for module in ("diffusers", "transformers", "scipy"):
    pytest.importorskip(module)
from diffusers import ControlNetModel  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from backends.base import Precision  # noqa: E402
from backends.cpu import CpuBackend  # noqa: E402
from engine.api.control import ControlLayer  # noqa: E402
from engine.api.lora import LoraMode  # noqa: E402
from engine.api.request import InputImage, RefinerChoice, SeedOptions  # noqa: E402
from engine.api.second_passes import SecondPass  # noqa: E402
from engine.api.values import ConventionName, InputRole, SamplerName  # noqa: E402
from engine.checkpoints.files import read_index  # noqa: E402
from engine.control import adapter_files  # noqa: E402
from engine.families import identify  # noqa: E402
from engine.lora.folder import LoraLookup  # noqa: E402
from engine.pipeline.loras import JobLoras  # noqa: E402
from tests.checkpoints.arrays import write_arrays  # noqa: E402
from tests.control.layouts import original_names  # noqa: E402
from tests.control.test_reading import control_lora  # noqa: E402
from tests.oracle.fidelity import a1111  # noqa: E402
from tests.oracle.fidelity.networks import Networks, init_picture  # noqa: E402
from tests.oracle.fidelity.picture import (  # noqa: E402
    GUIDANCE,
    NEGATIVE,
    PROMPT,
    SEED,
    Part,
    Picture,
    plain,
)
from tests.oracle.fidelity.second_passes import Second, a1111_latent, a1111_second  # noqa: E402
from tests.oracle.led_networks import MAPS, Leading, LedNetworks  # noqa: E402
from tests.oracle.test_lora_pictures import write_lora  # noqa: E402
from tests.oracle.test_refined_tools import Refined  # noqa: E402
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run  # noqa: E402
from tests.thinned import thinned  # noqa: E402
from tests.tiny_checkpoint import SIDE, write_checkpoint  # noqa: E402

LOG = logging.getLogger(__name__)
LIMIT = 50
# Enough for half of them with another prompt, LoRA or checkpoint.
STEPS = 4
EULER = Picture("Euler", steps=STEPS)
WEIGHTS = (0.8, 0.5, 0.6)
# Of a LoRA, so that half of the steps show it.
STRENGTH = 3.0


@pytest.fixture(scope="module")
def leading(tmp_path_factory):
    # The tiny checkpoint's cells are two pixels wide, published ones eight.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adapter_files, "_UNSHUFFLES", {2: "sd1"})
        yield Leading(tmp_path_factory.mktemp("leading"))


def layers(leading: Leading, *weights: float) -> tuple[ControlLayer, ...]:
    led = zip(leading.maps, leading.files, weights, strict=False)
    return tuple(
        ControlLayer(image=str(image), network=str(file), weight=weight)
        for image, file, weight in led
        if weight
    )


def ours(leading: Leading, *weights: float, run_with: Any = None, **changes) -> list[np.ndarray]:
    given = {
        "prompt": PROMPT,
        "negative_prompt": NEGATIVE,
        "steps": STEPS,
        "seed": SEED,
        "guidance": GUIDANCE,
        "sampler": SamplerName.EULER,
        "convention": ConventionName.A1111,
        "controls": layers(leading, *weights),
    }
    request = a_request(leading.checkpoint, **{**given, **changes})
    given = {"residency": RESIDENCY, **(run_with or {})}
    return run(request, CpuBackend(), (Precision.F32,), **given).pixels


def check(made: np.ndarray, expected: np.ndarray, *others: np.ndarray) -> None:
    """Hold a picture to the tool's; `others`, without a part of what is asked for, differ."""
    measured = psnr(made, expected)
    LOG.info("PSNR %.1f dB; others %s", measured, [round(psnr(made, other), 1) for other in others])
    assert made.std() > 10
    assert measured >= LIMIT
    assert all(psnr(made, other) < measured - 10 for other in others)


def theirs(leading: Leading, picture: Picture, *weights: float) -> np.ndarray:
    return a1111.render(LedNetworks(leading.checkpoint, leading.leads(*weights)), picture)


@pytest.mark.parametrize("weights", [WEIGHTS[:1], WEIGHTS[:2], (0.0, 0.0, 0.6), WEIGHTS], ids=str)
def test_controlnets_and_an_adapter_lead_together(leading, weights) -> None:
    (made,) = ours(leading, *weights)
    fewer = ours(leading, *weights[:-1])
    check(made, theirs(leading, EULER, *weights), *fewer)


PROMPTS = {
    "AND": (
        "a red horse :1.2 AND blue house :0.7",
        (
            replace(plain("a red horse ")[0], weight=1.2),
            replace(plain("blue house ")[0], weight=0.7),
        ),
    ),
    "scheduled": (
        "[a red horse:blue house:0.5]",
        (Part(((STEPS // 2, (("a red horse", 1.0),)), (10_000, (("blue house", 1.0),)))),),
    ),
}


@pytest.mark.parametrize("kind", PROMPTS)
def test_prompts_are_led(leading, kind: str) -> None:
    prompt, parts = PROMPTS[kind]
    picture = replace(EULER, prompt=prompt, positive_parts=parts)
    (made,) = ours(leading, *WEIGHTS, prompt=prompt)
    check(
        made,
        theirs(leading, picture, *WEIGHTS),
        *ours(leading, *WEIGHTS),
        *ours(leading, prompt=prompt),
    )


def test_clip_skip_and_a_control_act_together(leading) -> None:
    (made,) = ours(leading, 0.8, clip_skip=2)
    check(made, theirs(leading, replace(EULER, clip_skip=2), 0.8), *ours(leading, 0.8))


def test_each_picture_of_a_varied_batch_is_led(leading) -> None:
    varied = {"variation_seed": 3, "variation_strength": 0.4}
    made = ours(leading, *WEIGHTS, count=2, seed_options=SeedOptions(**varied))
    picture = replace(EULER, **varied)
    for number, pixels in enumerate(made):
        check(pixels, theirs(leading, replace(picture, batch_index=number), *WEIGHTS))


def test_a_redrawn_picture_is_led(leading, tmp_path) -> None:
    Image.fromarray(init_picture()).save(tmp_path / "init.png")
    inputs = (InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),)
    asked = partial(ours, leading, inputs=inputs, strength=0.7)
    (made,) = asked(*WEIGHTS)
    check(made, theirs(leading, replace(EULER, strength=0.7), *WEIGHTS), *asked())


@pytest.mark.parametrize("mode", [LoraMode.MERGE, LoraMode.SIDE])
@pytest.mark.parametrize("borrows", [False, True], ids=["controlnets", "control-lora"])
def test_a_lora_whose_strength_changes_and_controls_act_together(
    leading, tmp_path, mode, borrows: bool
) -> None:
    """The first steps are drawn without the LoRA, the others with it, also in a control-LoRA.

    As in ComfyUI (`ControlLora.pre_run`), which copies the weights of the denoiser in use.
    """
    file = write_lora(tmp_path / "lora.safetensors", leading.checkpoint, 4, 1)
    weights = (0.8,) if borrows else WEIGHTS
    networks = LedNetworks(leading.checkpoint, leading.leads(*weights))
    later = with_lora(networks.unet, file)
    before, after = leading.leads(*weights), leading.leads(*weights)
    asked = partial(ours, leading, controls=layers(leading, *weights), lora_mode=mode)
    if borrows:
        arrays = control_lora(
            {n: tensor.numpy() for n, tensor in before[0].module.state_dict().items()}
        )
        arrays |= {n: 0.05 * array for n, array in arrays.items() if n.endswith(".down")}
        write_arrays(tmp_path / "control.safetensors", arrays)
        before = [replace(before[0], module=made_of(networks.unet, arrays))]
        after = [replace(before[0], module=made_of(later, arrays))]
        file = str(tmp_path / "control.safetensors")
        layer = ControlLayer(image=str(leading.maps[0]), network=file, weight=0.8)
        asked = partial(ours, leading, controls=(layer,), lora_mode=mode)
    networks.in_use = lambda place: (
        (later, after) if place >= STEPS // 2 else (networks.unet, before)
    )
    read = JobLoras(identify(leading.checkpoint), LoraLookup((tmp_path,)), read_index)
    tag = f"<lora:lora:te=0:unet=[0:{STRENGTH}:0.5]>"
    (made,) = asked(prompt=f"{PROMPT}{tag}", run_with={"read_loras": read})
    check(made, a1111.render(networks, EULER), *asked())


def with_lora(unet: Any, file: Path) -> Any:
    """The UNet with a LoRA in its weights."""
    patched, arrays = deepcopy(unet), load_file(file)
    own = patched.state_dict()
    for name in list(own):
        layer = "unet." + name.removesuffix(".weight")
        if f"{layer}.lora_B.weight" in arrays:
            up, down = (arrays[f"{layer}.lora_{part}.weight"] for part in "BA")
            own[name] = own[name] + STRENGTH * product(up, down, own[name].shape)
    patched.load_state_dict(own)
    return patched


def product(up: Any, down: Any, shape: Any) -> Any:
    change = torch.as_tensor(up).double().flatten(1) @ torch.as_tensor(down).double().flatten(1)
    return change.reshape(shape).float()


def made_of(unet: Any, lora: dict[str, np.ndarray]) -> Any:
    """The ControlNet that a control-LoRA makes of a UNet."""
    module = ControlNetModel.from_unet(unet, **MAPS).eval()
    own = module.state_dict()
    for name, original in original_names(own).items():
        layer = original.removesuffix(".weight")
        if f"{layer}.up" in lora:
            own[name] = own[name] + product(
                lora[f"{layer}.up"], lora[f"{layer}.down"], own[name].shape
            )
        elif original in lora:
            own[name] = torch.from_numpy(lora[original])
    module.load_state_dict(own)
    return module


@pytest.mark.parametrize(
    ("tile", "upscaler"),
    thinned(
        [(tile, upscaler) for tile in (None, 64) for upscaler in ("Latent", "lanczos")],
        [(None, "Latent"), (64, "lanczos")],
        pytest.mark.slow,
    ),
)
def test_a_second_pass_is_led_by_maps_of_its_own_size(leading, upscaler: str, tile) -> None:
    """Also in tiles, each of which sees its part of the map."""
    networks = LedNetworks(leading.checkpoint, leading.leads(*WEIGHTS[:2]))
    picture = EULER
    latent = a1111_latent(networks, picture)
    networks.longest = tile and tile // 2
    side = int(1.5 * SIDE)
    second = Second(picture, (side, side), 0.6, upscaler)
    expected = a1111_second(networks, latent, networks, second)
    with torch.no_grad():
        pixels = networks.pixels(expected, rounds=False)
    wanted = SecondPass(scale=1.5, upscaler=upscaler, strength=0.6, tile=tile)
    (made,) = ours(leading, *WEIGHTS[:2], second_passes=(wanted,))
    check(made, pixels, *ours(leading, second_passes=(wanted,)))


def test_a_refiner_is_not_led(leading, tmp_path, monkeypatch) -> None:
    """A refiner is another model, which the networks were not made for."""
    other = write_checkpoint(tmp_path / "other", seed=5)
    vae = "vae/diffusion_pytorch_model.safetensors"
    (other / vae).write_bytes((leading.checkpoint / vae).read_bytes())
    more = {"refiner": Networks(other), "at": 0.6, "evaluations": None}
    monkeypatch.setattr(a1111, "Guided", partial(Refined, **more))
    expected = theirs(leading, EULER, *WEIGHTS)
    refiner = RefinerChoice(checkpoint=str(other), switch_at=0.6)
    (made,) = ours(leading, *WEIGHTS, refiner=refiner)
    check(made, expected, *ours(leading, *WEIGHTS), *ours(leading, refiner=refiner))
