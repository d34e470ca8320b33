"""Makes frozen/t5_tokens.json: token ids by transformers' own file of T5's tokenizer.

    python -m tests.text.freeze_t5_tokens tokenizer.json

in an environment with transformers 5, where tokenizer.json is that of ComfyUI
(`comfy/text_encoders/t5_tokenizer`), which Forge has, too. "file": by the file as it is, as
transformers 4 reads it; "transformers": by `T5TokenizerFast` of transformers 5. Ids of texts by
hand, and a digest of those of drawn ones, are without the end.
"""
# pyright: basic, reportMissingImports=false

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.text.t5_cases import BY_HAND, drawn_texts

FROZEN = Path(__file__).parent / "frozen" / "t5_tokens.json"
Encode = Callable[[str], list[int]]


def main(path: Path) -> None:
    """Write the file."""
    frozen = {"file": _ids(_by_file(path)), "transformers": _ids(_by_transformers(path))}
    FROZEN.write_text(json.dumps(frozen, separators=(",", ":")) + "\n")


def digest_of(encode: Encode) -> str:
    """Return a digest of the ids of all drawn texts."""
    ids = [encode(text) for text in drawn_texts()]
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()


def _ids(encode: Encode) -> dict[str, object]:
    return {"by_hand": [encode(text) for text in BY_HAND], "drawn": digest_of(encode)}


def _by_file(path: Path) -> Encode:
    from tokenizers import Tokenizer

    read = Tokenizer.from_file(str(path))
    return lambda text: read.encode(text, add_special_tokens=False).ids


def _by_transformers(path: Path) -> Encode:
    from transformers import T5TokenizerFast

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / "tokenizer.json")
        read = T5TokenizerFast.from_pretrained(folder)
    return lambda text: read(text, add_special_tokens=False)["input_ids"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
