"""Options that name further folders to look for files in."""

from app.cli.option_group import OptionGroup
from app.paths import typed_path


def add_folders_argument(parser: OptionGroup, option: str, dest: str, files: str) -> None:
    """Declare an option that may be repeated; `files` is what is looked for."""
    parser.add_argument(
        option,
        dest=dest,
        type=typed_path,
        action="append",
        default=[],
        metavar="FOLDER",
        help=f"a folder, or that of another tool, to look into for {files}",
    )
