"""The text of the settings file: a value put in place, and all else left as a person wrote it."""

import re
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, cast

Table = dict[str, Any]

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
# The most lines of one value.
_MOST_LINES = 200
_HEADER = re.compile(r"\s*\[")


def parse(text: str) -> Table:
    """Read a TOML document. Raises ValueError, also for one that is nested without end."""
    # Here, as most people have no file of settings, and the window starts sooner without it.
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("its values are nested too deeply") from error


def value_text(value: Any) -> str:
    """Return a value in TOML; texts in one line, tables inline. Raises TypeError."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return f'"{"".join(map(_escaped, value))}"'
        case datetime() | date() | time():
            return value.isoformat()
        case list():
            return f"[{', '.join(map(value_text, cast(list[Any], value)))}]"
        case dict():
            pairs = [
                f"{_key(name)} = {value_text(item)}" for name, item in cast(Table, value).items()
            ]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case _:
            raise TypeError(f"{type(value).__name__} is no value of TOML")


def put(text: str, name: str, value: Any) -> str:
    """Return the document with a value at its top level; None takes it out.

    The line of a value that is taken out stays as a comment. Where a document is written in a way
    that no line can be exchanged in, all of it is written anew, without its comments.
    """
    wanted = parse(text)
    before = wanted.get(name)
    # 1 == True, but they are not the same value.
    if before == value and type(before) is type(value):
        return text
    wanted.pop(name, None)
    if value is not None:
        wanted[name] = value
    for changed in _attempts(text, name, value):
        try:
            if parse(changed) == wanted:
                return changed
        except ValueError:
            continue
    return whole(wanted)


def whole(table: Table) -> str:
    """Return a document of these values, a line each."""
    return "".join(f"{_key(name)} = {value_text(value)}\n" for name, value in table.items())


def _attempts(text: str, name: str, value: Any) -> Iterator[str]:
    """Yield the documents with one line or paragraph exchanged; some may be no TOML."""
    lines = text.splitlines(keepends=True)
    top = next((row for row, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    line = f"{name} = {value_text(value)}\n" if value is not None else ""
    for row in _rows(lines[:top], rf"\s*{re.escape(name)}\s*="):
        # An array may go on in the next lines.
        for end in range(row + 1, min(row + _MOST_LINES, len(lines)) + 1):
            kept = _commented(lines[row:end]) if value is None else [line]
            yield "".join((*lines[:row], *kept, *lines[end:]))
    if value is None:
        return
    for row in _rows(lines[:top], rf"#\s*{re.escape(name)}\s*="):
        yield "".join((*lines[:row], line, *lines[row + 1 :]))
    before = "".join(lines[:top])
    ended = before if not before or before.endswith("\n") else f"{before}\n"
    yield "".join((ended, line, *lines[top:]))


def _rows(lines: list[str], expression: str) -> list[int]:
    return [row for row, line in enumerate(lines) if re.match(expression, line)]


def _commented(lines: list[str]) -> list[str]:
    return [f"# {line}" if line.strip() else line for line in lines]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else value_text(name)


def _escaped(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    code = ord(letter)
    if code < 0x20 or code == 0x7F:
        return f"\\u{code:04x}"
    return letter
