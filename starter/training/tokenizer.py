"""Trains the tokenizer: CLIP's byte-level BPE (Radford et al. 2021) with a small vocabulary.

The base alphabet is all 256 bytes, with and without the end of a word (`</w>`), so any text has
tokens; merges are learned from captions until every word in them is one token.
"""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

import json
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from transformers import CLIPTokenizer

from starter.captions import caption
from starter.scenes import random_scene
from starter.training.common import RUN

START, END, WORD_END = "<|startoftext|>", "<|endoftext|>", "</w>"
MAX_LENGTH = 77
CAPTIONS = 20_000
RARE = 20  # words seen less often than this (random letters) get no token of their own


def train_tokenizer() -> None:
    """Write vocab.json, merges.txt and their settings to `run/tokenizer`."""
    rng = random.Random(2)
    text = (caption(random_scene(rng), rng).text for _ in range(CAPTIONS))
    counts = Counter(word for line in text for word in _words(line))
    words = {word: count for word, count in counts.items() if count >= RARE}
    merges = _learn_merges(words)
    alphabet = list(_byte_symbols().values())
    tokens = [*alphabet, *(symbol + WORD_END for symbol in alphabet)]
    tokens += [a + b for a, b in merges] + [START, END]
    folder = RUN / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, {token: i for i, token in enumerate(tokens)}, merges)
    print(f"{len(words)} words, {len(merges)} merges, {len(tokens)} tokens")


def load_tokenizer() -> CLIPTokenizer:
    return CLIPTokenizer.from_pretrained(RUN / "tokenizer", local_files_only=True)


def _words(line: str) -> list[str]:
    """Split plain ASCII as CLIP does: runs of letters, single digits, other runs."""
    return re.findall(r"[a-z]+|[0-9]|[^\sa-z0-9]+", line.lower())


def _byte_symbols() -> dict[int, str]:
    """Return GPT-2's printable substitute for each byte, in CLIP's order."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in symbols:
            symbols[byte] = chr(256 + len(symbols) - len(printable))
    return symbols


def _learn_merges(words: dict[str, int]) -> list[tuple[str, str]]:
    """Return byte-pair merges, most frequent pair first, until each of `words` is one symbol."""
    parts = {word: [*word[:-1], word[-1] + WORD_END] for word in words}
    merges: list[tuple[str, str]] = []
    while True:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in parts.items():
            for pair in pairwise(symbols):
                pairs[pair] += words[word]
        if not pairs:
            return merges
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        parts = {word: _merge(symbols, best) for word, symbols in parts.items()}


def _merge(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    out: list[str] = []
    for symbol in symbols:
        if out and (out[-1], symbol) == pair:
            out[-1] += symbol
        else:
            out.append(symbol)
    return out


def _write(folder: Path, vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> None:
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), "utf-8")
    lines = ["#version: 0.2", *(f"{a} {b}" for a, b in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", "utf-8")
    special = {"bos_token": START, "eos_token": END, "unk_token": END, "pad_token": END}
    (folder / "special_tokens_map.json").write_text(json.dumps(special, indent=2))
    settings = {
        **special,
        "tokenizer_class": "CLIPTokenizer",
        "model_max_length": MAX_LENGTH,
        "do_lower_case": True,
        "add_prefix_space": False,
        "errors": "replace",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2))
