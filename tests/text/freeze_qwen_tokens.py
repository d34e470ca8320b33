"""Makes frozen/qwen_tokens.json: token ids by transformers' `Qwen2Tokenizer`.

    python -m tests.text.freeze_qwen_tokens qwen.tiktoken

in an environment with transformers, which makes the merges of Qwen's list of tokens by its own
converter; qwen.tiktoken is the file of which pack_qwen made ours.
"""
# pyright: basic, reportMissingImports=false

import json
import sys
from pathlib import Path

from engine.text.qwen_tokenizer import _SPECIAL
from tests.text.freeze_t5_tokens import Encode, digest_of
from tests.text.pack_qwen import ranks_of
from tests.text.t5_cases import BY_HAND

FROZEN = Path(__file__).parent / "frozen" / "qwen_tokens.json"
CHATS = (
    "<|im_start|>user\n\n\nTwo lines before<|im_end|>\n<|im_start|>assistant\n",
    "I'm HE'LL we've 'Tis 12,345.6789 \u4f60\u597d\uff0c\u4e16\u754c \u3000x\r\n\r\n\ty  \n z  ",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 "
    "\U0001f469\u200d\U0001f680",
)


def main(path: Path) -> None:
    """Write the file."""
    encode = _by_transformers(path)
    by_hand = [encode(text) for text in (*BY_HAND, *CHATS)]
    frozen = {"by_hand": by_hand, "drawn": digest_of(encode)}
    FROZEN.write_text(json.dumps(frozen, separators=(",", ":")) + "\n")


def _by_transformers(path: Path) -> Encode:
    from transformers import Qwen2Tokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = bytes_to_unicode()
    ranks = ranks_of(path)
    words = {token: "".join(letters[byte] for byte in token) for token in ranks}
    # As its converter of tiktoken's files: every way to cut a token into two others.
    merges = []
    for token in ranks:
        cuts = [(token[:i], token[i:]) for i in range(1, len(token))]
        known = [cut for cut in cuts if cut[0] in ranks and cut[1] in ranks]
        known.sort(key=lambda cut: (ranks[cut[0]], ranks[cut[1]]))
        merges += [(words[a], words[b]) for a, b in known]
    vocabulary = {words[token]: rank for token, rank in ranks.items()}
    read = Qwen2Tokenizer(vocab=vocabulary, merges=merges)
    read.add_special_tokens({"additional_special_tokens": list(_SPECIAL)})
    assert read.convert_tokens_to_ids("<|im_end|>") == 151_645
    return lambda text: read(text, add_special_tokens=False)["input_ids"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
