"""The list of LoRA files: what is known of them is kept while they are unchanged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.api.lora_files import LoraInfo
from engine.checkpoints.known_files import SETTLED_NS
from engine.jobs import description_parts, lora_index
from engine.jobs.description_parts import CHUNK
from engine.jobs.lora_descriptions import LoraDescriber
from engine.jobs.lora_index import LoraIndex, Part
from engine.lora.files_below import ListedFile, list_one
from engine.lora.hashes import LoraHashes
from engine.lora.listed_facts import ListedFacts
from tests.checkpoints.files import write_sparse

RANK = 8
UNET = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k"


def keys(rank: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{UNET}.lora_down.weight": (rank, 768),
        f"{UNET}.lora_up.weight": (320, rank),
        f"{UNET}.alpha": (),
    }


KEYS = keys(RANK)


class Reader:
    """Describes files, and counts them."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.describe = LoraDescriber()

    def __call__(self, listed: ListedFile) -> LoraInfo:
        self.opened.append(listed.name)
        return self.describe(listed)


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def loras(tmp_path: Path) -> Path:
    folder = tmp_path / "Lora"
    folder.mkdir()
    return folder


@pytest.fixture
def make(tmp_path: Path, reader: Reader) -> Callable[[], LoraIndex]:
    """Make an index as the next start of the engine does; all files are settled for it."""

    def later() -> int:
        return 2**62

    return lambda: LoraIndex(ListedFacts(tmp_path / "cache" / "loras.json", later), reader)


def run(index: LoraIndex, *folders: Path) -> tuple[list[Part], tuple[str, ...]]:
    looking = index.list(folders)
    parts: list[Part] = []
    while True:
        try:
            parts.append(next(looking))
        except StopIteration as end:
            return parts, end.value


def test_facts_about_other_models_below_the_folders_stay(
    loras: Path, tmp_path: Path, reader: Reader
) -> None:
    """Such as a hash, for which gigabytes were read."""
    known, hashes = ListedFacts(clock=lambda: 2**62), LoraHashes("ab" * 32, None, "cd" * 6)
    paths = loras / "flux.gguf", loras / "gone.safetensors"
    for path in paths:
        path.write_bytes(b"numbers")
        listed = list_one(path)
        assert listed is not None
        known.note(listed, hashes=hashes)
    (model, gone) = (list_one(path) for path in paths)
    assert model is not None
    assert gone is not None
    paths[1].unlink()
    run(LoraIndex(known, reader), loras)
    assert known.of(model).hashes == hashes
    assert known.of(gone).hashes is None


def last(index: LoraIndex, *folders: Path) -> dict[str, LoraInfo]:
    """The last description of each file, by name."""
    parts, _ = run(index, *folders)
    return {info.name: info for part in parts for info in part or ()}


def test_names_come_before_any_file_is_opened_and_facts_after(
    loras: Path, make: Callable[[], LoraIndex], reader: Reader
) -> None:
    for number in range(3):
        write_sparse(loras / f"{number}.safetensors", KEYS)
    looking = make().list([loras])
    part = next(looking)
    assert part is not None
    assert [(info.name, info.is_read) for info in part] == [(str(n), False) for n in range(3)]
    assert reader.opened == []
    assert all(info.is_read and info.rank == RANK for info in last(make(), loras).values())


def test_an_unchanged_file_is_not_opened_by_a_later_start(
    loras: Path, make: Callable[[], LoraIndex], reader: Reader
) -> None:
    write_sparse(loras / "a.safetensors", KEYS)
    first = last(make(), loras)
    assert reader.opened == ["a"]
    assert last(make(), loras) == first
    assert reader.opened == ["a"]


def test_files_are_described_anew_by_other_code(
    loras: Path, make: Callable[[], LoraIndex], reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sparse(loras / "a.safetensors", KEYS)
    last(make(), loras)
    monkeypatch.setattr(lora_index, "recognition_rules", "another".join)
    last(make(), loras)
    assert reader.opened == ["a", "a"]


def test_a_new_a_changed_and_a_removed_file_are_noticed(
    loras: Path, make: Callable[[], LoraIndex], reader: Reader
) -> None:
    for name in ("changed", "removed", "same"):
        write_sparse(loras / f"{name}.safetensors", KEYS)
    last(make(), loras)
    reader.opened.clear()
    write_sparse(loras / "changed.safetensors", keys(4))
    (loras / "removed.safetensors").unlink()
    write_sparse(loras / "new.safetensors", KEYS)
    found = last(make(), loras)
    assert sorted(reader.opened) == ["changed", "new"]
    assert {name: info.rank for name, info in found.items()} == {"changed": 4, "new": 8, "same": 8}


def test_a_card_or_a_preview_beside_a_known_file_is_noticed(
    loras: Path, make: Callable[[], LoraIndex]
) -> None:
    write_sparse(loras / "a.safetensors", KEYS)
    last(make(), loras)
    (loras / "a.civitai.info").write_text('{"baseModel": "SD 1.5", "trainedWords": ["inkwash"]}')
    (loras / "a.preview.png").touch()
    info = last(make(), loras)["a"]
    assert info.trigger_words == ("inkwash",)
    assert info.families == ("sd1",)
    assert info.preview == str(loras / "a.preview.png")


def test_a_file_that_was_just_written_is_read_again(
    tmp_path: Path, loras: Path, reader: Reader
) -> None:
    path = write_sparse(loras / "a.safetensors", KEYS)
    written = path.stat().st_mtime_ns
    known = ListedFacts(tmp_path / "loras.json", lambda: written + SETTLED_NS)
    index = LoraIndex(known, reader)
    last(index, loras)
    last(index, loras)
    assert reader.opened == ["a", "a"]


def test_no_message_holds_more_files_than_a_frame_has_room_for(
    loras: Path, make: Callable[[], LoraIndex]
) -> None:
    for number in range(2 * CHUNK + 1):
        (loras / f"{number}.safetensors").touch()
    parts, folders = run(make(), loras)
    assert max(len(part) for part in parts if part) == CHUNK
    assert folders == (str(loras),)


def test_a_first_listing_that_is_cut_short_is_not_all_lost(
    loras: Path,
    make: Callable[[], LoraIndex],
    reader: Reader,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(description_parts, "KEPT_TOGETHER", 2)
    for number in range(5):
        write_sparse(loras / f"{number}.safetensors", KEYS)
    looking = make().list([loras])
    while len(reader.opened) < 3:
        next(looking)
    looking.close()
    reader.opened.clear()
    last(make(), loras)
    assert reader.opened == ["2", "3", "4"]


def test_facts_about_files_elsewhere_are_kept(
    tmp_path: Path, loras: Path, make: Callable[[], LoraIndex], reader: Reader
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_sparse(loras / "a.safetensors", KEYS)
    write_sparse(other / "b.safetensors", KEYS)
    last(make(), loras)
    last(make(), other)
    last(make(), loras)
    assert reader.opened == ["a", "b"]


def test_a_damaged_list_of_facts_costs_nothing_but_time(
    tmp_path: Path, loras: Path, make: Callable[[], LoraIndex], reader: Reader
) -> None:
    write_sparse(loras / "a.safetensors", KEYS)
    first = last(make(), loras)
    (tmp_path / "cache" / "loras.json").write_bytes(b"{")
    assert last(make(), loras) == first
    assert reader.opened == ["a", "a"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"<!DOCTYPE html>", "a web page"),
        (b"", "is empty"),
    ],
)
def test_a_file_that_is_no_lora_says_why(
    loras: Path, make: Callable[[], LoraIndex], content: bytes, problem: str
) -> None:
    (loras / "a.safetensors").write_bytes(content)
    assert problem in str(last(make(), loras)["a"].problem)


def test_an_embedding_among_loras_is_named_as_one(
    loras: Path, make: Callable[[], LoraIndex]
) -> None:
    write_sparse(loras / "a.safetensors", {"emb_params": (4, 768)})
    info = last(make(), loras)["a"]
    assert str(info.problem) == "a.safetensors is a textual inversion embedding, not a LoRA."


def test_the_facts_of_the_metadata_are_told(loras: Path, make: Callable[[], LoraIndex]) -> None:
    metadata = {
        "ss_base_model_version": "sd_v1",
        "ss_output_name": "lcm-lora",
        "sshs_model_hash": "ab" + "cd" * 31,
    }
    write_sparse(loras / "a.safetensors", KEYS, metadata=metadata)
    info = last(make(), loras)["a"]
    assert info.title == "lcm-lora"
    assert info.few_steps is not None
    assert info.few_steps.title == "LCM"
    assert info.hashes == ("abcdcdcdcdcd",)


def test_one_file_is_described_wherever_it_lies(
    tmp_path: Path, make: Callable[[], LoraIndex]
) -> None:
    path = write_sparse(tmp_path / "elsewhere.safetensors", KEYS)
    info = make().look(path)
    assert info is not None
    assert (info.name, info.rank, info.path) == ("elsewhere", RANK, str(path))
    path.unlink()
    assert make().look(path) is None
