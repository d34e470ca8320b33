"""FIDELITY.md: from the measured figures to the page, and what of it a test can compare."""
# pyright: basic

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.oracle.fidelity.cells import Cell

PATH = Path(__file__).parents[3] / "FIDELITY.md"
_FIGURE = re.compile(r"(?<=\| )(?:\d+\.\d|same)(?= \|)")

_HEAD = """# Fidelity

How close Safelight's pictures are to those of other tools, for the same checkpoint, prompt, seed
and settings. `make fidelity` writes this page; `make oracle` measures a third of it again,
`make thorough` all, and each fails below {limit:g} dB. There are {count} comparisons, all in
32-bit floats on a processor.

| Tool and comparisons | Lowest, dB |
|---|---|
{summary}

## How it is measured

The checkpoint is a whole Stable Diffusion 1 in small: a UNet, a VAE and a CLIP text encoder in
diffusers' layout, with random weights. Pictures have 64x64 pixels from latents of 4x32x32, and take
10 steps at guidance 7 (Restart 20 steps), unless a line says otherwise.

The other side is plain PyTorch, in `tests/oracle/fidelity`. The networks are those of diffusers and
transformers, the noise is torch's, Brownian paths are torchsde's, samplers are k-diffusion's
functions and diffusers' schedulers, InvokeAI's prompts are read by compel. What only a tool itself
has was written again from its behaviour. None of it uses Safelight's samplers, schedules, noise or
prompts, and prompts of AUTOMATIC1111 and ComfyUI are read by hand.

The figure is the peak signal-to-noise ratio of the 8-bit pictures in dB; "same" means that all
pixels are equal. At 80 dB a few values differ by one level of 256. With another seed it is about
9 dB, with another sampler 14 to 49 dB. The column "Without" has the tool's own picture without that
setting: how far off the picture would be if Safelight ignored it.

ComfyUI rounds timesteps. `sgm_uniform` in 10 steps has one midway between two, 499.5, and there the
last bit of a logarithm decides: that is the lowest figure of its list.

A picture that is redrawn starts from the mean of what the encoder says, on both sides. ComfyUI
takes that, too. AUTOMATIC1111 and InvokeAI draw from a generator that no record tells; diffusers
draws from the picture's, which both sides do here.

Tokens are those of the tools' tokenizers, frozen by `tests/text/freeze_tokens.py`, as transformers
5 no longer has them. AUTOMATIC1111's repair a prompt with ftfy (curly quotes become plain ones),
and OpenCLIP's then read HTML's `&amp;`; only words such as `<|endoftext|>` are text to OpenCLIP's
alone. ComfyUI's are transformers 4's without ftfy, for which each Chinese character is a word;
with transformers 5 it has the plain ones, which `--set text_cleaning=none` takes. Of the
conventions of diffusers and InvokeAI, whose installations have ftfy or not, the plain ones are
taken.

UniPC has two forms, B(h) of the paper: ComfyUI's `uni_pc` and A1111's usual one are bh1,
`uni_pc_bh2` and A1111's "UniPC variant: bh2" are bh2, both of order 3; diffusers' is bh2 of order
2. SwarmUI and Fooocus run ComfyUI's. Easy Diffusion's `unipc_snr`, `unipc_tq` and the like visit
other timesteps and come next to them; a picture's note says so.

## How the other side was checked

`python -m tests.oracle.fidelity.validate CHECKOUT` runs every comparison of AUTOMATIC1111 and
ComfyUI through the tool's own source, on the same networks, instead of through Safelight: its
samplers, schedules, noise, guidance and prompt code, with only options, interface and memory put in
their place. Of AUTOMATIC1111 (commit 5347a0d)
{a1111};
of ComfyUI (commit a125cd8)
{comfy}.
The schedulers of diffusers and compel are run as they are published; the loop around them is short.
"""
# What `validate` printed last.
_A1111_CHECKED = "118 of 132 pictures are equal and the lowest figure is 82.0 dB"
_COMFY_CHECKED = "17 of 88 are equal and the lowest figure is 70.5 dB"


@dataclass(frozen=True, slots=True)
class Figures:
    """dB by the names of cells: to the tool's picture, and of the tool's picture without."""

    measured: Mapping[str, float]
    without: Mapping[str, float]


def written(cells: Sequence[Cell], figures: Figures, limit: float) -> str:
    """The page."""
    lowest = {
        tool: min(figures.measured[cell.name] for cell in group) for tool, group in _by_tool(cells)
    }
    counts = {tool: len(list(group)) for tool, group in _by_tool(cells)}
    summary = "\n".join(f"| {tool}: {counts[tool]} | {_figure(lowest[tool])} |" for tool in lowest)
    head = _HEAD.format(
        limit=limit, count=len(cells), summary=summary, a1111=_A1111_CHECKED, comfy=_COMFY_CHECKED
    )
    parts = [head]
    for tool, group in _by_tool(cells):
        parts += _tool(tool, list(group), figures)
    return "\n".join(parts)


def masked(text: str) -> str:
    """The page without its figures, which differ in the last digit between machines."""
    return _FIGURE.sub("#", text)


def lowest(text: str) -> float:
    """The lowest figure of the summary of a page."""
    summary = text.split("## How it is measured")[0]
    return min(float(figure) for figure in _FIGURE.findall(summary) if figure != "same")


def controls(text: str) -> list[float]:
    """The figures of the columns "without" of a page."""
    tables = (part.split("\n\n")[0] for part in text.split("| Setting ")[1:])
    figures = (re.search(r"(\d+\.\d) \|$", row) for row in "\n".join(tables).splitlines())
    return [float(figure[1]) for figure in figures if figure]


def _by_tool(cells: Sequence[Cell]) -> Iterable[tuple[str, Iterable[Cell]]]:
    return groupby(sorted(cells, key=lambda cell: _ORDER.index(cell.tool)), lambda cell: cell.tool)


_ORDER = ["A1111", "ComfyUI", "diffusers", "InvokeAI"]
_TITLES = {
    "A1111": "AUTOMATIC1111 1.10 (and Forge's classic samplers)",
    "ComfyUI": "ComfyUI 0.3",
    "diffusers": "diffusers",
    "InvokeAI": "InvokeAI 6",
}


def _tool(tool: str, cells: list[Cell], figures: Figures) -> list[str]:
    table = [cell for cell in cells if not cell.aspect and not cell.on_card]
    on_card = [cell for cell in cells if cell.on_card]
    aspects = [cell for cell in cells if cell.aspect]
    lines = [f"\n## {_TITLES[tool]}\n"]
    lines += _table(table, figures)
    if on_card:
        lines += ["\nWith noise as NVIDIA cards draw it, which is this tool's default:\n"]
        lines += _table(on_card, figures)
    lines += ["\n| Setting | Sampler, schedule | dB | Without |", "|---|---|---|---|"]
    for cell in aspects:
        measured, without = figures.measured[cell.name], figures.without.get(cell.name)
        place = ", ".join(filter(None, (cell.picture.sampler, cell.picture.schedule)))
        shown = "" if without is None else _figure(without)
        setting = cell.aspect.replace("|", "\\|")
        lines.append(f"| {setting} | {place} | {_figure(measured)} | {shown} |")
    return lines


def _table(cells: list[Cell], figures: Figures) -> list[str]:
    """Samplers down, schedules across; an empty place was not compared."""
    rows = list(dict.fromkeys(cell.picture.sampler for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    known = {(c.picture.sampler, c.column): figures.measured[c.name] for c in cells}
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for row in rows:
        shown = (_figure(known[row, c]) if (row, c) in known else "" for c in columns)
        lines.append(f"| {row} | {' | '.join(shown)} |")
    return lines


def _figure(db: float) -> str:
    return "same" if db == 99 else f"{db:.1f}"
