"""Freezes how the tools read prompts, from the tools' own files. In the oracle environment, run

    python -m tests.text.freeze_grammars a1111 CHECKOUT
    python -m tests.text.freeze_grammars comfy CHECKOUT

with the folder of a checkout of

    https://github.com/AUTOMATIC1111/stable-diffusion-webui at
        5347a0d3261e467f6861ea9407016579e5cc6113 (1.10.1), and `pip install lark==1.1.2`, its parser
    https://github.com/comfyanonymous/ComfyUI at a125cd84b054a57729b5eecab930ca9408719832

A1111's grammar of changing prompts is ambiguous, and where brackets are left over its answer is
another in each run of Python; such prompts are left out.
"""
# pyright: basic, reportMissingImports=false, reportOptionalMemberAccess=false
# pyright: reportOptionalSubscript=false, reportArgumentType=false

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.text.grammar_cases import (
    ATTENTION,
    COMFY,
    COMMENTED,
    COMPOSED,
    SCHEDULED,
    STEPS,
    TAGGED,
)

FROZEN = Path(__file__).parent / "frozen"
RUNS = range(6)


def freeze_a1111(checkout: Path) -> dict[str, Any]:
    """Each list holds prompts with what A1111 makes of them."""
    parser = load(checkout / "modules/prompt_parser.py")
    steady = set.intersection(*(set(schedules_of_a_run(checkout, seed)) for seed in RUNS))
    networks = (checkout / "modules/extra_networks.py").read_text(encoding="utf-8")
    tag = re.compile(re.search(r're_extra_net = re.compile\(r"(.*)"\)', networks)[1])
    comments = (checkout / "modules/processing_scripts/comments.py").read_text(encoding="utf-8")
    patterns = re.findall(r're\.sub\("(.*?)", "\\n", text\)', comments)
    return {
        "schedules": [json.loads(item) for item in sorted(steady)],
        "compositions": [[text, composition(parser, text)] for text in COMPOSED],
        "attention": [[text, parser.parse_prompt_attention(text)] for text in ATTENTION],
        "tags": [[text, tag.sub("", text), tag.findall(text)] for text in TAGGED],
        "comments": [[text, uncommented(text, patterns)] for text in COMMENTED],
    }


def composition(parser: Any, text: str) -> list[list[Any]]:
    """The parts of a prompt and their weights."""
    indices, flat, _ = parser.get_multicond_prompt_list([text])
    return [[flat[index], weight] for index, weight in indices[0]]


def uncommented(text: str, patterns: list[str]) -> str:
    """The prompt without what the patterns of comments.py find."""
    for pattern in patterns:
        text = re.sub(pattern.encode().decode("unicode_escape"), "\n", text)
    return text


def schedules_of_a_run(checkout: Path, seed: int) -> list[str]:
    """The schedules that a Python whose hashes have this seed finds, one JSON text each."""
    command = [sys.executable, "-m", "tests.text.freeze_grammars", "schedules", str(checkout)]
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def schedules(checkout: Path) -> list[str]:
    """Return the schedules that A1111 finds in each text, as JSON lines."""
    find = load(checkout / "modules/prompt_parser.py").get_learned_conditioning_prompt_schedules
    cases = [(text, steps) for text in SCHEDULED for steps in STEPS]
    return [json.dumps([text, steps, find([text], steps)[0]]) for text, steps in cases]


def freeze_comfy(checkout: Path) -> dict[str, Any]:
    """Prompts with the texts and weights that ComfyUI tokenizes, empty ones left out."""
    source = (checkout / "comfy/sd1_clip.py").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    for name in ("parse_parentheses", "token_weights", "escape_important", "unescape_important"):
        exec(re.search(rf"^def {name}\(.*?(?=^\S)", source, re.DOTALL | re.MULTILINE)[0], found)

    def read(text: str) -> list[list[Any]]:
        parts = found["token_weights"](found["escape_important"](text), 1.0)
        return [[found["unescape_important"](part), weight] for part, weight in parts if part]

    return {"attention": [[text, read(text)] for text in COMFY]}


def load(path: Path) -> Any:
    """A module from its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(tool: str, checkout: Path) -> None:
    """Write the tool's file."""
    if tool == "schedules":
        sys.stdout.write(json.dumps(schedules(checkout)))
        return
    answers = {"a1111": freeze_a1111, "comfy": freeze_comfy}[tool](checkout)
    lines = (
        f'"{key}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for key, rows in answers.items()
    )
    (FROZEN / f"{tool}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
