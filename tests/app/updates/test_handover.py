"""The launcher starts the version that is due, and goes back from one that does not start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.updates.updates import Updates
from app.versions.state import (
    CANNOT_RUN,
    DID_NOT_START,
    GONE_BACK,
    GOOD,
    TRIAL,
    change_state,
)
from app.versions.trees import LIST, tree_folder
from tests.app.updates.publishing import Publisher, install
from tests.app.updates.trees import (
    COMES_UP,
    CRASHES,
    DRAWS,
    ENDS,
    FAILS,
    IS_ENDED,
    NEW,
    NEWER,
    OLD,
    ROOT,
    Home,
    make_tree,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the launchers are scripts")

STATE = (
    b'{"active": "0.2.0", "stage": "good", "starts": 0, "previous": "", "left": [], "format": 1}'
)


def put(home: Home, version: str, body: str = DRAWS) -> Path:
    """Put a version beside the installed one, on trial."""
    tree = make_tree(Path(tree_folder(str(home.versions), version)), version, body)
    (tree.parent / LIST).write_text("{}")
    before = home.now().active or OLD
    change_state(home.versions, lambda state: state.activated(version, before))
    return tree


def test_without_an_update_the_installed_version_starts(home: Home, installed: Path) -> None:
    assert home.started(installed, "models") == [f"{OLD} models"]
    assert not home.versions.exists()


def test_an_update_starts_from_the_next_start_on(
    home: Home, installed: Path, publisher: Publisher, updates: Updates
) -> None:
    publisher.publish(NEW)
    install(updates)
    assert home.started(installed, "a prompt", "b") == [f"{NEW} a prompt b"]
    assert home.now().stage == GOOD
    assert home.started(installed) == [NEW]


def test_a_version_stays_on_trial_until_its_first_picture(home: Home, installed: Path) -> None:
    put(home, NEW, ENDS)
    for _ in range(5):
        assert home.started(installed) == [NEW]
    assert (home.now().stage, home.now().starts) == (TRIAL, 0)


def test_a_version_that_crashes_at_its_start_is_left_in_the_same_start(
    home: Home, installed: Path
) -> None:
    put(home, NEW, CRASHES)
    done = home.start(installed, "models")
    assert done.stdout.splitlines() == [f"{NEW} models", f"{NEW} models", f"{OLD} models"]
    assert done.returncode == 0
    left = home.now().left[0]
    assert (left.version, left.reason, left.told) == (NEW, DID_NOT_START, False)
    assert home.started(installed) == [OLD]


def test_a_version_that_ends_with_a_failure_before_it_is_up_is_left(
    home: Home, installed: Path
) -> None:
    put(home, NEW, FAILS)
    assert home.started(installed) == [NEW, NEW, OLD]


def test_a_crash_after_the_window_was_up_keeps_the_version(home: Home, installed: Path) -> None:
    put(home, NEW, COMES_UP)
    for _ in range(4):
        assert home.started(installed) == [NEW]
    assert home.now().active == NEW


def test_the_status_of_a_version_on_trial_is_that_of_the_start(home: Home, installed: Path) -> None:
    put(home, NEW, "    running_version().started()\n    sys.exit(7)")
    assert home.start(installed).returncode == 7


def test_a_version_that_somebody_ends_has_not_failed(home: Home, installed: Path) -> None:
    put(home, NEW, IS_ENDED)
    for _ in range(4):
        assert home.started(installed) == [NEW]
    assert (home.now().active, home.now().starts) == (NEW, 0)


def test_a_signal_to_the_start_reaches_the_version_on_trial(home: Home, installed: Path) -> None:
    put(home, NEW, "    sys.stdin.readline()\n    sys.exit(5)")
    with subprocess.Popen(
        [installed / "safelight"],
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == f"{NEW}\n"
        started.terminate()
        assert started.wait() == 128 + 15


def test_the_version_before_is_ended_by_a_signal_as_ever(home: Home, tmp_path: Path) -> None:
    """Its process is the one that has waited for the failed version."""
    installed = make_tree(tmp_path / "waits", OLD, "    sys.stdin.readline()")
    put(home, NEW, CRASHES)
    with subprocess.Popen(
        [installed / "safelight"],
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        versions = [started.stdout.readline().strip() for _ in range(3)]
        assert versions == [NEW, NEW, OLD]
        started.terminate()
        assert started.wait() == -15


def test_starts_that_a_killed_launcher_counted_lead_back(home: Home, installed: Path) -> None:
    """A version that hangs is killed with its launcher, or the machine is switched off."""
    put(home, NEW, "    sys.stdin.readline()\n    sys.exit(0)")
    for _ in range(2):
        with subprocess.Popen(
            [installed / "safelight"],
            env=home.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as started:
            assert started.stdout is not None
            assert started.stdout.readline() == f"{NEW}\n"
            started.kill()
    assert home.started(installed) == [OLD]


def test_two_starts_at_once_count_as_one(home: Home, installed: Path) -> None:
    put(home, NEW, "    sys.stdin.readline()\n    running_version().started()\n    sys.exit(0)")
    starts = [
        subprocess.Popen(
            [installed / "safelight"],
            env=home.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for started in starts:
        assert started.stdout is not None
        assert started.stdout.readline() == f"{NEW}\n"
    assert home.now().starts == 1
    for started in starts:
        started.communicate("\n")
        assert started.returncode == 0
    assert (home.now().active, home.now().starts) == (NEW, 0)


def test_a_failed_version_leads_to_the_one_before_it(home: Home, installed: Path) -> None:
    put(home, NEW)
    assert home.started(installed) == [NEW]
    put(home, NEWER, CRASHES)
    assert home.started(installed) == [NEWER, NEWER, NEW]
    assert home.started(installed) == [NEW]


def test_a_newer_installed_version_is_not_handed_over(home: Home, tmp_path: Path) -> None:
    put(home, NEW)
    newer = make_tree(tmp_path / "newer", NEWER)
    assert home.started(newer) == [NEWER]
    same = make_tree(tmp_path / "same", NEW, ENDS)
    assert home.started(same) == [NEW]
    assert home.now().stage == TRIAL


def test_versions_are_compared_by_their_numbers(home: Home, tmp_path: Path) -> None:
    put(home, NEWER)
    assert home.started(make_tree(tmp_path / "nine", "0.9.0")) == [NEWER]


def test_a_version_whose_program_cannot_run_is_left(home: Home, installed: Path) -> None:
    tree = put(home, NEW)
    (tree / "safelight").write_bytes(b"\x7fELF of another machine")
    assert home.started(installed) == [OLD]
    assert home.now().left[0].reason == CANNOT_RUN


def test_a_proved_version_whose_program_is_gone_is_left(home: Home, installed: Path) -> None:
    tree = put(home, NEW)
    assert home.started(installed) == [NEW]
    (tree / "safelight").unlink()
    assert home.started(installed) == [OLD]
    assert home.now().left[0].reason == CANNOT_RUN


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format": 2, "active": "0.2.0"}',
        STATE.replace(b"0.2.0", b"../../bin"),
        STATE.replace(b"[]", b"[1]"),
        STATE.replace(b"0,", b'"many",'),
        b"[" * 100_000,
    ],
    ids=lambda content: content[:40].decode(),
)
def test_with_a_damaged_state_the_installed_version_starts(
    home: Home, installed: Path, content: bytes
) -> None:
    put(home, NEW)
    (home.versions / "state.json").write_bytes(content)
    assert home.started(installed) == [OLD]


def test_a_version_that_is_gone_is_not_started(home: Home, installed: Path) -> None:
    tree = put(home, NEW)
    tree.parent.rename(home.folder / "elsewhere")
    assert home.started(installed) == [OLD]


def test_going_back_works_though_the_newer_version_does_not(home: Home, installed: Path) -> None:
    """`safelight updates back` is of the installed version, whatever is active."""
    put(home, NEW)
    assert home.started(installed) == [NEW]
    assert home.started(installed, "updates", "back") == [f"{OLD} updates back"]


def test_a_second_user_has_versions_of_their_own(
    home: Home, installed: Path, tmp_path: Path
) -> None:
    put(home, NEW)
    other = Home(tmp_path / "other")
    other.folder.mkdir()
    assert other.started(installed) == [OLD]
    assert home.started(installed) == [NEW]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is closed to root")
def test_a_trial_that_cannot_be_counted_is_not_begun(home: Home, installed: Path) -> None:
    put(home, NEW)
    home.versions.chmod(0o555)
    try:
        assert home.started(installed) == [OLD]
    finally:
        home.versions.chmod(0o755)


def test_going_back_by_hand_is_remembered_but_not_told(home: Home, installed: Path) -> None:
    put(home, NEW)
    change_state(home.versions, lambda state: state.without(NEW, GONE_BACK))
    assert home.started(installed) == [OLD]
    assert home.now().left[0].told


def test_the_launcher_loads_little_before_it_hands_over(home: Home, installed: Path) -> None:
    """Milliseconds: of our code only what it needs, and no module that is slow to load."""
    put(home, NEW)
    change_state(home.versions, lambda state: state.proved(NEW))
    program = (
        "import os, sys\n"
        f"sys.path[:0] = [{str(installed / 'lib')!r}]\n"
        "os.execv = lambda *_: (print(*sys.modules), sys.stdout.flush(), os._exit(0))\n"
        "from safelight_launcher import main; main()\n"
    )
    done = subprocess.run(
        # Without the packages of this Python, whose hooks load modules of their own.
        [sys.executable, "-I", "-S", "-c", program],
        env=home.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    ours = {name for name in loaded if name.split(".")[0] in ("app", "engine", "ui", "backends")}
    names = ("folders", "handover", "names", "state", "trees")
    assert ours == {
        "app",
        "app.code_folder",
        "app.versions",
        *(f"app.versions.{name}" for name in names),
    }
    assert not loaded & {"dataclasses", "inspect", "pathlib", "subprocess", "msgspec", "tempfile"}


CHANGES = """
    from pathlib import Path
    from app.versions.folders import versions_folder
    from app.versions.handover import start_again
    from app.versions.state import GONE_BACK, change_state
    change_state(Path(versions_folder(os.environ)), lambda state: state.{change})
    start_again()
"""


def test_an_update_begins_when_safelight_starts_again(home: Home, tmp_path: Path) -> None:
    change = CHANGES.format(change=f"activated({NEW!r}, {OLD!r})")
    installed = make_tree(tmp_path / "old", OLD, change)
    put(home, NEW)
    change_state(home.versions, lambda state: state.without(NEW, GONE_BACK))
    assert home.started(installed) == [OLD, NEW]


def test_the_version_before_begins_when_safelight_starts_again(home: Home, installed: Path) -> None:
    put(home, NEW, CHANGES.format(change=f"without({NEW!r}, GONE_BACK)"))
    assert home.started(installed) == [NEW, OLD]
