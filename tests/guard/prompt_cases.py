"""Cases of grammars and text encoding, and pictures with words drawn by their seed."""

from collections.abc import Iterator, Mapping

from engine.api.prompt_rules import Chunking, Emphasis, LengthMatching, PromptFeature
from tests.guard.cases import A1111, COMFY, DIFFUSERS, FOLDER, INVOKE, SDXL, Case, case, habits

_LONG = ", ".join(f"a horse beside {n} white houses" for n in range(20))
_WEIGHED = "a (red:1.4) horse, [blue] ((house)) at night"
# A period, a comma, a word of several tokens across the end of a chunk, and more.
_BREAKING = (
    f"a (red:1.2) horse {'and ' * 40}. {'house ' * 14}, {'by ' * 14}"
    f"(hippopotamuses:1.1) {'sea ' * 9}"
)

# By name: the prompt, and the negative prompt.
_OF_A1111: Mapping[str, tuple[str, str]] = {
    "weights": (_WEIGHED, "(blur:0.5)"),
    "break": ("a red horse BREAK blue house", "blur"),
    "long": (f"(red:1.3) {_LONG}", "blur"),
    "long negative": ("a red horse", f"{_LONG} (blur:0.7)"),
    "and": ("red horse :1.3 AND a blue house :0.4", "blur"),
    "and thrice": ("red AND (blue:1.2) :0.5 AND a house", "a AND b"),
    "begins later": ("a [red:blue:2] horse", "[blur::0.5]"),
    "by turns": ("a [red|blue] horse", "[blur|dark|]"),
    "nested changes": ("[(red:1.4):blue:0.5] [a|(horse:1.2)] [:house:1]", "[dark:(light:1.3):0.5]"),
    "changes that lengthen": (f"[horse:{_LONG}:2]", "blur"),
    "and that changes": ("[red:blue:0.5] AND a horse [:house:2] :0.7", "blur"),
    "escaped": (r"a \(red\) horse \[blue\]", "a <|endoftext|> b"),
    "network named": ("a red horse <lora:ink:0.8>", "blur"),
    "commented": ("a red horse # blue\nhouse", "blur"),
    "empty": ("", ""),
    "other letters": ("été, дом, 家 \N{HORSE FACE}", "…"),
}
_OF_COMFY: Mapping[str, tuple[str, str]] = {
    "weights": ("a (red:1.3) horse, (blue:0.4) ((house))", "(blur:-0.5)"),
    "long": (f"{_LONG} (seven words here in one piece:1.1) {_LONG}", "(blur:0.7)"),
    "escaped": (r"a \(red\) horse", "blur"),
}
_OF_INVOKE: Mapping[str, tuple[str, str]] = {
    "weights": ("a red++ horse, (blue house)0.6 -", "blur+"),
    "and": ('("a red horse", "blue house++").and(1, 0.5)', "blur"),
    "blend": ('("a red horse", "blue house").blend(0.7, 0.3)', "blur"),
    "long": (_LONG, "blur--"),
}


def prompts() -> Iterator[Case]:
    """Each grammar, then each way of weighing, laying out and matching."""
    for name, (prompt, negative) in _OF_A1111.items():
        yield case(f"prompt {name}", prompt=prompt, negative_prompt=negative, steps=4)
    for tool, texts in ((COMFY, _OF_COMFY), (INVOKE, _OF_INVOKE)):
        for name, (prompt, negative) in texts.items():
            asked = {"prompt": prompt, "negative_prompt": negative, "convention": tool}
            yield case(f"prompt {name} {tool}", **asked)
    asked = {"prompt": f"{_WEIGHED} {_LONG}", "negative_prompt": "blur"}
    yield case("prompt literal", FOLDER, convention=DIFFUSERS, **asked)
    plain = habits(A1111, prompt_features=(PromptFeature.BREAKS,))
    changing = "a [red|blue] horse AND a house BREAK <lora:ink:1> # sea"
    yield case("prompt with breaks alone", prompt=changing, convention=plain)
    for emphasis in Emphasis:
        convention = habits(A1111, emphasis=emphasis)
        yield case(f"emphasis {emphasis}", prompt=_WEIGHED, convention=convention)
    for chunking in Chunking:
        convention = habits(A1111, chunking=chunking)
        yield case(f"chunking {chunking}", prompt=_BREAKING, convention=convention)
    for matching in LengthMatching:
        convention = habits(A1111, length_matching=matching)
        yield case(f"lengths matched by {matching}", prompt=_LONG, convention=convention)


def encoders() -> Iterator[Case]:
    """Layers that are skipped, and what SDXL makes of an empty negative prompt."""
    yield case("clip skip", clip_skip=2)
    unnormed = habits(A1111, final_norm=False)
    yield case("clip skip without the last norm", clip_skip=2, convention=unnormed)
    yield case("clip skip folder", FOLDER, clip_skip=2, convention=DIFFUSERS)
    yield case("clip skip sdxl", SDXL, clip_skip=1)
    yield case("empty negative sdxl", SDXL, negative_prompt="")
    yield case("empty negative sdxl comfy", SDXL, negative_prompt="", convention=COMFY)
    weighed = {"prompt": f"{_WEIGHED} BREAK {_LONG}", "negative_prompt": "(blur:0.5)"}
    yield case("weights sdxl", SDXL, **weighed)
    yield case("weights sdxl comfy", SDXL, convention=COMFY, **weighed)
    yield case("and sdxl", SDXL, prompt="a red horse AND [blue|white] house :0.6", steps=4)


def wildcards() -> Iterator[Case]:
    """Words that a seed draws, from braces and from files."""
    template = "{red|blue|3::green} __things__ of __kinds__"
    yield case("wildcards", prompt=template, negative_prompt="{blur|dark}", count=2)
    yield case("wildcards left", prompt=template, expand_wildcards=False)
