"""Runs that layers lead, for the tools' own loops and ours: see `freeze_a1111_controls`."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.api.control import ControlMode
from engine.api.values import SamplerName, ScheduleName

# The residuals of networks for SD 1 and SDXL, and the images of a T2I-Adapter.
SD1_RESIDUALS, SDXL_RESIDUALS, ADAPTER_IMAGES = 13, 10, 4


@dataclass(frozen=True)
class Led:
    """A layer, as far as its strength goes. `means`: its residuals are means over the picture."""

    weight: float = 1.0
    range: tuple[float, float] = (0.0, 1.0)
    mode: ControlMode = ControlMode.BALANCED
    means: bool = False
    adapts: bool = False
    # The name of the module that made its map, in A1111.
    module: str = "depth_midas"


@dataclass(frozen=True)
class Loop:
    """A run. `enlarged`: a second pass that enlarges the picture, of as many steps."""

    layers: tuple[Led, ...]
    sampler: SamplerName = SamplerName.EULER
    steps: int = 4
    schedule: ScheduleName = ScheduleName.NORMAL
    strength: float = 1.0
    sdxl: bool = False
    enlarged: bool = False


PROMPT, CONTROL = ControlMode.PROMPT, ControlMode.CONTROL

# What a mode, a weight and a kind of network do.
STRENGTHS: Mapping[str, Loop] = {
    "balanced": Loop((Led(0.4),)),
    "prompt": Loop((Led(1.6, mode=PROMPT),)),
    "control": Loop((Led(0.7, mode=CONTROL),)),
    "means": Loop((Led(1.2, means=True),)),
    "means prompt": Loop((Led(1.2, mode=PROMPT, means=True),)),
    "adapter": Loop((Led(0.9, adapts=True),)),
    "adapter prompt": Loop((Led(0.9, mode=PROMPT, adapts=True),)),
    "adapter control": Loop((Led(1.3, mode=CONTROL, adapts=True),)),
    "sdxl": Loop((Led(0.8),), sdxl=True),
    "sdxl prompt": Loop((Led(0.8, mode=PROMPT),), sdxl=True),
    "sdxl control": Loop((Led(1.5, mode=CONTROL),), sdxl=True),
    "several": Loop(
        (Led(0.6, (0.0, 0.4)), Led(1.1, (0.3, 1.0), PROMPT), Led(0.5, (0.5, 0.9), CONTROL)),
        steps=10,
    ),
}
# The steps of a range, by sampler: with two evaluations, several in some steps, or a restart.
RANGES: Mapping[str, Loop] = {
    f"{sampler} {start}-{end}": Loop(
        (Led(range=(start, end)),), sampler, 20 if sampler is SamplerName.RESTART else 8
    )
    for sampler in (
        SamplerName.EULER,
        SamplerName.EULER_ANCESTRAL,
        SamplerName.HEUN,
        SamplerName.LMS,
        SamplerName.DPM2,
        SamplerName.DPM_FAST,
        SamplerName.DPMPP_2S_ANCESTRAL,
        SamplerName.DPMPP_2M,
        SamplerName.DPMPP_SDE,
        SamplerName.DPMPP_3M_SDE,
        SamplerName.RESTART,
        SamplerName.UNIPC,
        SamplerName.PLMS,
        SamplerName.DDIM,
    )
    for start, end in ((0.0, 0.5), (0.25, 0.7))
}
REDRAWN: Mapping[str, Loop] = {
    "redrawn": Loop((Led(range=(0.0, 0.5)),), steps=10, strength=0.6),
    "redrawn late": Loop((Led(range=(0.5, 1.0)),), SamplerName.HEUN, steps=10, strength=0.6),
    "redrawn ddim": Loop((Led(range=(0.3, 0.7)),), SamplerName.DDIM, steps=10, strength=0.6),
    "redrawn unipc": Loop((Led(range=(0.3, 0.7)),), SamplerName.UNIPC, steps=10, strength=0.6),
    "redrawn plms": Loop((Led(range=(0.3, 0.7)),), SamplerName.PLMS, steps=10, strength=0.6),
}
ENLARGED: Mapping[str, Loop] = {
    "enlarged": Loop((Led(0.8, (0.0, 0.5)),), steps=8, enlarged=True),
    "enlarged canny": Loop((Led(0.8, (0.0, 0.5), module="canny"),), steps=8, enlarged=True),
    "enlarged control": Loop((Led(0.8, mode=CONTROL, module="canny"), Led(0.5)), enlarged=True),
}
# A sampler whose steps depend on the network.
ADAPTIVE: Mapping[str, Loop] = {
    "adaptive": Loop((Led(range=(0.2, 0.6)),), SamplerName.DPM_ADAPTIVE, steps=20),
}
A1111 = {**STRENGTHS, **RANGES, **REDRAWN, **ENLARGED}

# ComfyUI has no modes; ranges end where a noise level is that of a share of the timesteps.
SHARES = (0.0, 0.05, 0.123, 0.25, 1 / 3, 0.5, 0.62, 0.75, 0.9, 0.999, 1.0)
_SCHEDULES = ScheduleName.NORMAL, ScheduleName.KARRAS, ScheduleName.SIMPLE
COMFY: Mapping[str, Loop] = {
    "weight": Loop((Led(0.4),)),
    "means": Loop((Led(1.2, means=True),)),
    "adapter": Loop((Led(0.9, adapts=True),)),
    "sdxl": Loop((Led(0.8),), sdxl=True),
    "several": Loop((Led(0.6, (0.0, 0.4)), Led(1.1, (0.3, 1.0)), Led(0.5, (0.5, 0.9))), steps=10),
    "heun": Loop((Led(range=(0.2, 0.6)),), SamplerName.HEUN, 8),
    "redrawn": Loop((Led(range=(0.3, 0.8)),), SamplerName.EULER, 8, strength=0.6),
    # Where shares meet levels exactly, or lie beside one by less than a timestep.
    **{
        f"{schedule} {steps} {start}-{end}": Loop(
            (Led(range=(start, end)),), steps=steps, schedule=schedule
        )
        for schedule in _SCHEDULES
        for steps in (3, 5, 20)
        for start, end in ((0.0, 0.5), (0.25, 0.75), (0.35, 0.62), (0.123, 0.9))
    },
}
