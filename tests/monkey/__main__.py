"""`python -m tests.monkey --seed N --minutes M [--into FOLDER]`: status 1 for a fault."""

import argparse
import sys
import tempfile
from pathlib import Path

import msgspec

from tests.monkey.judge import report
from tests.monkey.run import Monkey
from tests.ui.real_window.display import missing_programs


def main() -> int:
    """Run the monkey and print its report; the records stay in the folder."""
    reader = argparse.ArgumentParser(prog="python -m tests.monkey", description=__doc__)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--minutes", type=float, default=10.0)
    reader.add_argument("--into", type=Path, help="an empty folder, or none, for all that it makes")
    asked = reader.parse_args()
    if missing := missing_programs():
        reader.error(f"it needs {', '.join(missing)}: make display")
    folder = asked.into or Path(tempfile.mkdtemp(prefix="monkey "))
    verdict = Monkey(folder / f"seed {asked.seed}", seed=asked.seed, minutes=asked.minutes).run()
    (folder / f"seed {asked.seed}.json").write_bytes(msgspec.json.encode(verdict))
    print(report(verdict))  # noqa: T201
    return 0 if verdict.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
