"""The table of messages in docs/messages.md, made from the types.

`python -m tests.api.message_table` writes it; `test_message_table.py` fails when it is out of date.
"""

import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.api.messages import Command, Event, Message

PAGE = Path(__file__).parents[2] / "docs" / "messages.md"
BEGIN = "<!-- messages: made by `python -m tests.api.message_table` -->"
END = "<!-- end of messages -->"
_SENTENCE = re.compile(r"(.+?\.)(\s|$)", re.DOTALL)


def table() -> str:
    """Every message: who sends it, its name, its fields, what it is for."""
    return "\n".join(
        [
            "| From | Message | Fields | |",
            "| --- | --- | --- | --- |",
            *_rows("app", Command),
            *_rows("engine", Event),
        ]
    )


def page(text: str) -> str:
    """The page with the table as it should be."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, f"{PAGE.name} has lost its {BEGIN}"
    assert end, f"{PAGE.name} has lost its {END}"
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _rows(sender: str, union: object) -> Iterator[str]:
    kinds: tuple[type[Message], ...] = typing.get_args(union)
    for kind in kinds:
        hints = typing.get_type_hints(kind)
        fields = ", ".join(f"{name}: {_name(hints[name])}" for name in kind.__struct_fields__)
        shown = f"`{fields}`" if fields else ""
        yield f"| {sender} | `{kind.__name__}` | {shown} | {_first_sentence(kind)} |"


def _name(annotation: Any) -> str:
    """A type as a person writes it, without the bar that would end the table's cell."""
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    if origin is tuple:
        return f"tuple[{', '.join('...' if a is ... else _name(a) for a in arguments)}]"
    if arguments:
        return " or ".join(_name(argument) for argument in arguments)
    return "None" if annotation is type(None) else annotation.__name__


def _first_sentence(kind: type) -> str:
    found = _SENTENCE.match(inspect.cleandoc(kind.__doc__ or ""))
    assert found, f"{kind.__name__} does not say what it is for"
    return " ".join(found[1].split())


def main() -> None:
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
