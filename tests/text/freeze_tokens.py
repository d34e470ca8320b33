"""Makes frozen/tokens.json: token ids by the tokenizers that older tools run.

    python -m tests.text.freeze_tokens OPEN_CLIP

in an environment with transformers 4.46.3, ftfy 6.3.1 and ours, where OPEN_CLIP is the folder
`open_clip` of open_clip_torch 2.20.0, which A1111 1.10 pins; torch may be absent.

"ftfy": `CLIPTokenizer`; "basic": the same where ftfy is absent; "open_clip": `SimpleTokenizer`.
"""
# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

from engine.text.tokenizers import load_clip_tokenizer
from tests.text.token_cases import TEXTS

FROZEN = Path(__file__).parent / "frozen" / "tokens.json"


def main(open_clip: Path) -> None:
    """Write the file."""
    repairing, basic = slow_tokenizer(ftfy=True), slow_tokenizer(ftfy=False)
    simple = simple_tokenizer(open_clip)
    frozen = {
        "ftfy": [repairing(text) for text in TEXTS],
        "basic": [basic(text) for text in TEXTS],
        "open_clip": [simple.encode(text) for text in TEXTS],
    }
    FROZEN.write_text(json.dumps(frozen, separators=(",", ":")) + "\n")


def slow_tokenizer(*, ftfy: bool):
    """Text to ids by `CLIPTokenizer` of transformers 4, without start and end."""
    from transformers import CLIPTokenizer

    vocabulary, merges, *_ = load_clip_tokenizer()._made_of
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "vocab.json").write_text(json.dumps(vocabulary))
        lines = "".join(f"{first} {second}\n" for first, second in merges)
        (folder / "merges.txt").write_text("#version: 0.2\n" + lines)
        tokenizer = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    assert tokenizer.fix_text is not None
    if not ftfy:
        # As its constructor leaves it where the import fails.
        from transformers.models.clip.tokenization_clip import BasicTokenizer

        tokenizer.fix_text = None
        tokenizer.nlp = BasicTokenizer(strip_accents=False, do_split_on_punc=False)
    return lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]


def simple_tokenizer(folder: Path):
    """OpenCLIP's own."""
    sys.modules.setdefault("torch", MagicMock())
    spec = importlib.util.spec_from_file_location("tokenizer", folder / "tokenizer.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SimpleTokenizer()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
