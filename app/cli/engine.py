"""`safelight engine`: the engine process on this terminal's stdin and stdout, for other programs.

It speaks frames of msgpack, not text; docs/messages.md lists them.
"""

import argparse

from engine.server import main


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--parent", metavar="PID", help="end when this process does")


def run(options: argparse.Namespace) -> int:
    """Serve until the other end of stdin is closed; never returns."""
    main([] if options.parent is None else ["--parent", options.parent])
