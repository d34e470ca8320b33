"""One Safelight for each user and folder, whatever the others do."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from app.single_instance import SingleInstance, Start

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
    for one in started:
        one.end(signal.SIGKILL)


@pytest.fixture
def first(tmp_path: Path, qapp: object) -> Iterator[SingleInstance]:
    one = SingleInstance(tmp_path / "state")
    assert one.claim() is Start.FIRST
    yield one
    one.release()


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


def test_another_folder_is_another_safelight(first: SingleInstance, tmp_path: Path) -> None:
    other = SingleInstance(tmp_path / "other")
    assert other.claim() is Start.FIRST
    other.release()


def test_after_the_first_ended_the_next_is_first(
    tmp_path: Path, other_start: Callable[..., OtherStart]
) -> None:
    one = SingleInstance(tmp_path / "state")
    for _ in range(2):
        assert one.claim() is Start.FIRST
        one.release()


def test_the_lock_of_a_killed_process_does_not_hinder_a_start(
    tmp_path: Path, qtbot: QtBot, other_start: Callable[..., OtherStart]
) -> None:
    killed = other_start(tmp_path / "state")
    assert killed.found() == "first"
    killed.end(signal.SIGKILL)
    assert (tmp_path / "state" / "safelight.lock").exists()
    one = SingleInstance(tmp_path / "state")
    assert one.claim() is Start.FIRST
    with qtbot.waitSignal(one.opened, timeout=PATIENCE_MS):
        other_start(tmp_path / "state", "/a")
    one.release()


def test_a_first_instance_that_hangs_is_reported(
    tmp_path: Path, qapp: object, other_start: Callable[..., OtherStart]
) -> None:
    """A first instance that holds the lock while its event loop stands still."""
    hanging = other_start(tmp_path / "state")
    assert hanging.found() == "first"
    assert SingleInstance(tmp_path / "state").claim(["/a"]) is Start.NOT_ANSWERING


@pytest.mark.skipif(sys.platform == "win32", reason="folders are protected differently there")
def test_a_folder_that_cannot_be_used_keeps_nobody_out(tmp_path: Path, qapp: object) -> None:
    (tmp_path / "file").touch()
    assert SingleInstance(tmp_path / "file" / "state").claim() is Start.FIRST


# --- the socket ---


def message(*paths: str) -> bytes:
    body = msgspec.json.encode({"paths": paths})
    return len(body).to_bytes(4, "little") + body


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xff\xff\xff",
        (2 << 20).to_bytes(4, "little") + bytes(2 << 20),
        (4).to_bytes(4, "little") + b"\xff\xfe\xfd\xfc",
        (100_000).to_bytes(4, "little") + b"[" * 100_000,
        message("relative"),
        message("/a\0b"),
        message("/" + 40_000 * "x"),
        message(*("/a" for _ in range(2000))),
        message("/a") + b"more",
        b"\x05\x00",
        b"",
    ],
    ids=[
        *("http", "huge length", "huge message", "no json", "deep json", "relative", "null"),
        *("long path", "many paths", "trailing", "half a length", "silent"),
    ],
)
def test_whatever_else_is_said_opens_nothing_and_is_hung_up_on(
    first: SingleInstance, tmp_path: Path, qtbot: QtBot, said: bytes
) -> None:
    opened: list[object] = []
    first.opened.connect(opened.append)
    socket = QLocalSocket()
    socket.connectToServer(first.socket_name)
    qtbot.waitUntil(
        lambda: socket.state() is QLocalSocket.LocalSocketState.ConnectedState,
        timeout=PATIENCE_MS,
    )
    socket.write(said)
    gone = QLocalSocket.LocalSocketState.UnconnectedState
    qtbot.waitUntil(lambda: socket.state() is gone, timeout=PATIENCE_MS)
    assert socket.readAll().data() == b""
    assert opened == []


@pytest.mark.skipif(sys.platform == "win32", reason="Unix permissions")
def test_the_socket_is_for_this_user_alone(
    first: SingleInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Path(first.socket_file).stat().st_mode & 0o077 == 0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has such a folder")
def test_the_users_own_runtime_folder_is_preferred(
    tmp_path: Path, qapp: object, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    # Names of sockets have about a hundred characters, and pytest's folders may have more.
    near = tempfile.TemporaryDirectory(dir="/tmp")
    request.addfinalizer(near.cleanup)
    private, shared = Path(near.name) / "private", Path(near.name) / "shared"
    private.mkdir(mode=0o700)
    shared.mkdir()
    shared.chmod(0o777)
    for folder, expected in ((private, True), (shared, False), (tmp_path / "none", False)):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        one = SingleInstance(tmp_path / "state")
        assert one.claim() is Start.FIRST
        assert (Path(one.socket_file).parent == folder) is expected
        assert os.path.exists(one.socket_file)  # noqa: PTH110 (a socket)
        one.release()
