"""Options that name further folders to look for files in."""

import argparse

from app.paths import typed_path


def add_argument(parser: argparse.ArgumentParser, option: str, dest: str, files: str) -> None:
    """Declare an option that may be repeated; `files` is the word for the folder's files."""
    parser.add_argument(
        option,
        dest=dest,
        type=typed_path,
        action="append",
        default=[],
        metavar="FOLDER",
        help=f"look for {files} here, too: a folder of them, or that of another tool",
    )
