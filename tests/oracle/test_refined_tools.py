"""Pictures that a refiner finishes beside A1111 and ComfyUI, written again in plain torch.

After `apply_refiner` of `modules/sd_samplers_common.py`, which `CFGDenoiser.forward` calls, of
AUTOMATIC1111's stable-diffusion-webui 1.10.1, and `KSamplerAdvanced` of `nodes.py` with
`KSampler.sample` of `comfy/samplers.py` of ComfyUI.
"""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import logging
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # k-diffusion copies tensors by torch.tensor
    pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning"),
    # torchsde rounds the ends of a path
    pytest.mark.filterwarnings("ignore:Should have:UserWarning"),
]
torch = pytest.importorskip("torch")
for module in ("diffusers", "transformers", "scipy"):
    pytest.importorskip(module)

from backends.base import Precision  # noqa: E402
from backends.cpu import CpuBackend  # noqa: E402
from engine.api.conventions import CONVENTIONS, RefinerHandover  # noqa: E402
from engine.api.request import InputImage, RefinerChoice  # noqa: E402
from engine.api.values import ConventionName, InputRole, SamplerName, ScheduleName  # noqa: E402
from tests.oracle.fidelity import a1111, comfy  # noqa: E402
from tests.oracle.fidelity.a1111_text import TextEncoder  # noqa: E402
from tests.oracle.fidelity.comfy_schedules import Levels  # noqa: E402
from tests.oracle.fidelity.names import A1111_SAMPLERS, COMFY_SAMPLERS  # noqa: E402
from tests.oracle.fidelity.networks import SHAPE, Networks, init_picture  # noqa: E402
from tests.oracle.fidelity.noise import brownian_source, generator  # noqa: E402
from tests.oracle.fidelity.picture import (  # noqa: E402
    GUIDANCE,
    NEGATIVE,
    PROMPT,
    SEED,
    Picture,
)
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run  # noqa: E402
from tests.thinned import thinned  # noqa: E402
from tests.tiny_checkpoint import write_checkpoint  # noqa: E402

LOG = logging.getLogger(__name__)
LIMIT = 50
# Enough for both networks to take several.
STEPS = 6


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    """Two checkpoints of one latent space, with unlike weights and one VAE."""
    folder = tmp_path_factory.mktemp("refined")
    base, refiner = write_checkpoint(folder / "base"), write_checkpoint(folder / "other", seed=5)
    vae = "vae/diffusion_pytorch_model.safetensors"
    (refiner / vae).write_bytes((base / vae).read_bytes())
    return base, refiner


@pytest.fixture(scope="module")
def networks(folders) -> tuple[Networks, Networks]:
    return Networks(folders[0]), Networks(folders[1])


def ours(
    folders, at: float | None, convention, sampler: str, schedule: str = "", **changes
) -> np.ndarray:
    request = a_request(
        folders[0],
        prompt=PROMPT,
        negative_prompt=NEGATIVE,
        seed=SEED,
        guidance=GUIDANCE,
        sampler=SamplerName(sampler),
        schedule=ScheduleName(schedule) if schedule else None,
        convention=convention,
        refiner=at and RefinerChoice(checkpoint=str(folders[1]), switch_at=at),
        **{"steps": STEPS, **changes},
    )
    return run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY).pixels[0]


def check(made: np.ndarray, expected: np.ndarray, unrefined: np.ndarray) -> None:
    measured = psnr(made, expected)
    LOG.info("PSNR %.1f dB, %.1f dB without a refiner", measured, psnr(unrefined, expected))
    assert made.std() > 10
    assert measured >= LIMIT
    assert psnr(unrefined, expected) < measured - 15


class Refined(a1111.Guided):
    """`CFGDenoiser` with a refiner; `evaluations` is its `total_steps`, where steps decide."""

    def __init__(
        self,
        inner: Any,
        networks: Networks,
        picture: Picture,
        *,
        refiner: Networks,
        at: float,
        evaluations: int | None,
    ) -> None:
        super().__init__(inner, networks, picture)
        self.refiner, self.at, self.evaluations = refiner, at, evaluations
        self.switched_after: int | None = None

    def forward(self, x: Any, sigma: Any, **_: Any) -> Any:
        if self.switched_after is None and self._completed(sigma) >= self.at:
            self.switched_after = self.evaluation
            encoder = TextEncoder(self.refiner, self.picture)
            self.inner = self._refining()
            self.positives = [encoder.scheduled(part) for part in self.picture.parts()]
            self.negative = encoder.scheduled(self.picture.uncond())
        return super().forward(x, sigma)

    def _completed(self, sigma: Any) -> float:
        if self.evaluations is not None:
            return self.evaluation / self.evaluations
        sigmas = getattr(self.inner, "sigmas", None)
        timestep = sigma.max().to(int) if sigmas is None else (sigmas - sigma.max()).abs().argmin()
        return (999 - int(timestep)) / 1000

    def _refining(self) -> Any:
        model = a1111.network(self.refiner, self.picture)
        return type(self.inner)(model) if hasattr(self.inner, "sigmas") else model.apply_model


# A1111's samplers whose `total_steps` are doubled (`second_order`), and those without steps.
SECOND_ORDER = {"DPM++ SDE", "DPM++ 2S a", "Heun", "DPM2", "DPM2 a", "Restart"}
WITHOUT_STEPS = {"DPM fast", "DPM adaptive"}


# Every sampler in one of the two ways; `make thorough` has both.
REFINED = [
    pytest.param(sampler, by_steps, marks=[pytest.mark.slow] * (number % 2 == by_steps))
    for number, sampler in enumerate(sorted(A1111_SAMPLERS.keys() - WITHOUT_STEPS))
    for by_steps in (False, True)
]


@pytest.mark.parametrize(("sampler", "by_steps"), REFINED)
def test_refined_pictures_equal_a1111s(
    folders, networks, monkeypatch, sampler: str, by_steps: bool
) -> None:
    total = STEPS * (2 if sampler in SECOND_ORDER else 1) if by_steps else None
    schedule = "normal" if sampler == "LCM" else ""  # elsewhere A1111's own is ours, too
    compare_a1111(
        folders, networks, monkeypatch, Picture(sampler, steps=STEPS), total, schedule=schedule
    )


@pytest.mark.parametrize("sampler", ["Euler", "DPM++ SDE", "DDIM", "UniPC"])
def test_redrawn_and_refined_pictures_equal_a1111s(
    folders, networks, monkeypatch, tmp_path, sampler: str
) -> None:
    # Of six steps, DDIM ends before the handover.
    strength, steps = 0.8, 10
    total = (int(strength * steps) + 1) * (2 if sampler in SECOND_ORDER else 1)
    Image.fromarray(init_picture()).save(tmp_path / "init.png")
    inputs = (InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),)
    picture = Picture(sampler, steps=steps, strength=strength)
    redrawn = {"strength": strength, "inputs": inputs, "steps": steps}
    compare_a1111(folders, networks, monkeypatch, picture, total, **redrawn)


def compare_a1111(
    folders, networks, monkeypatch, picture: Picture, total: int | None, **changes
) -> None:
    """Handed over at a share of `total` evaluations, or where that is None by the level."""
    made: list[Refined] = []
    at = 0.55

    def guided(*given: Any) -> Refined:
        made.append(Refined(*given, refiner=networks[1], at=at, evaluations=total))
        return made[-1]

    rule = RefinerHandover.EVALUATION if total else RefinerHandover.LEVEL
    convention = msgspec.structs.replace(CONVENTIONS[ConventionName.A1111], refiner_handover=rule)
    changes |= {"convention": convention, "sampler": A1111_SAMPLERS[picture.sampler]}
    with monkeypatch.context() as patch:
        patch.setattr(a1111, "Guided", guided)
        expected = a1111.render(networks[0], picture)
    # The levels of LCM have 50 places, which are taken for timesteps: it hands over at once.
    assert made[0].switched_after or (picture.sampler == "LCM" and not total)
    check(ours(folders, at, **changes), expected, ours(folders, None, **changes))


# Those of ComfyUI's samplers that step along the whole of what they are given, as ours do.
STEPPING = sorted(COMFY_SAMPLERS.keys() - {"dpm_fast", "dpm_adaptive"})


@pytest.mark.parametrize("sampler", thinned(STEPPING, STEPPING[::3], pytest.mark.slow))
def test_refined_pictures_equal_comfyuis(folders, networks, sampler: str) -> None:
    """Two `KSamplerAdvanced`: the first leaves its noise in, the second adds none."""
    picture, end = Picture(sampler, "karras", steps=STEPS, source="cuda"), 4
    with torch.no_grad(), brownian_source("cpu"):
        levels = Levels()
        sigmas = comfy._sigmas(picture, levels)
        first, second = (comfy.Guided(network, picture, levels) for network in networks)
        x = generator(SEED, "cpu").randn((1, *SHAPE)) * torch.sqrt(1.0 + sigmas[0] ** 2.0)
        x = comfy._sample(first, x, sigmas[: end + 1], picture)
        expected = networks[0].pixels(comfy._sample(second, x, sigmas[end:], picture), rounds=False)
    ours_name = COMFY_SAMPLERS[sampler]
    asked = partial(ours, folders, convention=ConventionName.COMFY, sampler=ours_name)
    check(asked(end / STEPS, schedule="karras"), expected, asked(None, schedule="karras"))
