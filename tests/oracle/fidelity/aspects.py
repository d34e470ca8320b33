"""The settings of users beyond sampler and schedule, as cells. Prompts are read here by hand."""
# pyright: basic

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engine.api.values import ConventionName
from tests.oracle.fidelity.cells import Cell
from tests.oracle.fidelity.names import (
    A1111_SAMPLERS,
    COMFY_ON_CARD,
    COMFY_SAMPLERS,
    DIFFUSERS_SAMPLERS,
    INVOKE_SAMPLERS,
    schedule_name,
)
from tests.oracle.fidelity.ours import Asked
from tests.oracle.fidelity.picture import PROMPT, STEPS, Fragment, Part, Picture, plain, weighed

_LONG = "a red horse, blue house, " * 8
_TOOLS = {
    "A1111": ConventionName.A1111,
    "ComfyUI": ConventionName.COMFY,
    "diffusers": ConventionName.DIFFUSERS,
    "InvokeAI": ConventionName.INVOKE,
}


def cells() -> Iterator[Cell]:
    """All aspects, tool by tool."""
    yield from _a1111_prompts()
    yield from _a1111_noise()
    yield from _a1111_options()
    yield from _a1111_levels()
    yield from _a1111_redrawn()
    yield from _comfy_prompts()
    yield from _comfy_others()
    yield from _diffusers()
    yield from _invoke()


def _cell(tool: str, aspect: str, sampler: str, schedule: str, **changes: Any) -> Cell:
    """A cell whose control is the picture without these changes, or without those of `control`."""
    control = changes.pop("control", None)
    kept = changes.pop("kept", {})
    picture = Picture(sampler, schedule, **(kept | changes))
    without = Picture(sampler, schedule, **kept)
    if control is not None:
        without = replace(picture, **control)
    return Cell(tool, picture, _asked(tool, sampler, schedule), aspect, without)


def _asked(tool: str, sampler: str, schedule: str) -> Asked:
    if tool == "InvokeAI":
        return Asked(ConventionName.INVOKE, *INVOKE_SAMPLERS[sampler])
    names = {
        "A1111": A1111_SAMPLERS,
        "ComfyUI": COMFY_SAMPLERS | COMFY_ON_CARD,
        "diffusers": DIFFUSERS_SAMPLERS,
    }
    return Asked(_TOOLS[tool], names[tool][sampler], schedule_name(schedule))


def _a1111(
    aspect: str, sampler: str = "DPM++ 2M", schedule: str = "Karras", **changes: Any
) -> Cell:
    return _cell("A1111", aspect, sampler, schedule, **changes)


def _stages(*stages: tuple[int, str]) -> tuple[Part, ...]:
    return (Part(tuple((end, ((text, 1.0),)) for end, text in stages)),)


def _a1111_prompts() -> Iterator[Cell]:
    weights: tuple[Fragment, ...] = (
        ("a ", 1.0),
        ("red", 1.8),
        (" horse, ", 1.0),
        ("blue", 1 / 1.1),
        (" house", 1.0),
    )
    weighed_prompt = {
        "prompt": "a (red:1.8) horse, [blue] house",
        "positive_parts": weighed(*weights),
    }
    unweighed = {"positive_parts": plain(PROMPT)}
    for emphasis, label in (("", "Original"), ("no_norm", "No norm")):
        yield _a1111(f"emphasis {label}", emphasis=emphasis, control=unweighed, **weighed_prompt)
    yield _a1111(
        "emphasis Ignore", emphasis="none", control={"emphasis": "original"}, **weighed_prompt
    )
    yield _a1111(
        "nested weights multiply",
        prompt="((a red:1.3) horse:1.4), blue house",
        positive_parts=weighed(("a red", 1.3 * 1.4), (" horse", 1.4), (", blue house", 1.0)),
        control=unweighed,
    )
    yield _a1111(
        "escaped brackets",
        prompt=r"a \(red:1.8\) horse, blue house",
        positive_parts=plain("a (red:1.8) horse, blue house"),
        control=unweighed,
    )
    yield _a1111("clip skip 2", clip_skip=2)
    yield _a1111("two chunks, ended at a comma", prompt=_LONG)
    yield _a1111(
        "two chunks beside one, padded",
        prompt=_LONG,
        pads_chunks=True,
        control={"pads_chunks": False},
    )
    yield _a1111(
        "BREAK",
        prompt="a red horse BREAK blue house",
        positive_parts=weighed(("a red horse", 1.0), (None, -1.0), ("blue house", 1.0)),
        control={"positive_parts": plain("a red horse blue house")},
    )
    yield from _a1111_scheduled()


def _a1111_scheduled() -> Iterator[Cell]:
    red, blue = plain("a red horse"), plain("a blue horse")
    yield _a1111(
        "[from:to:4]",
        prompt="a [red:blue:4] horse",
        positive_parts=_stages((4, "a red horse"), (STEPS, "a blue horse")),
        control={"positive_parts": blue},
    )
    yield _a1111(
        "[from:to:0.5], two evaluations a step",
        "Heun",
        prompt="a [red:blue:0.5] horse",
        positive_parts=_stages((STEPS, "a red horse"), (2 * STEPS, "a blue horse")),
        control={"positive_parts": blue},
    )
    yield _a1111(
        "[to:0.3]",
        prompt="a [red:0.3] horse",
        positive_parts=_stages((3, "a  horse"), (STEPS, "a red horse")),
        control={"positive_parts": red},
    )
    yield _a1111(
        "[from::2]",
        prompt="a [red::2] horse",
        positive_parts=_stages((2, "a red horse"), (STEPS, "a  horse")),
        control={"positive_parts": plain("a  horse")},
    )
    both = "red horse", "blue house"
    turns = [(step, f"a {both[1 - step % 2]}") for step in range(1, STEPS + 1)]
    yield _a1111(
        "[a|b]",
        prompt="a [red horse|blue house]",
        positive_parts=_stages(*turns),
        control={"positive_parts": plain("a blue house")},
    )
    yield _a1111(
        "negative prompt [from:to:4]",
        negative="a [red:blue:4] horse",
        negative_parts=_stages((4, "a red horse"), (STEPS, "a blue horse")),
        control={"negative_parts": blue},
    )
    horse, house = plain("a red horse")[0], plain("blue house")[0]
    yield _a1111(
        "AND",
        prompt="a red horse :1.2 AND blue house :0.7",
        positive_parts=(
            replace(horse, weight=1.2),
            replace(house, weight=0.7),
        ),
        control={"positive_parts": (horse,)},
    )


def _a1111_noise() -> Iterator[Cell]:
    ancestral = ("Euler a", "Karras")
    varied: dict[str, Any] = {"variation_seed": 99, "variation_strength": 0.3}
    yield _a1111("variation seed", *ancestral, **varied)
    yield _a1111("seed resized from larger", *ancestral, resize_from=(320, 288))
    yield _a1111("seed resized from smaller", *ancestral, resize_from=(128, 192))
    yield _a1111(
        "variation of a resized seed",
        *ancestral,
        resize_from=(128, 320),
        **varied,
        control={"variation_strength": 0.0},
    )
    yield _a1111("eta noise seed delta", *ancestral, eta_seed_delta=31337)
    yield _a1111("eta noise seed delta, DDIM", "DDIM", "", eta_seed_delta=31337, kept={"eta": 1.0})
    yield _a1111("third of a batch", *ancestral, batch_index=2)
    yield _a1111("third of a batch, Brownian", "DPM++ SDE", batch_index=2)
    yield _a1111(
        "third of a batch of variations",
        *ancestral,
        batch_index=2,
        **varied,
        control=varied | {"batch_index": 0},
    )
    on_card = {"source": "cuda"}
    yield _a1111("variation seed on the card", *ancestral, **varied, kept=on_card)
    yield _a1111("eta noise seed delta on the card", *ancestral, eta_seed_delta=31337, kept=on_card)


def _a1111_options() -> Iterator[Cell]:
    yield _a1111("eta 0.5", "Euler a", eta=0.5)
    yield _a1111("eta 0.4, noise 1.05", "DPM++ 2M SDE", eta=0.4, noise_scale=1.05)
    yield _a1111("eta 0.3, noise 1.05", "DPM++ SDE", eta=0.3, noise_scale=1.05)
    yield _a1111("eta 0.6", "DPM++ 3M SDE", eta=0.6)
    yield _a1111("eta 0.6, noise 0.9", "DPM++ 2S a", eta=0.6, noise_scale=0.9)
    yield _a1111("eta 0.6, noise 0.9", "DPM2 a", eta=0.6, noise_scale=0.9)
    yield _a1111("eta 0", "DPM fast", "Uniform", eta=0.0)
    yield _a1111("eta 0.7", "DDIM", "", eta=0.7)
    churned: dict[str, Any] = {
        "churn": 4.0,
        "churn_from": 0.5,
        "churn_to": 10.0,
        "noise_scale": 1.01,
    }
    for sampler in ("Euler", "Heun", "DPM2"):
        yield _a1111("churn 4 from 0.5 to 10, noise 1.01", sampler, **churned)
    yield _a1111("36 steps, two restarts", "Restart", steps=36, control={"steps": 20})


def _a1111_levels() -> Iterator[Cell]:
    old: dict[str, Any] = {"sigma_min": 0.1, "sigma_max": 10.0}
    yield _a1111("levels from 10 to 0.1", **old)
    yield _a1111("levels from 10 to 0.1, rho 3", rho=3.0, kept=old)
    yield _a1111("rho 2", schedule="Polyexponential", rho=2.0)
    yield _a1111("SGM noise multiplier", widens_first_noise=True, kept={"sigma_max": 2.0})
    yield _a1111("next-to-last level discarded", discards_next_to_last=True)
    yield _a1111("guidance from 0.25 to 0.75", "Euler", guided=(0.25, 0.75))
    yield _a1111("guidance 1", guidance=1.0)
    v = {"prediction": "v_prediction"}
    for sampler, schedule in (
        ("DPM++ 2M", "Karras"),
        ("Euler a", "Uniform"),
        ("DDIM", ""),
        ("UniPC", ""),
    ):
        yield _a1111("v-prediction", sampler, schedule, **v)
    for sampler, schedule in (("Euler", "Uniform"), ("DPM++ 2M", "SGM Uniform"), ("DDIM", "")):
        yield _a1111(
            "zero-terminal SNR, v-prediction", sampler, schedule, zero_terminal_snr=True, kept=v
        )


def _a1111_redrawn() -> Iterator[Cell]:
    for sampler, schedule in (
        ("DPM++ 2M", "Karras"),
        ("Euler a", "Uniform"),
        ("DPM++ SDE", "Karras"),
        ("DPM2", "Karras"),
        ("DPM fast", "Uniform"),
        ("LCM", "Uniform"),
        ("DDIM", ""),
        ("PLMS", ""),
        ("UniPC", ""),
    ):
        for strength in (0.75, 0.4):
            yield _a1111(f"redrawn by {strength}", sampler, schedule, strength=strength)


def _comfy(
    aspect: str, sampler: str = "dpmpp_2m", schedule: str = "karras", **changes: Any
) -> Cell:
    kept = {"source": "cuda"} | changes.pop("kept", {})
    return _cell("ComfyUI", aspect, sampler, schedule, kept=kept, **changes)


def _comfy_prompts() -> Iterator[Cell]:
    unweighed = {"positive_parts": plain(PROMPT)}
    yield _comfy(
        "weights from the empty prompt",
        prompt="a (red:1.8) horse, (blue:0.3) house",
        positive_parts=weighed(
            ("a ", 1.0), ("red", 1.8), (" horse, ", 1.0), ("blue", 0.3), (" house", 1.0)
        ),
        control=unweighed,
    )
    yield _comfy(
        "an inner weight replaces the outer",
        prompt="((a red:1.3) horse:2.4), blue house",
        positive_parts=weighed(("a red", 1.3), (" horse", 2.4), (", blue house", 1.0)),
        control={
            "positive_parts": weighed(("a red", 1.3 * 2.4), (" horse", 2.4), (", blue house", 1.0))
        },
    )
    yield _comfy(
        "square brackets are text",
        prompt="a [red] horse, blue house",
        control={"prompt": PROMPT},
    )
    yield _comfy("clip skip 2", clip_skip=2)
    yield _comfy("two chunks, the other prompt repeated", prompt=_LONG)


def _comfy_others() -> Iterator[Cell]:
    ancestral = ("euler_ancestral", "normal")
    yield _comfy("steps' noise from a processor", *ancestral, source="cpu")
    for sampler in ("dpmpp_sde_gpu", "dpmpp_2m_sde_gpu", "dpmpp_3m_sde_gpu"):
        yield _comfy("Brownian path from the card", sampler, control={"source": "cpu"})
    yield _comfy("third of a batch", batch_index=2)
    yield _comfy("third of a batch, ancestral", *ancestral, batch_index=2)
    yield _comfy("third of a batch, Brownian", "dpmpp_sde", batch_index=2)
    yield _comfy("eta 0.5, noise 1.1", *ancestral, eta=0.5, noise_scale=1.1)
    yield _comfy("eta 0.4, noise 1.1", "dpmpp_2m_sde", eta=0.4, noise_scale=1.1)
    yield _comfy("eta 0.4, noise 1.1", "dpmpp_sde", eta=0.4, noise_scale=1.1)
    yield _comfy("eta 0.6, noise 1.1", "dpmpp_2s_ancestral", eta=0.6, noise_scale=1.1)
    yield _comfy("guidance 1", guidance=1.0)
    yield _comfy("RescaleCFG 1, guidance 20", rescale=1.0, kept={"guidance": 20.0})
    v = {"prediction": "v_prediction"}
    yield _comfy("v-prediction", **v)
    yield _comfy("RescaleCFG 0.7, v-prediction", rescale=0.7, kept=v)
    for sampler, schedule in (("euler", "normal"), ("dpmpp_2m", "sgm_uniform")):
        yield _comfy(
            "zero-terminal SNR, v-prediction", sampler, schedule, zero_terminal_snr=True, kept=v
        )
    for sampler in ("dpmpp_2m", "euler_ancestral", "dpmpp_sde", "dpm_2", "uni_pc", "ddim"):
        for strength in (0.75, 0.4):
            yield _comfy(f"redrawn by {strength}", sampler, strength=strength)


def _diffusers() -> Iterator[Cell]:
    def cell(
        aspect: str, sampler: str = "EulerDiscrete", schedule: str = "", **changes: Any
    ) -> Cell:
        from tests.oracle.fidelity.matrix import diffusers_asked

        made = _cell("diffusers", aspect, sampler, schedule, **changes)
        return replace(made, asked=diffusers_asked(sampler, schedule))

    yield cell("weights are text", prompt="a (red:1.8) horse", control={"prompt": "a red horse"})
    yield cell("the prompt is cut at 75 tokens", prompt=_LONG, control={"prompt": _LONG[:60]})
    yield cell("third of a batch", batch_index=2)
    yield cell("eta 0.5", "DDIM", eta=0.5)
    yield cell("eta 0.3", "TCD", eta=0.3)
    yield cell("guidance_rescale 0.7, guidance 20", rescale=0.7, kept={"guidance": 20.0})
    v = {"prediction": "v_prediction"}
    for sampler in ("EulerDiscrete", "DPMSolverMultistep", "DDIM"):
        yield cell("v-prediction", sampler, **v)
    for sampler in ("EulerDiscrete", "DDIM"):
        yield cell(
            "zero-terminal SNR, v-prediction", sampler, "trailing", zero_terminal_snr=True, kept=v
        )
    for sampler in (
        "EulerDiscrete",
        "DPMSolverMultistep",
        "DDIM",
        "HeunDiscrete",
        "UniPCMultistep",
    ):
        for strength in (0.75, 0.4):
            yield cell(f"redrawn by {strength}", sampler, strength=strength)


def _invoke() -> Iterator[Cell]:
    def cell(aspect: str, sampler: str = "dpmpp_2m_k", **changes: Any) -> Cell:
        kept = {"source": "cuda"} | changes.pop("kept", {})
        return _cell("InvokeAI", aspect, sampler, "", kept=kept, **changes)

    yield cell("more weight", prompt="a red+++++ horse, blue house", control={"prompt": PROMPT})
    yield cell("less weight", prompt="a (red horse)0.2, blue house", control={"prompt": PROMPT})
    yield cell(
        "both weights", prompt="a red++++ (horse)0.3, blue house", control={"prompt": PROMPT}
    )
    yield cell(".and()", prompt='("a red horse", "blue house").and()', control={"prompt": PROMPT})
    yield cell(
        ".blend()",
        prompt='("a red horse", "blue house").blend(0.7, 0.3)',
        control={"prompt": PROMPT},
    )
    yield cell("two chunks", prompt=_LONG)
    yield cell("clip skip 2", clip_skip=2)
    yield cell("third of a batch", "euler_a", batch_index=2)
    yield cell("steps' noise from a processor", "euler_a", source="cpu")
    yield cell("CFG rescale 0.7, guidance 20", rescale=0.7, kept={"guidance": 20.0})
    for sampler in ("dpmpp_2m_k", "euler", "ddim", "heun", "dpmpp_2m_sde"):
        for strength in (0.75, 0.4):
            yield cell(f"redrawn by {strength}", sampler, strength=strength)
