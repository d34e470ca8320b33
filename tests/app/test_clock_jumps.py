"""A clock that jumps: nothing waits for a time that does not come, and no estimate is negative."""

import os
import time
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.downloads.contacts import Contacts
from app.engine.client import EngineClient
from app.form.prompt_history import PromptHistory
from app.library.lora_memory import LoraMemory
from app.queue.drawing import Drawing
from app.queue.pace import Pace
from app.single_instance import SingleInstance, Start
from app.storage.aside import put_aside
from app.updates.memory import UpdateMemory
from engine.api.picture_names import PictureFacts
from engine.cache_folder import CacheFolder, unfinished
from engine.checkpoints.index import Stamp
from engine.checkpoints.known_files import is_settled
from engine.output.names import Destination
from engine.output.writer import write_picture
from tests.app.checkpoint_features import usual_features
from tests.app.silent_process import SilentProcess
from tests.output.test_writer import PIXELS

DAY_S = 86_400.0
FUTURE = time.time() + 365 * DAY_S


def test_a_damaged_lock_from_the_future_does_not_hinder_a_start(
    tmp_path: Path, qapp: object
) -> None:
    lock = tmp_path / "safelight.lock"
    lock.touch()
    os.utime(lock, (FUTURE, FUTURE))
    instance = SingleInstance(tmp_path)
    assert instance.claim() is Start.FIRST
    instance.release()


@pytest.mark.parametrize(
    "figures",
    [
        b'{"pixels": 4096, "prediction_s": -5, "rest_s": 0}',
        b'{"pixels": 4096, "prediction_s": 1, "rest_s": -100}',
        b'{"pixels": 4096, "prediction_s": 1e308, "rest_s": 1e308}',
        b'{"pixels": 1e400, "prediction_s": 1, "rest_s": 1}',
        b'{"pixels": 4096, "prediction_s": 1, "rest_s": 1, "gain": 1e307}',
    ],
)
def test_times_without_sense_are_no_estimate(qtbot: QtBot, tmp_path: Path, figures: bytes) -> None:
    (tmp_path / "pace.json").write_bytes(b'{"mine": ' + figures + b"}")
    process = SilentProcess(tmp_path)
    pace = Pace(EngineClient(process, process), tmp_path, usual_features)
    assert pace.seconds("mine", (Drawing(64, 64, 5, 10),)) is None
    pace.close()


def test_a_check_that_was_made_in_the_future_is_due() -> None:
    assert UpdateMemory(automatic=True, checked=FUTURE).is_due(time.time())
    assert not UpdateMemory(automatic=True, checked=time.time() - 60).is_due(time.time())


def test_a_host_that_was_asked_in_the_future_is_noted_again(tmp_path: Path) -> None:
    Contacts(tmp_path, lambda: FUTURE).note("a.test")
    contacts = Contacts(tmp_path, lambda: 5.0)
    contacts.note("a.test")
    assert [contact.last for contact in contacts.all] == [5.0]


def test_counters_of_pictures_rise_whatever_the_clock_says(tmp_path: Path) -> None:
    """No name is used twice, also where every picture before is from the future."""
    found: list[int] = []
    for at in (FUTURE, 0.0, time.time(), -DAY_S):
        path = write_picture(PIXELS, Destination(tmp_path), PictureFacts(seed=7, prompt="a cat"))
        os.utime(path, (at, at))
        found.append(int(path.name[:5]))
    assert found == [1, 2, 3, 4]


def test_a_file_of_weights_from_the_future_is_known_like_any_other() -> None:
    """Else it would be read and hashed anew at each start until that day."""
    now = time.time_ns()
    ages = {at: int(at * 1e9) for at in (3.0, 1.0, -10.0, -DAY_S / 24)}
    stamps = {at: Stamp(1, now - ns, now - ns) for at, ns in ages.items()}
    settled = {at for at, stamp in stamps.items() if is_settled(stamp, now)}
    # A server's clock may be some seconds before ours, and an hour is another time zone.
    assert settled == {3.0, -DAY_S / 24}


def test_entries_of_a_cache_from_the_future_make_room_first(tmp_path: Path) -> None:
    """Else nothing else would be kept until then. An hour ahead is a clock that was set back."""
    cache = CacheFolder(tmp_path / "kept", 30)
    cache.folder.mkdir()
    for name, at in (("wrong", FUTURE), ("old", 1e9), ("new", time.time() + 3600)):
        cache.path(name).write_bytes(bytes(10))
        os.utime(cache.path(name), (at, at))
    for left in (["new", "old"], ["new"], []):
        cache.make_room(30 - 10 * len(left))
        assert [entry.name for entry in cache.entries()] == left


def test_unfinished_files_from_the_future_are_removed(tmp_path: Path) -> None:
    cache, pictures = CacheFolder(tmp_path / "kept", 30), tmp_path / "pictures"
    half, new = (unfinished(cache.path(name)) for name in "ab")
    picture = pictures / ".safelight-00041.tmp"
    for path in (half, new, picture):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    for path in (half, picture):
        os.utime(path, (FUTURE, FUTURE))
    cache.make_room(1)
    assert not half.exists()
    assert new.exists()
    written = write_picture(PIXELS, Destination(pictures), PictureFacts(seed=7, prompt="a cat"))
    assert not picture.exists()
    assert written.name == "00001-7-a-cat.png"


def test_earlier_prompts_keep_their_order(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = PromptHistory(tmp_path)
    for at, prompt in ((FUTURE, "one"), (0.0, "two"), (time.time(), "three")):
        monkeypatch.setattr(time, "time", lambda at=at: at)
        history.add(prompt, "")
    history.close()
    assert [entry.prompt for entry in PromptHistory(tmp_path).prompts] == ["three", "two", "one"]


def test_the_last_use_of_a_file_is_the_latest_one(tmp_path: Path) -> None:
    clock = iter((2000, 1000))
    memory = LoraMemory(tmp_path, lambda: next(clock))
    memory.note_use(["/a"])
    memory.note_use(["/a"])
    assert memory.used_ns("/a") == 1000


def test_files_that_are_put_aside_at_one_time_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "gmtime", lambda: time.struct_time((1970, 1, 1, 0, 0, 0, 3, 1, 0)))
    kept: set[Path | None] = set()
    for number in range(3):
        (tmp_path / "a.json").write_text(str(number))
        kept.add(put_aside(tmp_path / "a.json", "damaged"))
    assert len(kept) == 3
    assert {path.read_text() for path in kept if path is not None} == {"0", "1", "2"}
