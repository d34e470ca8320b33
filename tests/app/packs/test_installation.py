"""An installation from servers that misbehave, onto full and closed disks, of the wrong packs."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest

from app.packs.catalogue import Pack, Platform
from app.packs.installation import Installation, Progress, Stage, Wishes
from app.packs.store import PackStore
from engine.api.values import ErrorCode
from engine.errors import Cancelled, EngineError
from tests.app.downloads.faulty_server import (
    Answer,
    FaultyServer,
    drop_after,
    give,
    redirect,
    refuse,
    running,
    stall_after,
)
from tests.app.downloads.fetching import IMPATIENT, QUICK
from tests.app.packs.made import a_pack, fails, files_of, installation, names_in, works

PAGE = give(b"<!doctype html><p>Please sign in", Content_Type="text/html")


@pytest.fixture(autouse=True)
def _own_network(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name}_proxy".upper(), raising=False)


@pytest.fixture
def store(tmp_path: Path) -> PackStore:
    return PackStore(tmp_path / "packs of Zoë")


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with running(FaultyServer(b"")) as server:
        yield server


def served(server: FaultyServer, folder: Path, version: str = "1.0") -> Pack:
    """Return a pack whose wheel the server gives out."""
    pack = a_pack(folder, version, url=f"http://127.0.0.1:{server.port}/")
    server.content = (folder / pack.wheels[0].file_name).read_bytes()
    return pack


def downloading(store: PackStore) -> Installation:
    return Installation(store, trial=works, terms=QUICK)


def no_wishes() -> Wishes:
    return Wishes()


def test_a_pack_is_downloaded_unpacked_tried_and_active(
    store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    seen: list[Progress] = []
    pack = served(server, tmp_path / "wheels")
    outcome = downloading(store).install(pack, Wishes(on_progress=seen.append))
    assert store.active() == {"tiny": "tiny-1.0"}
    assert store.damaged_files("tiny-1.0", outcome.pack) == ()
    assert {file.path for file in outcome.pack.files} == set(files_of("1.0"))
    assert list(dict.fromkeys(progress.stage for progress in seen)) == list(Stage)
    for stage, total in ((Stage.DOWNLOAD, pack.download_bytes), (Stage.UNPACK, pack.disk_bytes)):
        done = [progress.done for progress in seen if progress.stage is stage]
        assert done == sorted(done)
        assert done[-1] == total
    assert names_in(store.folder) == {"tiny-1.0"}
    assert not (store.downloads / "tiny").exists()


@pytest.mark.parametrize(
    "script",
    [
        [drop_after(100), drop_after(100)],
        [refuse(503), drop_after(0)],
        [drop_after(5000), refuse(503, Retry_After=0)],
    ],
    ids=["drops", "busy", "drops late"],
)
def test_an_installation_survives_a_weak_server(
    script: list[Answer], store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    pack = served(server, tmp_path / "wheels")
    server.script = script
    downloading(store).install(pack, no_wishes())
    assert store.active() == {"tiny": "tiny-1.0"}


def test_a_server_that_stalls_is_asked_again(
    store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    pack = served(server, tmp_path / "wheels")
    server.script = [stall_after(100)]
    Installation(store, trial=works, terms=IMPATIENT).install(pack, no_wishes())
    assert store.active() == {"tiny": "tiny-1.0"}


def wrong_bytes(content: bytes) -> bytes:
    return content[:50] + bytes(20) + content[70:]


# What a server sends in place of a wheel's bytes, and a part of the message.
LIES: dict[str, tuple[Callable[[bytes], Answer], str]] = {
    "wrong bytes": (lambda content: give(wrong_bytes(content)), "its hash differs"),
    "longer": (lambda content: give(content + b"more"), "its size differs"),
    "shorter": (lambda content: give(content[:-1]), "its size differs"),
    "a page": (lambda _: PAGE, "A web page came in place"),
    "missing": (lambda _: refuse(404), "does not give out"),
    "redirected": (lambda _: redirect("http://elsewhere.test/file"), "elsewhere.test"),
    "drops": (lambda _: drop_after(0), "broke off again and again"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_server_changes_nothing(
    lie: str, store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    answer, words = LIES[lie]
    wheels = tmp_path / "wheels"
    installation(store).install(a_pack(wheels, "0.9"), no_wishes(), source=wheels)
    pack = served(server, wheels)
    server.otherwise = answer(server.content)
    with pytest.raises(EngineError, match=words):
        downloading(store).install(pack, no_wishes())
    assert store.active() == {"tiny": "tiny-0.9"}
    assert names_in(store.folder) == {"tiny-0.9"}


def test_a_stopped_download_goes_on_where_it_was(
    store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    pack = served(server, tmp_path / "wheels")
    arrived = 0

    def note(progress: Progress) -> None:
        nonlocal arrived
        arrived = progress.done

    server.script = [drop_after(500)]
    with pytest.raises(Cancelled):
        downloading(store).install(pack, Wishes(note, lambda: arrived > 0))
    assert store.downloaded("tiny") == arrived
    server.asked.clear()
    downloading(store).install(pack, no_wishes())
    assert server.asked[0].headers["range"] == f"bytes={arrived}-"


def test_a_pack_that_fails_its_trial_is_rolled_back_and_said(
    store: PackStore, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    installation(store).install(a_pack(wheels, "1.0"), no_wishes(), source=wheels)
    with pytest.raises(EngineError) as caught:
        Installation(store, trial=fails).install(a_pack(wheels, "1.1"), no_wishes(), source=wheels)
    assert caught.value.code is ErrorCode.BACKEND_FAILED
    assert caught.value.message == "Tiny does not work here and is not used. It crashed (SIGSEGV)."
    assert caught.value.hint == "The version before it stays in use."
    assert store.active() == {"tiny": "tiny-1.0"}
    assert names_in(store.folder) == {"tiny-1.0"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"system": "plan9"}, "It is made for another system."),
        ({"machine": "vax"}, "It is made for another system."),
        ({"python": "2.7"}, "It is made for Python 2.7"),
        ({"unavailable": "Nobody publishes it."}, "Nobody publishes it."),
    ],
)
def test_a_pack_for_another_machine_is_refused(
    change: dict[str, str], words: str, store: PackStore, tmp_path: Path
) -> None:
    pack = msgspec.structs.replace(a_pack(tmp_path / "wheels"), **change)
    with pytest.raises(EngineError, match=words) as caught:
        installation(store).install(pack, no_wishes(), source=tmp_path / "wheels")
    assert caught.value.code is ErrorCode.NOT_AVAILABLE
    assert not store.folder.exists()


def test_a_pack_that_does_not_fit_on_the_disk_is_not_begun(
    store: PackStore, tmp_path: Path
) -> None:
    pack = msgspec.structs.replace(a_pack(tmp_path / "wheels"), disk_bytes=1 << 60)
    with pytest.raises(EngineError, match="MB more are needed") as caught:
        installation(store).install(pack, no_wishes(), source=tmp_path / "wheels")
    assert caught.value.code is ErrorCode.DISK_FULL
    assert names_in(store.folder) == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is of Linux")
def test_a_disk_that_fills_up_is_said_and_leaves_nothing(
    store: PackStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every new file of the pack is /dev/full, which takes no byte."""
    open_file = Path.open

    def full(self: Path, mode: str = "r") -> IO[Any]:
        return open_file(Path("/dev/full"), "wb") if mode == "xb" else open_file(self, mode)

    wheels = tmp_path / "wheels"
    pack = a_pack(wheels)
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(EngineError, match="1 MB more are needed") as caught:
        installation(store).install(pack, no_wishes(), source=wheels)
    assert caught.value.code is ErrorCode.DISK_FULL
    assert names_in(store.folder) == set()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "packs").write_text("a file")
    store = PackStore(tmp_path / "packs")
    with pytest.raises(EngineError, match="folder of runtime packs cannot be written") as caught:
        installation(store).install(a_pack(tmp_path / "w"), no_wishes(), source=tmp_path / "w")
    assert caught.value.code is ErrorCode.OUTPUT_NOT_WRITABLE


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir(mode=0o500)
    with pytest.raises(EngineError, match="cannot be written"):
        installation(PackStore(tmp_path / "packs")).install(
            a_pack(tmp_path / "w"), no_wishes(), source=tmp_path / "w"
        )


# --- from a file or a folder ---


def test_a_file_stands_for_the_folder_that_it_is_in(store: PackStore, tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "w")
    wheel = tmp_path / "w" / pack.wheels[0].file_name
    installation(store).install(pack, no_wishes(), source=wheel)
    assert store.active() == {"tiny": "tiny-1.0"}
    assert wheel.exists()


def test_a_file_of_another_pack_is_refused(store: PackStore, tmp_path: Path) -> None:
    other = a_pack(tmp_path / "w", name="other").wheels[0].file_name
    with pytest.raises(EngineError, match="no part of this runtime pack"):
        installation(store).install(
            a_pack(tmp_path / "w"), no_wishes(), source=tmp_path / "w" / other
        )


def test_a_folder_with_wheels_for_another_system_is_named(store: PackStore, tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "w")
    wheel = tmp_path / "w" / pack.wheels[0].file_name
    wheel.rename(wheel.with_name("tiny_runtime-1.0-cp39-cp39-win_amd64.whl"))
    with pytest.raises(EngineError) as caught:
        installation(store).install(pack, no_wishes(), source=tmp_path / "w")
    assert "win_amd64.whl, for another version, system or Python" in caught.value.hint


def test_a_damaged_file_is_named_and_not_used(store: PackStore, tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "w")
    wheel = tmp_path / "w" / pack.wheels[0].file_name
    wheel.write_bytes(wrong_bytes(wheel.read_bytes()))
    with pytest.raises(EngineError, match="is damaged, or another file of that name"):
        installation(store).install(pack, no_wishes(), source=wheel)
    assert names_in(store.folder) == set()


# --- repair ---


@pytest.mark.parametrize("damage", ["deleted", "changed", "cut"])
def test_repair_names_a_damaged_file_and_fetches_it_again(
    damage: str, store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    pack = served(server, tmp_path / "w")
    downloading(store).install(pack, no_wishes())
    library = store.folder / "tiny-1.0" / "site" / "tiny_runtime" / "libtiny.so"
    whole = library.read_bytes()
    match damage:
        case "deleted":
            library.unlink()
        case "changed":
            library.write_bytes(bytes(len(whole)))
        case _:
            library.write_bytes(whole[:-1])
    outcome = downloading(store).repair(pack, no_wishes())
    assert outcome.repaired == ("tiny_runtime/libtiny.so",)
    assert library.read_bytes() == whole
    assert names_in(store.folder) == {"tiny-1.0"}


def test_repair_of_a_whole_pack_fetches_nothing(
    store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    pack = served(server, tmp_path / "w")
    downloading(store).install(pack, no_wishes())
    server.asked.clear()
    assert downloading(store).repair(pack, no_wishes()).repaired == ()
    assert server.asked == []


def test_repair_of_a_pack_whose_folder_is_gone_installs_it(
    store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    pack = served(server, tmp_path / "w")
    downloading(store).install(pack, no_wishes())
    (store.folder / "tiny-1.0").rename(tmp_path / "elsewhere")
    downloading(store).repair(pack, no_wishes())
    assert store.listed("tiny-1.0") is not None


def test_repair_without_network_says_so_and_keeps_what_is_here(
    store: PackStore, server: FaultyServer, tmp_path: Path
) -> None:
    pack = served(server, tmp_path / "w")
    downloading(store).install(pack, no_wishes())
    server.otherwise = refuse(503)
    (store.folder / "tiny-1.0" / "site" / "tiny_runtime" / "libtiny.so").unlink()
    with pytest.raises(EngineError, match="too busy"):
        Installation(store, trial=works, terms=msgspec.structs.replace(QUICK, tries=1)).repair(
            pack, no_wishes()
        )
    assert store.active() == {"tiny": "tiny-1.0"}


def test_the_present_platform_is_one_that_packs_are_made_for() -> None:
    assert Platform.here().system in ("linux", "windows", "macos")
