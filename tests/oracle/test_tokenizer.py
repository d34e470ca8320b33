"""Our token ids beside transformers' `CLIPTokenizer`, built from the same vocabulary and merges."""
# pyright: basic
# transformers is absent from the environment that is type-checked.

import json
import random
from pathlib import Path

import pytest

from engine.text.tokenizers import load_clip_tokenizer, load_tokenizer

pytestmark = pytest.mark.oracle
transformers = pytest.importorskip("transformers")

HARD = [
    "",
    " ",
    "a photo of an astronaut riding a horse on mars, 4k, trending on artstation",
    "IT'S the cat's; we've I'm they'll he'd don't  O'Brien's ROCK'N'ROLL",
    "1girl, 35mm f/1.8, 1920x1080, 3.14159, ½ ² ٣ Ⅷ",
    "tabs\tand\nnew\r\nlines\u00a0no-break\u3000ideographic\u2028separator\x0bvertical\x1cfile",
    "ÀÉÎÕÜ ß ẞ \u017f İ \u0131 Σς ﬁ ǅ \uff26\uff35\uff2c\uff2c",
    "cafe\u0301 A\u030a n\u0303 \u1100\u1161\u11a8 \u0344 q\u0307\u0323",
    "猫と犬 고양이 кошка قطة חתול แมว बिल्ली 🐈",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ☺️ 🇪🇺 😀😀😀",
    "\0null\0 \x01\x02\x7f\x80\x9f \ufeff \u200b\u200d\u202eabc\u202c\ufffd \U000e0001",
    "<|startoftext|> in <|endoftext|>the<|endoftext|>middle <|ENDOFTEXT|> <|endoftext",
    "((masterpiece:1.2)), [low] <lora:foo:0.8> {a|b} \\(escaped\\) `code` ~tilde~ _under_",
    "!!! ... --- ??! ,,, ., a,b , c !@#$%^&*()_+-=[]{};':\",./<>?`~",
    "donaudampfschifffahrtsgesellschaft " * 3 + "x" * 300 + "\u0301" * 50,
]


def random_texts(count: int) -> list[str]:
    """Strings of characters from all over Unicode, mixed with words and white space."""
    generator = random.Random(20260101)
    ranges = [(0, 0x7F), (0x80, 0x24F), (0x300, 0x36F), (0x370, 0xFFF), (0x1000, 0xD7FF)]
    ranges += [(0xE000, 0xFFFF), (0x10000, 0x1FFFF)]
    texts = []
    for _ in range(count):
        pieces = []
        for _ in range(generator.randrange(1, 30)):
            low, high = generator.choice(ranges)
            character = chr(generator.randrange(low, high + 1))
            pieces.append(generator.choice([character, character, " ", ", ", "a", "Cat's"]))
        texts.append("".join(pieces))
    return texts


def ids_of(tokenizer, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def save_packaged(folder: Path) -> Path:
    """Write our packaged vocabulary as vocab.json and merges.txt."""
    packaged = json.loads(load_clip_tokenizer()._bpe.to_str())["model"]
    (folder / "vocab.json").write_text(json.dumps(packaged["vocab"]), "utf-8")
    lines = ["#version: 0.2", *(" ".join(merge) for merge in packaged["merges"])]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def test_the_packaged_vocabulary_gives_the_ids_of_transformers(tmp_path: Path):
    theirs = transformers.CLIPTokenizer.from_pretrained(save_packaged(tmp_path))
    ours = load_clip_tokenizer()
    assert ours.start_id == theirs.bos_token_id
    assert ours.end_id == theirs.eos_token_id
    assert ours.pad_id == theirs.pad_token_id
    for text in HARD + random_texts(1500):
        assert ours.encode(text) == ids_of(theirs, text), ascii(text)


def test_openclips_padding_gives_the_ids_of_transformers(tmp_path: Path):
    """SDXL's second one fills up with "!", which then is a token by itself wherever it stands."""
    save_packaged(tmp_path)
    config = {"tokenizer_class": "CLIPTokenizer", "pad_token": "!"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    theirs = transformers.CLIPTokenizer.from_pretrained(tmp_path)
    ours = load_clip_tokenizer().filling_with_zero()
    assert ours.pad_id == theirs.pad_token_id == 0
    assert ours.encode("wow!!!") == [2781, 0, 0, 0]
    for text in [*HARD, "a cat!", "?! a!b !!"]:
        assert ours.encode(text) == ids_of(theirs, text), ascii(text)
    # And back, as A1111 and ComfyUI read it.
    for text in HARD:
        assert load_tokenizer(tmp_path).filling_with_end().encode(
            text
        ) == load_clip_tokenizer().encode(text)


@pytest.mark.parametrize("layout", ["vocab.json", "tokenizer.json"])
def test_a_folder_with_other_padding_gives_the_ids_of_transformers(tmp_path: Path, layout: str):
    """Stable Diffusion 2 pads with "!", named in special_tokens_map.json only."""
    save_packaged(tmp_path)
    config = {"tokenizer_class": "CLIPTokenizer", "pad_token": "<|endoftext|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"pad_token": "!"}))
    theirs = transformers.CLIPTokenizer.from_pretrained(tmp_path)
    folder = tmp_path
    if layout == "tokenizer.json":
        folder = tmp_path / "saved"
        theirs.save_pretrained(folder)
        assert not (folder / "vocab.json").exists()
    ours = load_tokenizer(folder)
    assert ours.pad_id == theirs.pad_token_id == 0
    for text in HARD:
        assert ours.encode(text) == ids_of(theirs, text), ascii(text)
