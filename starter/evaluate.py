"""Judges the starter model by program: `python -m starter.evaluate`.

First the judge itself is tested, on drawn pictures whose contents are known (it should be right)
and on the same pictures with shuffled captions (it should be at chance). Then the model makes
pictures of combinations it was never trained on, and the judge reports how often each attribute is
right.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from starter.captions import complete_caption
from starter.judge import Verdict, judge
from starter.rendering import Render, renderer
from starter.scenes import Scene, draw, random_scene

HERE = Path(__file__).resolve().parent
MODEL = HERE / "safelight-starter"
SHEET = HERE / "contact_sheet.png"
STEPS = 20
GUIDANCE = 2.5
BATCH = 8
ASKED = ("colour", "time", "land", "place")  # must be right; the kind is informative
TITLES = {
    "colour": "object colour",
    "time": "time of day",
    "land": "landscape",
    "place": "position",
    "kind": "object kind (informative)",
}
COLUMNS, ROWS, TILE, STRIP, GAP = 6, 4, 192, 34, 8


@dataclass(frozen=True, slots=True)
class Score:
    """The share of pictures, 0 to 1, whose attribute is the requested one."""

    colour: float
    time: float
    land: float
    place: float
    kind: float


@dataclass(frozen=True, slots=True)
class Report:
    """All results that the evaluation prints."""

    drawn_pictures: int
    drawn: Score
    shuffled: Score
    chance: Score
    model_pictures: int
    model: Score


def score(scenes: Sequence[Scene], verdicts: Sequence[Verdict]) -> Score:
    def share(name: str) -> float:
        pairs = zip(scenes, verdicts, strict=True)
        return sum(getattr(s, name) == getattr(v, name) for s, v in pairs) / len(scenes)

    return Score(**{name: share(name) for name in TITLES})


def chance(scenes: Sequence[Scene], verdicts: Sequence[Verdict]) -> Score:
    """Return the expected `score` if scenes and verdicts were paired at random."""

    def share(name: str) -> float:
        asked = Counter(getattr(s, name) for s in scenes)
        seen = Counter(getattr(v, name) for v in verdicts)
        return sum(asked[value] * seen[value] for value in asked) / len(scenes) ** 2

    return Score(**{name: share(name) for name in TITLES})


def evaluate(render: Render, count: int, drawn_count: int, sheet: Path | None) -> Report:
    """Return scores of the judge on `drawn_count` drawn pictures, the model on `count` scenes."""
    rng = random.Random(20)
    drawn = [random_scene(rng) for _ in range(drawn_count)]
    seen = [judge(draw(scene, rng)) for scene in drawn]
    shuffled = rng.sample(drawn, len(drawn))

    scenes = [random_scene(rng, unseen=True) for _ in range(count)]
    prompts = [complete_caption(scene, rng) for scene in scenes]
    images: list[Image.Image] = []
    for i in range(0, count, BATCH):
        images += render(prompts[i : i + BATCH], range(1000 + i, 1000 + min(i + BATCH, count)))
        print(f"\r{len(images)}/{count} rendered", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if sheet:
        contact_sheet(images, prompts).save(sheet, optimize=True)
    verdicts = [judge(image) for image in images]
    print_misses(scenes, prompts, verdicts)
    return Report(
        drawn_pictures=drawn_count,
        drawn=score(drawn, seen),
        shuffled=score(shuffled, seen),
        chance=chance(drawn, seen),
        model_pictures=count,
        model=score(scenes, verdicts),
    )


def print_misses(
    scenes: Sequence[Scene], prompts: Sequence[str], verdicts: Sequence[Verdict]
) -> None:
    """Print wrong attributes to standard error."""
    for i, (scene, prompt, verdict) in enumerate(zip(scenes, prompts, verdicts, strict=True)):
        wrong = [
            f"{n} {getattr(verdict, n)}" for n in TITLES if getattr(scene, n) != getattr(verdict, n)
        ]
        if wrong:
            print(f"  {i}: {prompt!r}: {', '.join(wrong)}", file=sys.stderr)


def contact_sheet(images: Sequence[Image.Image], captions: Sequence[str]) -> Image.Image:
    """Arrange the first 24 pictures in six columns, each above its caption."""
    width = COLUMNS * (TILE + GAP) + GAP
    height = ROWS * (TILE + STRIP + GAP) + GAP
    sheet = Image.new("RGB", (width, height), (250, 249, 246))
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    shown = zip(images[: COLUMNS * ROWS], captions, strict=False)
    for i, (image, text) in enumerate(shown):
        x = GAP + (i % COLUMNS) * (TILE + GAP)
        y = GAP + (i // COLUMNS) * (TILE + STRIP + GAP)
        sheet.paste(image.resize((TILE, TILE), Image.Resampling.LANCZOS), (x, y))
        pen.multiline_text(
            (x + 1, y + TILE + 3), _wrap(pen, text, font), (70, 66, 80), font, spacing=2
        )
    return sheet


def _wrap(
    pen: ImageDraw.ImageDraw, text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont
) -> str:
    """Break `text` into at most two lines, each no wider than a tile."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if pen.textlength(longer, font) <= TILE - 2:
            lines[-1] = longer
        elif len(lines) < 2:
            lines.append(word)
        else:
            lines[-1] += " …"
            break
    return "\n".join(lines)


def table(report: Report) -> str:
    lines = [
        f"{'':28}{'judge on':>10}{'captions':>10}{'chance':>10}{'model on':>10}",
        f"{'':28}{'drawn':>10}{'shuffled':>10}{'level':>10}{'unseen':>10}",
    ]
    for name, title in TITLES.items():
        columns = (report.drawn, report.shuffled, report.chance, report.model)
        lines.append(f"{title:28}" + "".join(f"{getattr(c, name):>10.1%}" for c in columns))
    lines.append(f"{'pictures':28}{report.drawn_pictures:>10}{'':20}{report.model_pictures:>10}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if the judge and the model both reach the project's requirements."""
    parser = argparse.ArgumentParser(prog="python -m starter.evaluate")
    parser.add_argument("--renderer", choices=("safelight", "diffusers"), default="safelight")
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--count", type=int, default=200, help="unseen combinations to draw")
    parser.add_argument("--drawn", type=int, default=1000, help="pictures to try the judge on")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--guidance", type=float, default=GUIDANCE)
    parser.add_argument("--sheet", type=Path, default=SHEET)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    with renderer(chosen.renderer, chosen.model, chosen.steps, chosen.guidance) as render:
        report = evaluate(render, chosen.count, chosen.drawn, chosen.sheet)
    print(json.dumps(asdict(report), indent=2) if chosen.json else table(report))
    good = all(
        getattr(report.drawn, name) >= 0.99 and getattr(report.model, name) >= 0.95
        for name in ASKED
    )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
