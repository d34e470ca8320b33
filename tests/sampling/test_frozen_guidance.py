"""PAG, SAG and FreeU equal ComfyUI's nodes, frozen by `freeze_guidance`."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType, OperatorSet
from backends.cpu import CpuBackend
from engine.api.values import PredictionType
from engine.graphs.free_u import SCALES, FreeU, FreeUWriter, wave_inputs
from engine.graphs.operators import GraphBuilder
from engine.sampling.attention_guidance import (
    AttentionGuidance,
    PerturbedAttention,
    SelfAttention,
)
from engine.sampling.denoiser import Denoiser
from engine.sampling.schedules import NoiseSchedule
from tests.backends.samples import NeverCancelled, ignore
from tests.graphs.networks import graph_in_memory
from tests.sampling.attentive_toy import BLUR, CASES, SIGMA, SIZES, AttentiveToy, noised

FROZEN = Path(__file__).parent / "frozen" / "guidance.npz"
FIRST_WIDTH, FACTORS = 8, (1.3, 1.4, 0.9, 0.2)


def frozen(name: str) -> Array:
    with np.load(FROZEN) as file:
        return file[name]


def relative(ours: Array, theirs: Array) -> float:
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_guidance_by_attention_is_comfyuis(name: str, size: str) -> None:
    pag, sag, guidance = CASES[name]
    toy = AttentiveToy(SIZES[size])
    terms = AttentionGuidance(
        toy,
        perturbed=PerturbedAttention(pag) if pag else None,
        seen=SelfAttention(sag, BLUR, by_negative=True) if sag else None,
    )
    denoise = Denoiser(
        toy, NoiseSchedule.scaled_linear(), PredictionType.EPSILON, guidance, attention=terms
    )
    ours = denoise(noised(SIZES[size]), SIGMA)
    assert relative(ours, frozen(f"{name}/{size}")) < 1e-5


@pytest.mark.parametrize("width", [32, 16])
@pytest.mark.parametrize("name", ["FreeU", "FreeU_V2"])
def test_free_u_is_comfyuis(name: str, width: int) -> None:
    h, skip = frozen(f"{width}/h"), frozen(f"{width}/skip")
    form = FreeU(follows_mean=name == "FreeU_V2", by_width=True)

    def network(g: GraphBuilder) -> None:
        axes = ("rows", width, "height", "width")
        given = (g.input(input_name, DType.F32, axes) for input_name in ("h", "skip"))
        writer = FreeUWriter(g, form, FIRST_WIDTH)
        x, low = next(given), next(given)
        for label, value in zip(("x", "low"), writer.write(x, width, low, (0, 0)), strict=True):
            g.output(value, label, DType.F32, axes)

    backend = CpuBackend()
    graph = graph_in_memory(network, {}, OperatorSet(opset=20))
    session = backend.load(graph, None, backend.probe()[0], ignore, NeverCancelled())
    scales = {SCALES: np.array(FACTORS, np.float32)}
    found = session.run({"h": h, "skip": skip, **scales, **wave_inputs(0, (6, 9))})
    assert relative(found["x"], frozen(f"{name}/{width}/h")) < 1e-5
    assert relative(found["low"], frozen(f"{name}/{width}/skip")) < 1e-5
