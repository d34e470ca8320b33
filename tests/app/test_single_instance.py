"""One Safelight for each user and folder, whatever the others do."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.single_instance import MESSAGES, SingleInstance, Start
from engine.durable import replace_file

PATIENCE_MS = 60_000
# Claims a folder, says what it found, and stays as long as its input is open.
CLAIM = """
import sys
from pathlib import Path
from app.single_instance import SingleInstance
one = SingleInstance(Path(sys.argv[1]))
print(one.claim(sys.argv[2:]).value, flush=True)
sys.stdin.read()
"""


class OtherStart:
    """Another process that claims a folder."""

    def __init__(self, state: Path, *paths: str, cwd: Path | None = None) -> None:
        command = [sys.executable, "-I", "-c", CLAIM, str(state), *paths]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd
        )

    def found(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.communicate()


@pytest.fixture
def other_start() -> Iterator[Callable[..., OtherStart]]:
    started: list[OtherStart] = []

    def start(state: Path, *paths: str, cwd: Path | None = None) -> OtherStart:
        started.append(OtherStart(state, *paths, cwd=cwd))
        return started[-1]

    yield start
    for other in started:
        other.end(signal.SIGKILL)


@pytest.fixture
def first(tmp_path: Path, qapp: object) -> Iterator[SingleInstance]:
    first = SingleInstance(tmp_path / "state")
    assert first.claim() is Start.FIRST
    yield first
    first.release()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts of this process wait for an answer a moment, not for seconds."""
    monkeypatch.setattr("app.single_instance._PATIENCE_S", 0.1)


def test_a_second_start_hands_its_paths_over(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot, other_start: Callable[..., OtherStart]
) -> None:
    opened: list[tuple[str, ...]] = []
    first.opened.connect(opened.append)
    strange = "a 'quoted' #50% 🏠.png"
    second = other_start(tmp_path / "state", strange, "/b", "bad\udcff", cwd=tmp_path)
    qtbot.waitUntil(lambda: bool(opened), timeout=PATIENCE_MS)
    # Relative paths mean the folder of the second start; what is no text cannot be handed over.
    assert opened == [(str(tmp_path / strange), "/b")]
    assert second.found() == "handed_over"


def test_without_paths_it_only_shows_the_window(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot, other_start: Callable[..., OtherStart]
) -> None:
    for _ in range(2):
        with qtbot.waitSignal(first.opened, timeout=PATIENCE_MS) as blocker:
            second = other_start(tmp_path / "state")
        assert blocker.args == [()]  # pyright: ignore[reportUnknownMemberType]
        assert second.found() == "handed_over"


def test_the_leave_to_come_to_the_front_is_handed_over_with_the_start(
    first: SingleInstance,
    tmp_path: Path,
    qtbot: QtBot,
    other_start: Callable[..., OtherStart],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "gnome-shell/Files/4711-0-host_TIME123")
    with qtbot.waitSignal(first.opened, timeout=PATIENCE_MS):
        other_start(tmp_path / "state")
        monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    assert os.environ["XDG_ACTIVATION_TOKEN"] == "gnome-shell/Files/4711-0-host_TIME123"
    with qtbot.waitSignal(first.opened, timeout=PATIENCE_MS):
        monkeypatch.delenv("XDG_ACTIVATION_TOKEN")
        other_start(tmp_path / "state")
    assert "XDG_ACTIVATION_TOKEN" not in os.environ


@pytest.mark.usefixtures("impatient")
def test_a_second_start_lets_the_first_bring_its_window_to_the_front(
    first: SingleInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[int] = []
    monkeypatch.setattr("app.single_instance._let_come_forward", allowed.append)
    SingleInstance(tmp_path / "state").claim()
    assert allowed == [os.getpid()]


def test_another_folder_is_another_safelight(first: SingleInstance, tmp_path: Path) -> None:
    other = SingleInstance(tmp_path / "other")
    assert other.claim() is Start.FIRST
    other.release()


def test_after_the_first_ended_the_next_is_first(
    tmp_path: Path, other_start: Callable[..., OtherStart]
) -> None:
    instance = SingleInstance(tmp_path / "state")
    for _ in range(2):
        assert instance.claim() is Start.FIRST
        instance.release()


def test_the_lock_of_a_killed_process_does_not_hinder_a_start(
    tmp_path: Path, qtbot: QtBot, other_start: Callable[..., OtherStart]
) -> None:
    killed = other_start(tmp_path / "state")
    assert killed.found() == "first"
    killed.end(signal.SIGKILL)
    assert (tmp_path / "state" / "safelight.lock").exists()
    instance = SingleInstance(tmp_path / "state")
    assert instance.claim() is Start.FIRST
    with qtbot.waitSignal(instance.opened, timeout=PATIENCE_MS):
        other_start(tmp_path / "state", "/a")
    instance.release()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("age_s", [-86_400, 60, 86_400], ids=["future", "minute", "day"])
def test_a_lock_of_a_running_process_holds_whatever_its_age(
    tmp_path: Path, qapp: object, other_start: Callable[..., OtherStart], age_s: int
) -> None:
    """Some network drives know no locks: there the file alone tells that a Safelight runs."""
    running = other_start(tmp_path / "elsewhere")
    assert running.found() == "first"
    (tmp_path / "state").mkdir()
    lock = tmp_path / "state" / "safelight.lock"
    lock.write_bytes((tmp_path / "elsewhere" / "safelight.lock").read_bytes())
    at = time.time() - age_s
    os.utime(lock, (at, at))
    assert SingleInstance(tmp_path / "state").claim() is Start.NOT_ANSWERING
    running.end(signal.SIGKILL)
    instance = SingleInstance(tmp_path / "state")
    assert instance.claim() is Start.FIRST
    instance.release()


@pytest.mark.skipif(sys.platform == "win32", reason="folders are protected differently there")
def test_a_folder_that_cannot_be_used_keeps_nobody_out(tmp_path: Path, qapp: object) -> None:
    (tmp_path / "file").touch()
    assert SingleInstance(tmp_path / "file" / "state").claim() is Start.FIRST


# --- messages ---


def message(*paths: str) -> bytes:
    return msgspec.json.encode({"paths": paths})


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        bytes(2 << 20),
        b"\xff\xfe\xfd\xfc",
        b"[" * 100_000,
        message("relative"),
        message("/a\0b"),
        message("/" + 40_000 * "x"),
        message(*("/a" for _ in range(2000))),
        message("/a") + b"more",
        b"",
    ],
    ids=[
        *("http", "huge message", "no json", "deep json", "relative", "null"),
        *("long path", "many paths", "trailing", "empty"),
    ],
)
def test_any_other_message_opens_nothing_and_is_removed(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot, said: bytes
) -> None:
    opened: list[object] = []
    first.opened.connect(opened.append)
    path = tmp_path / "state" / MESSAGES / "other.json"
    replace_file(path, said)
    qtbot.waitUntil(lambda: not path.exists(), timeout=PATIENCE_MS)
    assert opened == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
def test_a_pipe_among_the_messages_hinders_nobody(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot, other_start: Callable[..., OtherStart]
) -> None:
    os.mkfifo(tmp_path / "state" / MESSAGES / "0.json")
    with qtbot.waitSignal(first.opened, timeout=PATIENCE_MS):
        second = other_start(tmp_path / "state")
    assert second.found() == "handed_over"


def test_a_message_of_a_killed_start_is_forgotten(tmp_path: Path, qapp: object) -> None:
    messages = tmp_path / "state" / MESSAGES
    messages.mkdir(parents=True)
    for name, age_s in (("old", 3600), ("new", 0)):
        path = messages / f"{name}.json"
        path.write_bytes(message(f"/{name}"))
        os.utime(path, (time.time() - age_s, time.time() - age_s))
    instance = SingleInstance(tmp_path / "state")
    opened: list[tuple[str, ...]] = []
    instance.opened.connect(opened.append)
    assert instance.claim() is Start.FIRST
    # One that waits for its answer at this moment is heard.
    assert opened == [("/new",)]
    assert list(messages.iterdir()) == []
    instance.release()


@pytest.mark.skipif(sys.platform == "win32", reason="Unix permissions")
def test_messages_are_for_this_user_alone(first: SingleInstance, tmp_path: Path) -> None:
    assert (tmp_path / "state" / MESSAGES).stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("impatient")
def test_a_first_instance_that_hangs_is_reported_and_no_message_stays(
    tmp_path: Path, qapp: object, other_start: Callable[..., OtherStart]
) -> None:
    """A first instance that holds the lock while its event loop stands still."""
    hanging = other_start(tmp_path / "state")
    assert hanging.found() == "first"
    assert SingleInstance(tmp_path / "state").claim(["/a"]) is Start.NOT_ANSWERING
    assert list((tmp_path / "state" / MESSAGES).iterdir()) == []


def test_a_start_takes_the_place_of_a_first_that_ends_meanwhile(
    tmp_path: Path, qapp: object, other_start: Callable[..., OtherStart]
) -> None:
    hanging = other_start(tmp_path / "state")
    assert hanging.found() == "first"
    second = other_start(tmp_path / "state", "/a")
    messages = tmp_path / "state" / MESSAGES
    while not any(messages.glob("*.json")):
        time.sleep(0.01)
    hanging.end(signal.SIGKILL)
    assert second.found() == "first"
    assert list(messages.iterdir()) == []
