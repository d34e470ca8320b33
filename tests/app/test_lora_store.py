"""The list of LoRA files follows the folders; the engine lists them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.api.lora_files import LoraInfo
from engine.api.messages import LorasFound, LorasListed
from engine.api.values import ErrorInfo
from tests.app.fake_engine import Plan
from tests.app.loras import INK, LORAS, lora
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command
from tests.checkpoints.files import write_sparse
from tests.jobs.test_lora_index import KEYS, RANK


def names(staged: Staged) -> list[str]:
    return sorted(info.name for info in staged.session.loras.loras)


def test_files_come_change_and_go_without_being_asked_for(staged: Staged) -> None:
    folder = staged.paths.models / "Lora"
    folder.mkdir(parents=True)
    write_sparse(folder / "a.safetensors", KEYS)
    store = staged.session.loras
    staged.start()
    staged.wait(lambda: store.is_listed and names(staged) == ["a"])
    info = store.info(str(folder / "a.safetensors"))
    assert info is not None
    assert info.rank == RANK
    # What is new is seen from now on, once the folder is watched.
    staged.wait(lambda: not store.is_listing)
    write_sparse(folder / "b.safetensors", KEYS)
    staged.wait(lambda: names(staged) == ["a", "b"])
    (folder / "a.safetensors").unlink()
    staged.wait(lambda: names(staged) == ["b"])
    (folder / "b.preview.png").touch()
    staged.wait(lambda: bool(store.loras[0].preview))


def test_a_folder_that_is_moved_away_and_back_takes_its_files_along(
    staged: Staged, tmp_path: Path
) -> None:
    folder = staged.paths.models / "Lora"
    folder.mkdir(parents=True)
    write_sparse(folder / "a.safetensors", KEYS)
    store = staged.session.loras
    staged.start()
    staged.wait(lambda: store.is_listed and names(staged) == ["a"])
    # Once it is watched.
    staged.wait(lambda: not store.is_listing)
    folder.rename(tmp_path / "away")
    staged.wait(lambda: names(staged) == [])
    (tmp_path / "away").rename(folder)
    staged.wait(lambda: names(staged) == ["a"])


def test_a_folder_of_another_program_is_looked_into_once_it_is_named(
    staged: Staged, tmp_path: Path
) -> None:
    webui = tmp_path / "stable-diffusion-webui"
    (webui / "models" / "Lora").mkdir(parents=True)
    (webui / "models" / "Stable-diffusion").mkdir()
    write_sparse(webui / "models" / "Lora" / "ink.safetensors", KEYS)
    write_sparse(webui / "models" / "Stable-diffusion" / "mix.safetensors", KEYS)
    staged.start()
    store = staged.session.loras
    staged.wait(lambda: store.is_listed)
    store.add_folder(webui)
    staged.wait(lambda: names(staged) == ["ink"])
    store.remove_folder(str(webui))
    staged.wait(lambda: names(staged) == [])


def test_one_file_is_looked_at_wherever_it_lies(staged: Staged, tmp_path: Path) -> None:
    path = str(write_sparse(tmp_path / "ink.safetensors", KEYS))
    store = staged.session.loras
    looked: dict[str, LoraInfo | ErrorInfo] = {}
    store.looked.connect(looked.__setitem__)
    staged.start()
    store.look(path)
    store.look(str(tmp_path / "gone.safetensors"))
    staged.wait(lambda: len(looked) == 2)
    assert store.info(path) == looked[path]
    assert isinstance(looked[str(tmp_path / "gone.safetensors")], ErrorInfo)


@pytest.fixture
def listed(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    listed = Staged(tmp_path, qtbot, fake_command(Plan(loras=LORAS)), QUICK)
    listed.start()
    listed.wait(lambda: listed.session.loras.is_listed)
    yield listed
    listed.end()


@pytest.mark.parametrize(
    "name", [INK.path, "styles/ink", "ink", "INK.safetensors", "Styles\\Ink", "ink.sft"]
)
def test_a_file_is_found_by_what_other_programs_call_it(listed: Staged, name: str) -> None:
    assert listed.session.loras.find(name) == INK


def test_a_file_is_found_by_its_hash_where_the_name_is_another(listed: Staged) -> None:
    store = listed.session.loras
    assert store.find("renamed", "ABABABABABAB") == INK
    assert store.find("renamed", "ab" * 32 + "cd") == INK
    assert store.find("renamed", "ababab") is None
    assert store.find("renamed", "cd" * 6) is None
    assert store.find("renamed") is None


def test_a_list_that_was_not_asked_for_is_not_taken(listed: Staged) -> None:
    store, client = listed.session.loras, listed.session.client
    before = store.loras
    client.loras_found.emit(LorasFound(query=999, loras=(lora("other"),)))
    client.loras_listed.emit(LorasListed(query=999, folders=()))
    assert store.loras == before


def test_an_engine_that_dies_of_the_list_is_asked_once_more(tmp_path: Path, qtbot: QtBot) -> None:
    # The first engine ends after Hello and Ready, the second does not, and lists nothing.
    plan = Plan(ends_after=2, once=str(tmp_path / "once"))
    staged = Staged(tmp_path, qtbot, fake_command(plan), QUICK)
    listing: list[bool] = []
    staged.session.loras.listing_changed.connect(listing.append)
    staged.session.start()
    staged.wait(lambda: listing == [True, False, True, False])
    staged.end()


def test_a_named_folder_is_the_engine_s_at_its_next_start_too(
    staged: Staged, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    store = staged.session.loras
    store.add_folder(folder)
    sent = staged.process._configure.lora_folders  # pyright: ignore[reportPrivateUsage]
    assert sent == (str(folder),)
    store.remove_folder(str(folder))
    store.refresh()
    staged.start()
    staged.wait(lambda: store.is_listed and not store.is_listing)
    assert staged.process._configure.lora_folders == ()  # pyright: ignore[reportPrivateUsage]
