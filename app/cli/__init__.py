"""The command line: its commands are in `COMMANDS`, a module each.

Exit status 0; 1 for a failure, with one line and a hint on stderr; 2 for wrong usage. With `--json`
stdout holds one JSON object and nothing else.
"""

import argparse
import errno
import os
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

from app.cli.quiet_log import quiet_log
from app.cli.terminal import StatusLine, Usage, harmless, print_error, print_note
from app.paths import find_paths
from app.standard_streams import OutputLost, guarded
from engine.errors import Cancelled, EngineError
from engine.heap import LARGE_RESULT, importing, keep_heap_compact
from engine.packs import FOLDER, use_packs

# The help of each command. Its module has add_arguments(parser) and run(options) -> exit status.
COMMANDS = {
    "generate": "make pictures from a prompt",
    "inspect": "say what a model file is",
    "upscale": "make pictures larger",
    "map": "turn a picture into the map that a ControlNet looks at",
    "bake": "write a model with LoRAs in its weights",
    "devices": "list backends and devices, and how fast each is here",
    "packs": "list, install and remove runtimes",
    "models": "list the models that can be chosen by name",
    "cache": "list or clear cached data",
    "bench": "time each network on this machine",
    "doctor": "check that everything works here",
    "engine": "run the engine for another program to talk to",
    "settings": "show the settings, or change one",
    "updates": "look for a newer version, install it, or go back",
}
# Modules that have another name than their commands.
_MODULES = {"map": "control_map", "settings": "settings_command"}


# Commands that load no runtime, and so keep none from being removed.
_WITHOUT_RUNTIMES = ("packs", "settings")
# The engine sends its log to the app.
_ON_ITS_OWN = ("engine",)


def _not_empty(text: str) -> str:
    """Return an argument; an empty one is what a script writes whose variable is not set."""
    if not text:
        raise argparse.ArgumentTypeError("an empty text is nothing to go by")
    return text


class _Parser(argparse.ArgumentParser):
    """A parser whose error messages hold no unprintable characters.

    Arguments without a type are names and paths, which are not empty; texts have the type `str`.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.register("type", None, _not_empty)

    def error(self, message: str) -> NoReturn:
        super().error(harmless(message))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        with guarded():
            return _run(arguments)
    except OutputLost as lost:
        # The reader of a pipe may leave, as in `safelight models | head`.
        if lost.error.errno != errno.EPIPE:
            with guarded():
                print_note(f"Nothing can be written to standard output: {lost}.")
        return 1


def _run(arguments: Sequence[str]) -> int:
    parser = _Parser(prog="safelight", description="Develops latent images on your own computer.")
    parser.add_argument("--version", action="version", version=f"safelight {version('safelight')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # A command looks at its own arguments.
    commands.type = str
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    for name, help_text in COMMANDS.items():
        command_parser = commands.add_parser(name, help=help_text)
        if name == wanted:
            _add_arguments(command_parser, _MODULES.get(name, name))
    options, rest = parser.parse_known_args(arguments)
    if rest:
        parser.error(_superfluous(options.command, rest))
    try:
        if options.command not in _WITHOUT_RUNTIMES:
            keep_heap_compact(LARGE_RESULT)
            _use_packs()
        if options.command in _ON_ITS_OWN:
            return int(options.run(options))
        with quiet_log(find_paths().cache):
            return int(options.run(options))
    except Usage as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return _failed(Cancelled())
    except EngineError as error:
        return _failed(error)


def _add_arguments(parser: argparse.ArgumentParser, module: str) -> None:
    """Declare what a command takes and does; only its own module is imported, as most are heavy."""
    with importing():
        command = import_module(f"app.cli.{module}")
    parser.description = command.__doc__
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)


def _failed(error: EngineError) -> int:
    """Print an error, in place of a bar that was drawn last; return the exit status."""
    StatusLine().clear()
    print_error(error.info)
    return 1


def _use_packs() -> None:
    """Search the active runtime packs first, here and in the processes that are started."""
    os.environ[FOLDER] = str(find_paths().packs)
    problems = use_packs().problems
    for problem in problems:
        print_note(problem)
    if problems:
        print_note("`safelight packs` lists them; `safelight packs repair PACK` mends one.")


def _superfluous(command: str, rest: Sequence[str]) -> str:
    """Return the message for arguments that no option takes."""
    words = " ".join(rest)
    if command == "generate" and not any(word.startswith("-") for word in rest):
        return f"a prompt of several words goes in quotes, and then there is nothing for: {words}"
    return f"unrecognized arguments: {words}"
