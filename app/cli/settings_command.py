"""`safelight settings`: show the settings that the window has, too, or change one."""

import argparse
from typing import Any

import msgspec

from app.cli.terminal import Usage, print_json, print_table, say
from app.paths import find_paths, typed_path, usual_folders
from app.settings.reading import FILE, read_settings
from app.settings.values import USUAL, stated
from app.settings.writing import write_settings
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", choices=tuple(stated()), metavar="NAME")
    usual = "its new value; `usual` takes the old one away"
    parser.add_argument("value", type=str, nargs="?", help=usual)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Show all settings, show one, or change one."""
    path = find_paths().config / FILE
    reading = read_settings(path)
    if reading.fault is not None:
        raise EngineError(
            ErrorCode.SETTINGS_UNREADABLE,
            sentence("{path} cannot be used: {reason}.", path=path, reason=reading.detail),
            sentence("Mend it, or open the window, which puts it aside."),
        )
    if options.value is not None:
        value = _value(options.name, options.value)
        settings = msgspec.structs.replace(reading.settings, **{options.name: value})
        try:
            write_settings(path, reading, settings, (options.name,))
        except (OSError, ValueError) as error:
            raise EngineError(
                ErrorCode.OUTPUT_NOT_WRITABLE,
                sentence("{path} cannot be written.", path=path),
                detail=str(error),
            ) from error
        reading = read_settings(path)
    names = [options.name] if options.name else list(stated())
    values = {name: msgspec.to_builtins(getattr(reading.settings, name)) for name in names}
    if options.json:
        print_json(values)
    elif options.name:
        say(_words(values[options.name]))
    else:
        rows = [(name, _words(value), stated()[name].about) for name, value in values.items()]
        print_table(("NAME", "VALUE", "ABOUT"), rows)
    return 0


def _value(name: str, text: str) -> Any:
    """Return a typed value of a setting. Raises Usage for one that makes no sense."""
    if text == "usual":
        return getattr(USUAL, name)
    if name in usual_folders() and text:
        # As the shell means it; a relative folder of the file is from the home folder on.
        text = str(typed_path(text))
    try:
        plain = msgspec.json.decode(text) if name == "shortcuts" else text
        return msgspec.convert(plain, stated()[name].kind, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Usage(f"{text!r} is no value of {name}: {error}") from error


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()
