"""Pictures of older versions are made again after an update, and after going back."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nacl.signing import SigningKey
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from app.versions.state import GOOD, TRIAL
from tests.app.updates.publishing import Publisher, install, updates_of
from tests.app.updates.trees import NEW, OLD, Home, make_whole_tree
from tests.guard import checkpoints, frozen
from tests.guard.engine import Made

pytestmark = [
    pytest.mark.oracle,  # two whole trees and three starts
    pytest.mark.skipif(sys.platform == "win32", reason="the launchers are scripts"),
]
# Of the guard: noise that is drawn at each step, and a prompt as another tool reads it.
CASES = ("sampler dpmpp_2m_sde", "prompt weights comfy")


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the guard's settings by dotted names into a record's structure."""
    record: dict[str, Any] = {"request": {"convention": {}}}
    for name, value in settings.items():
        group, _, field = name.rpartition(".")
        place = {
            "": record,
            "request": record["request"],
            "convention": record["request"]["convention"],
        }[group]
        place[field or name] = value
    return record


def old_picture(folder: Path, name: str) -> Path:
    """Write a picture with a record as an older version left it: frozen, and of black pixels."""
    record = nested(frozen.read().records[name])
    request = record["request"]
    request["checkpoint"] = str(checkpoints.write(request["checkpoint"], folder))
    record |= {"safelight": "0.0.9", "version": 4, "device": "processor", "warnings": []}
    text = PngInfo()
    text.add_text("safelight", json.dumps(record))
    path = folder / f"{name}.png"
    Image.new("RGB", (request["width"], request["height"])).save(path, pnginfo=text)
    return path


def made_again(home: Home, installed: Path, old: Path) -> tuple[str, list[str]]:
    """Make a picture again by a start of Safelight; return the version and the differences."""
    new = old.with_name(f"again {old.name}")
    new.unlink(missing_ok=True)
    done = home.start(installed, "generate", "--from", str(old), "--out", str(new))
    assert done.returncode == 0, done.stderr
    with Image.open(new) as image:
        version = json.loads(image.info["safelight"])["safelight"]
        pixels = np.asarray(image.convert("RGB"))
    before = frozen.read()
    made = Made(old.stem, pixels, dict(before.records[old.stem]))
    return version, frozen.differences(made, before)


def test_old_records_give_their_pictures_after_an_update_and_after_going_back(
    home: Home, publisher: Publisher, key: SigningKey, tmp_path: Path
) -> None:
    installed = make_whole_tree(tmp_path / "installed", OLD)
    publisher.publish_tree(make_whole_tree(tmp_path / "new", NEW))
    updates = updates_of(home, installed, publisher, key)
    install(updates)
    assert home.now().stage == TRIAL
    pictures = [old_picture(tmp_path, name) for name in CASES]
    assert made_again(home, installed, pictures[0]) == (NEW, [])
    assert home.now().stage == GOOD
    assert made_again(home, installed, pictures[1]) == (NEW, [])
    assert home.start(installed, "updates", "back").returncode == 0
    assert made_again(home, installed, pictures[0]) == (OLD, [])
