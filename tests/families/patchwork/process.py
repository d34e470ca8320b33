"""The real engine process with Patchwork among its families: `python -I process.py`."""

import sys
from pathlib import Path


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[3]))
    from engine.families.registry import FAMILIES
    from engine.server import main as serve

    FAMILIES.add("tests.families.patchwork")
    serve(sys.argv[1:])


if __name__ == "__main__":
    main()
