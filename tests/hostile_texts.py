"""Texts made to take long to read, by what they are made of, and every reader of texts."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import thread_time

from engine.api.conventions import CONVENTIONS, Convention
from engine.api.prompt_rules import PromptGrammar
from engine.errors import EngineError
from engine.metadata.infotext import parse_infotext
from engine.metadata.json_text import parse_json
from engine.metadata.readers import recognise
from engine.metadata.readers.easy_diffusion import from_sidecar
from engine.metadata.texts import TextChunk
from engine.text.hints import bracket_hints
from engine.text.reading import read_prompt
from engine.text.wildcards import expand_wildcards

Read = Callable[[str], object]
# What the grammars and notations give a meaning to, escapes, and what is neither.
PIECES = (
    "a", "_", "__", ".", "-", "/", " ", " BREAK ", " AND ", "\\", "\\\\", "(", ")", "[", "]", "{",
    "}", "|", ":", "::", '"', "'", ",", ", ", "+", "++", "\n", "#", "<", ">", "<lora:",
    "<lora:a:1>", "1", "0.5", ":1", "a: ", "Steps: ", "(a", "[a:", "(a:1", "a)", "&", "&amp;", "=",
    ".and(", ".blend(", ".swap(", ".attend(", "useLora(", '("a"', '("', "--", " -s", "\t", "\v",
    "\u3000", "\0", "\u00e9", "\U0001f600", "Negative prompt: ", "512x", "{a|b}", "1::", " :1.0",
    "BREAK", "_a_", "__a__", "$", "%", "*",
)  # fmt: skip
# Pairs that took quadratic time once, and their like.
KNOWN = (
    "__.", "__-", "__/", "__a/", "__ BREAK ", "__ AND ", "__a.", "_-_", "{__", "\\(", "(\\", "\\a",
    '"\\', "\\\\\\", '("a",', "a+(", "a: \"", '\\"', ":  ", "[a:b", "<a", "#a\n",
)  # fmt: skip
_LINE = "Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 512x512"


def _prompt(convention: Convention, *, negative: bool = False) -> Read:
    return lambda text: read_prompt(text, convention, 4, negative=negative)


def _hints(grammar: PromptGrammar) -> Read:
    return lambda text: bracket_hints(text, grammar)


def _chunks(*keywords: str, before: str = "", after: str = "") -> Read:
    return lambda text: recognise(
        tuple(TextChunk(keyword, f"{before}{text}{after}") for keyword in keywords)
    )


def _json(keyword: str, fields: Callable[[str], object], *others: TextChunk) -> Read:
    return lambda text: recognise((TextChunk(keyword, json.dumps(fields(text))), *others))


def _fields(*names: str) -> Callable[[str], dict[str, str]]:
    return lambda text: dict.fromkeys(names, text)


def _graph(text: str) -> object:
    """ComfyUI's nodes, with a text wherever one may be."""
    sampler = {
        "seed": 1, "steps": 5, "cfg": 7, "sampler_name": text, "scheduler": text, "denoise": 1,
        "model": ["2", 0], "positive": ["3", 0], "negative": ["3", 0], "latent_image": ["4", 0],
    }  # fmt: skip
    size = {"width": 512, "height": 512, "batch_size": 1}
    return {
        "1": {"class_type": "KSampler", "inputs": sampler},
        "2": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": text}},
        "3": {"class_type": "CLIPTextEncode", "inputs": {"text": text, "clip": ["2", 1]}},
        "4": {"class_type": "EmptyLatentImage", "inputs": size},
        "5": {"class_type": "SaveImage", "inputs": {"images": ["6", 0], "filename_prefix": text}},
        "6": {"class_type": "VAEDecode", "inputs": {"samples": ["1", 0], "vae": ["2", 2]}},
    }


GRAMMARS: Mapping[str, Read] = {
    **{
        f"prompt of {convention.grammar.value}": _prompt(convention)
        for convention in CONVENTIONS.values()
    },
    "negative prompt": _prompt(CONVENTIONS[next(iter(CONVENTIONS))], negative=True),
    **{f"hints of {grammar.value}": _hints(grammar) for grammar in PromptGrammar},
    "wildcards": lambda text: expand_wildcards(text, 1, None),
}
_NOVELAI = TextChunk("Software", "NovelAI")
_FOOOCUS = TextChunk("fooocus_scheme", "fooocus")
READERS: Mapping[str, Read] = {
    "infotext": parse_infotext,
    "json": parse_json,
    "text beside it": lambda text: from_sidecar(".txt", text),
    "json beside it": lambda text: from_sidecar(".json", text),
    "parameters": _chunks("parameters"),
    "comments": _chunks("exif:UserComment", "jpeg:comment", "Comment", "Description"),
    "a1111 prompt": _chunks("parameters", after=f"\n{_LINE}"),
    "a1111 negative": _chunks("parameters", before="a\nNegative prompt: ", after=f"\n{_LINE}"),
    "a1111 value": _chunks("parameters", before=f"a\n{_LINE}, Version: ", after=", Model: x"),
    "a1111 quoted": _chunks("parameters", before=f'a\n{_LINE}, Lora hashes: "', after='", A: b'),
    "sd.cpp": _chunks("parameters", before=f"a\n{_LINE}, Version: stable-diffusion.cpp, SDCPP: {{"),
    "invoke": _json("invokeai_metadata", _fields("positive_prompt", "negative_prompt", "model")),
    "invoke 2": _json("sd-metadata", lambda text: {"image": {"prompt": text, "sampler": text}}),
    "invoke 1": _chunks("Dream", before='"', after='" -s 5 -S 3'),
    "invoke 1 switches": _chunks("Dream", before='"a" '),
    "novelai": _json("Comment", _fields("prompt", "uc", "sampler"), _NOVELAI),
    "fooocus": _json("parameters", _fields("prompt", "resolution", "styles"), _FOOOCUS),
    "swarm": _json("parameters", lambda text: {"sui_image_params": {"prompt": text}}),
    "comfy": _json("prompt", _graph),
    "easy diffusion": _chunks(
        "prompt", "seed", "use_stable_diffusion_model", "lora_alphas", "use_lora_model"
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """A piece that is repeated, and what stands before and behind."""

    before: str
    piece: str
    behind: str

    def text(self, length: int) -> str:
        """A text of about so many characters."""
        return f"{self.before}{self.piece * (length // len(self.piece) + 1)}{self.behind}"


def simple_shapes() -> Iterator[Shape]:
    """Every piece by itself, and what is known to have been bad."""
    for piece in (*PIECES, *KNOWN):
        yield Shape("", piece, "")


def random_shapes(seed: int) -> Iterator[Shape]:
    """Pieces put together, without end."""
    choose = random.Random(seed)

    def some(least: int, most: int) -> str:
        return "".join(choose.choices(PIECES, k=choose.randint(least, most)))

    while True:
        yield Shape(some(0, 2), some(1, 4), some(0, 2))


_SHORT, _LONG = 3000, 12_000
# What may be a fixed cost, in seconds of processor.
_NOTHING_S = 0.010
# Four times the length takes 4 times the time, or 16 times where it grows with the square.
_TOO_STEEP = 9.0


def grows_too_steeply(read: Read, shape: Shape) -> bool:
    """Return True if reading takes clearly more than in proportion to the length, repeatedly."""
    if _cost(read, shape.text(_SHORT)) < _NOTHING_S:
        return False
    return all(_ratio(read, shape) > _TOO_STEEP for _ in range(3))


def _ratio(read: Read, shape: Shape) -> float:
    short, long = (
        min(_cost(read, shape.text(length)) for _ in range(3)) for length in (_SHORT, _LONG)
    )
    return long / max(short, 1e-6)


def _cost(read: Read, text: str) -> float:
    """Seconds of processor that this thread took."""
    start = thread_time()
    with suppress(EngineError):
        read(text)
    return thread_time() - start
