"""Makes frozen/t5_rows.json: digests of rows of T5's tokens and weights by Forge's own code.

    python -m tests.text.freeze_t5_rows FORGE

in an environment with torch and transformers, where FORGE is a checkout of
stable-diffusion-webui-forge at dfdcbab6, whose own tokenizer.json for Flux.1 is read as
transformers 4 reads it.
"""
# pyright: basic, reportMissingImports=false

import hashlib
import importlib.util
import json
import sys
import types
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np

from tests.text.t5_cases import drawn_prompts

FROZEN = Path(__file__).parent / "frozen" / "t5_rows.json"
# The ids and weights of a prompt's row.
Row = tuple[list[int], list[float]]


def main(checkout: Path) -> None:
    """Write the file."""
    read = forge_rows(checkout)
    frozen = [digest_of(read(text)) for text in drawn_prompts()]
    FROZEN.write_text(json.dumps(frozen, separators=(",", ":")) + "\n")


def digest_of(row: Row) -> str:
    """Return a digest of a row, its weights in float32."""
    ids, weights = row
    data = np.array(ids, "<i4").tobytes() + np.array(weights, "<f4").tobytes()
    return hashlib.sha256(data).hexdigest()[:12]


def forge_rows(checkout: Path):
    """Text to the row that Forge reads of those that its `T5TextProcessingEngine` makes."""
    folder = checkout / "backend" / "text_processing"
    package = types.ModuleType("backend.text_processing")
    sys.modules |= {
        "backend": MagicMock(),
        "backend.text_processing": package,
        "backend.memory_management": MagicMock(),
        "modules": MagicMock(),
        "modules.shared": MagicMock(),
    }
    for name in ("parsing", "emphasis"):
        setattr(package, name, module_of(f"backend.text_processing.{name}", folder / f"{name}.py"))
    module = module_of("backend.text_processing.t5_engine", folder / "t5_engine.py")
    file = checkout / "backend/huggingface/black-forest-labs/FLUX.1-dev/tokenizer_2/tokenizer.json"
    engine = module.T5TextProcessingEngine(MagicMock(), read_tokenizer(file))
    vars(module)["opts"] = types.SimpleNamespace(emphasis="Original")
    seen: list[Row] = []

    def process(tokens, multipliers):
        seen.append((tokens[0], multipliers[0]))
        return module.torch.zeros(1, 1)

    engine.process_tokens = process

    def rows(text: str) -> Row:
        seen.clear()
        engine([text])
        # Of one text's rows the denoiser gets the first.
        return seen[0]

    return rows


def read_tokenizer(file: Path):
    """Return the tokenizer of a tokenizer.json, with nothing changed."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=str(file))


def module_of(name: str, path: Path):
    """Return a module, read from a file under another name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(Path(sys.argv[1]))
