"""Freeze every picture of the guard: `python -m tests.guard.freeze`.

To guard a change on a processor that the files in `frozen/` are not of, where pictures need only be
alike: freeze before the change, run the tests after it, and put the files back.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.guard import frozen
from tests.guard.engine import Made, guarded
from tests.guard.table import CASES


def main() -> None:
    """Make the pictures, say which are others than before, and write them."""
    pictures: list[Made] = []
    with TemporaryDirectory() as folder, guarded(Path(folder)) as engine:
        for case in CASES:
            pictures += engine.make(case)
            sys.stdout.write(f"{case.name}\n")
    _tell_changes(pictures)
    frozen.write(pictures)


def _tell_changes(pictures: Sequence[Made]) -> None:
    if not frozen.exists():
        return
    before = frozen.read()
    for made in pictures:
        for difference in frozen.differences(made, before):
            sys.stdout.write(f"{made.name}: {difference}\n")


if __name__ == "__main__":
    main()
