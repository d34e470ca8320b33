"""Names that complete a prompt, in the spelling of the tool that is followed."""

import pytest

from app.form.completions import NO_COMPLETIONS, Names, completions
from engine.api.conventions import CONVENTIONS
from engine.api.values import ConventionName

NAMES = Names(
    loras=("ink wash", "styles/pixel art", "watercolour"),
    embeddings=("easynegative", "badhands"),
    wildcards=("animal", "colours/warm"),
)


def offered(before: str, tool: ConventionName = ConventionName.A1111) -> list[str]:
    return [name.text for name in completions(before, CONVENTIONS[tool], NAMES).names]


@pytest.mark.parametrize(
    ("before", "tool", "texts"),
    [
        ("a <lora:", ConventionName.A1111, 3),
        ("a <lora:PIX", ConventionName.A1111, ["<lora:styles/pixel art:1>"]),
        ("a <loractl:PIX", ConventionName.A1111, ["<loractl:styles/pixel art:1>"]),
        ("a <lora:ink wash:0", ConventionName.A1111, []),
        ("a <lora:", ConventionName.COMFY, []),
        ("embedding:ea", ConventionName.COMFY, ["embedding:easynegative"]),
        ("embedding:ea", ConventionName.A1111, []),
        ("(badh", ConventionName.A1111, ["badhands"]),
        ("badhands", ConventionName.A1111, []),
        ("b", ConventionName.A1111, []),
        ("<bad", ConventionName.INVOKE, ["<badhands>"]),
        ("a __an", ConventionName.A1111, ["__animal__"]),
        ("a __warm", ConventionName.COMFY, ["__colours/warm__"]),
        ("a __animal__", ConventionName.A1111, []),
        ("a __animal__ and __", ConventionName.A1111, 2),
        ("<lora:ink__v2:1>, __an", ConventionName.A1111, ["__animal__"]),
        ("<lora:ink__v2__final:1>, __an", ConventionName.A1111, ["__animal__"]),
        ("<lora:ink__v2:1>, __animal__", ConventionName.A1111, []),
        ("bad__hands, __an", ConventionName.A1111, ["__animal__"]),
        (r"a \__an", ConventionName.A1111, []),
        (r"\__a and __an", ConventionName.A1111, ["__animal__"]),
        ("a red house", ConventionName.A1111, []),
    ],
)
def test_a_begun_name_is_completed(
    before: str, tool: ConventionName, texts: list[str] | int
) -> None:
    found = offered(before, tool)
    assert (len(found) if isinstance(texts, int) else found) == texts


def test_a_completion_replaces_what_is_written_of_it() -> None:
    found = completions("a house <lora:wat", CONVENTIONS[ConventionName.A1111], NAMES)
    assert found.start == len("a house ")


def test_a_name_is_completed_whatever_form_its_accents_have() -> None:
    names = Names(loras=("cafe\u0301",))
    found = completions("a <lora:caf\u00e9", CONVENTIONS[ConventionName.A1111], names)
    assert [name.name for name in found.names] == ["cafe\u0301"]


def test_nothing_is_offered_without_names() -> None:
    found = completions("<lora:", CONVENTIONS[ConventionName.A1111], Names())
    assert found.names == NO_COMPLETIONS.names
