"""The frozen answers and texts of other tools' own code, made by `freeze.py`."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "frozen"


def frozen(tool: str) -> dict[str, Any]:
    """The file of a tool."""
    return json.loads((FOLDER / f"{tool}.json").read_text("utf-8"))
