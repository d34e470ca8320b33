"""The options of a command, or a group of them under a heading of its help."""

import argparse
from typing import Any, Protocol


class OptionGroup(Protocol):
    """Declares options: a parser, or a group of its options."""

    def add_argument(self, *name_or_flags: str, **about: Any) -> argparse.Action:
        """Declare an option."""
        ...

    def set_defaults(self, **defaults: Any) -> None:
        """Set the values of options that are not given."""
        ...
