"""Every test of the app has folders of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("OUTPUT", "CACHE", "MODELS", "STATE", "LOGS"):
        monkeypatch.setenv(f"SAFELIGHT_{name}", str(tmp_path / name.lower()))
