"""LoRA files are found by name, path, alias and hash."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.lora import names_below
from engine.lora.file_names import FileNames, read_names
from engine.lora.folder import LoraFolders, LoraLookup, lora_folders
from engine.lora.listed_facts import ListedFacts

HASH, OTHER = "ab" * 32, "cd" * 32


def write(path: Path, **metadata: str) -> Path:
    """An empty safetensors file with these metadata."""
    header = json.dumps({"__metadata__": metadata}).encode() if metadata else b"{}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    return path


def lookup(*folders: Path) -> LoraLookup:
    return LoraFolders(None, folders).look()


def found(folder: Path, name: str, digits: str | None = None) -> str | None:
    answer = lookup(folder).find(name, digits)
    return None if answer is None else answer.path.relative_to(folder).as_posix()


@pytest.mark.parametrize(
    "name",
    [
        "ink",
        "Ink",
        " ink ",
        "ink.safetensors",
        "styles/ink",
        "styles\\ink.safetensors",
        "STYLES/INK",
        "C:\\webui\\models\\Lora\\styles\\ink.safetensors",
        "/elsewhere/styles/ink.safetensors",
        "other/ink",
        "ink (abcdef012345)",
    ],
)
def test_a_file_is_found_by_the_end_of_its_path(name: str, tmp_path: Path) -> None:
    write(tmp_path / "styles" / "ink.safetensors")
    assert found(tmp_path, name) == "styles/ink.safetensors"


@pytest.mark.parametrize("name", ["", "in", "nk", "ink2", "styles", "/", "."])
def test_other_names_mean_no_file(name: str, tmp_path: Path) -> None:
    write(tmp_path / "styles" / "ink.safetensors")
    assert found(tmp_path, name) is None


def test_a_path_is_taken_wherever_it_lies(tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere" / "ink.bin")
    answer = lookup(tmp_path / "none").find(str(path))
    assert answer is not None
    assert answer.path == path


def test_a_name_in_a_prompt_is_never_a_path(tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere" / "ink.safetensors")
    assert lookup(tmp_path / "none").find_named(str(path)) is None
    answer = lookup(tmp_path).find_named(str(path))
    assert answer is not None


def test_names_keep_their_dots(tmp_path: Path) -> None:
    write(tmp_path / "style v1.5.safetensors")
    write(tmp_path / "style v1.safetensors")
    assert found(tmp_path, "style v1.5") == "style v1.5.safetensors"
    assert found(tmp_path, "style v1") == "style v1.safetensors"


def test_case_tells_files_apart_where_it_can(tmp_path: Path) -> None:
    for name in ("Ink", "ink"):
        write(tmp_path / f"{name}.safetensors")
    if len(list(tmp_path.iterdir())) == 2:  # a file system that tells them apart
        assert found(tmp_path, "ink") == "ink.safetensors"
        assert found(tmp_path, "Ink") == "Ink.safetensors"


def test_the_first_of_two_files_is_taken_and_the_other_told(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    deep, flat = write(first / "b" / "a" / "ink.pt"), write(first / "z" / "ink.safetensors")
    other = write(second / "ink.safetensors")
    answer = lookup(first, second).find("ink")
    assert answer is not None
    assert (answer.path, answer.others) == (flat, (deep, other))
    longer = lookup(first, second).find("a/ink")
    assert longer is not None
    assert (longer.path, longer.others) == (deep, ())


def test_the_safetensors_file_comes_before_another_of_its_name(tmp_path: Path) -> None:
    write(tmp_path / "ink.pt")
    write(tmp_path / "ink.safetensors")
    assert found(tmp_path, "ink") == "ink.safetensors"


@pytest.mark.parametrize("suffix", ["safetensors", "bin"])
def test_a_folder_of_diffusers_names_its_file(suffix: str, tmp_path: Path) -> None:
    path = f"ink/pytorch_lora_weights.{suffix}"
    write(tmp_path / path)
    for name in ("ink", "ink/pytorch_lora_weights", path, "pytorch_lora_weights"):
        assert found(tmp_path, name) == path


def test_forms_of_accents_count_only_where_they_tell_files_apart(tmp_path: Path) -> None:
    composed, apart = "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"
    write(tmp_path / f"{apart}.safetensors")
    assert found(tmp_path, composed) == f"{apart}.safetensors"
    write(tmp_path / f"{composed}.safetensors")
    assert found(tmp_path, composed) == f"{composed}.safetensors"
    assert found(tmp_path, apart) == f"{apart}.safetensors"


def test_an_alias_is_found_after_the_names_of_files(tmp_path: Path) -> None:
    write(tmp_path / "x.safetensors", ss_output_name="ink")
    assert found(tmp_path, "ink") == "x.safetensors"
    assert found(tmp_path, "INK") == "x.safetensors"
    write(tmp_path / "ink.safetensors", ss_output_name="other")
    assert found(tmp_path, "ink") == "ink.safetensors"


@pytest.mark.parametrize(
    ("whole", "tensors", "digits", "has"),
    [
        (HASH, "", HASH[:10], True),
        (HASH, "", HASH, True),
        ("", HASH[:12], HASH, True),
        (HASH, "", OTHER[:10], False),
        ("", HASH, OTHER[:12], False),
        (HASH, HASH, OTHER, False),
        # The hash of the file tells nothing of that of the tensors.
        (HASH, "", OTHER[:12], None),
        ("", HASH, OTHER[:10], None),
        ("", HASH, OTHER, None),
        ("", "", HASH, None),
    ],
)
def test_hashes_are_compared_with_those_of_their_kind(
    whole: str, tensors: str, digits: str, has: bool | None
) -> None:
    names = FileNames("", tuple(filter(None, [whole])), tuple(filter(None, [tensors])))
    assert names.has(digits) is has


def test_a_changed_file_at_a_known_path_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "ink.safetensors", sshs_model_hash=OTHER)
    for digits, differs in ((HASH[:12], True), (OTHER[:12], False), (None, False)):
        answer = lookup(tmp_path).find(str(path), digits)
        assert answer is not None
        assert answer.differs == differs


@pytest.mark.parametrize("digits", [HASH[:8], HASH[:12], HASH[:10].upper(), f"0x{HASH}"])
def test_a_hash_finds_a_file_of_another_name(digits: str, tmp_path: Path) -> None:
    write(tmp_path / "renamed.safetensors", sshs_model_hash=HASH)
    assert found(tmp_path, "ink", digits) == "renamed.safetensors"
    assert found(tmp_path, "ink") is None
    assert found(tmp_path, digits) == "renamed.safetensors"


def test_a_hash_chooses_between_files_of_one_name(tmp_path: Path) -> None:
    write(tmp_path / "a" / "ink.safetensors", sshs_model_hash=OTHER)
    write(tmp_path / "b" / "ink.safetensors", sshs_model_hash=HASH)
    assert found(tmp_path, "ink", HASH[:12]) == "b/ink.safetensors"
    assert found(tmp_path, f"ink({HASH[:12]})") == "b/ink.safetensors"


def test_a_file_with_the_hash_comes_before_one_of_the_name(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors", sshs_model_hash=OTHER)
    write(tmp_path / "renamed.safetensors", sshs_model_hash=HASH)
    assert found(tmp_path, "ink", HASH[:12]) == "renamed.safetensors"


def test_a_file_of_the_name_with_another_hash_is_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "ink.safetensors", sshs_model_hash=OTHER)
    answer = lookup(tmp_path).find("ink", HASH[:12])
    assert answer is not None
    assert (answer.path, answer.differs) == (path, True)
    unknown = write(tmp_path / "line.safetensors")
    answer = lookup(tmp_path).find("line", HASH[:12])
    assert answer is not None
    assert (answer.path, answer.differs) == (unknown, False)


def test_a_hash_that_is_none_is_ignored(tmp_path: Path) -> None:
    write(tmp_path / "ink.safetensors", sshs_model_hash=HASH)
    assert found(tmp_path, "ink", "no hash") == "ink.safetensors"
    assert found(tmp_path, "ink", "abc") == "ink.safetensors"


def test_folders_of_tools_are_looked_into(tmp_path: Path) -> None:
    ours, webui, comfy, plain = (tmp_path / name for name in ("ours", "webui", "comfy", "plain"))
    for folder in (ours / "loras", webui / "models" / "Lora", comfy / "models" / "loras", plain):
        folder.mkdir(parents=True)
    assert lora_folders(ours, (webui, comfy, plain, plain, tmp_path / "none")) == (
        ours / "loras",
        webui / "models" / "Lora",
        comfy / "models" / "loras",
        plain,
        tmp_path / "none",
    )
    assert lora_folders(plain) == ()
    assert lora_folders(None) == ()


def test_folders_that_are_chosen_later_are_looked_into_last(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name / "ink.safetensors") for name in "ab")
    folders = LoraFolders(None, (tmp_path / "a",))
    folders.chosen = (tmp_path / "b", tmp_path / "a")
    answer = folders.look().find("ink")
    assert answer is not None
    assert (answer.path, answer.others) == (first, (second,))


# --- names that files state of themselves ---


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\xff" * 40, b"\x02\0\0\0\0\0\0\0[]", b"PK\x03\x04"]
)
def test_a_file_without_a_header_has_no_names(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    assert read_names(path) == FileNames()
    assert read_names(tmp_path / "none") == FileNames()


def test_names_are_read_from_metadata(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.safetensors",
        ss_output_name="ink",
        sshs_model_hash=HASH,
        sshs_legacy_hash="0123abcd",
    )
    assert read_names(path) == FileNames("ink", tensors=(HASH,), legacy=("0123abcd",))


def test_a_hash_on_a_card_beside_the_file_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "renamed.safetensors", ss_output_name="a")
    assert found(tmp_path, "ink", HASH[:10]) is None
    card = {"files": [{"hashes": {"SHA256": HASH.upper(), "AutoV3": OTHER[:12]}}]}
    path.with_suffix(".civitai.info").write_text(json.dumps(card))
    assert found(tmp_path, "ink", HASH[:10]) == "renamed.safetensors"
    assert found(tmp_path, "ink", OTHER[:12]) == "renamed.safetensors"


def later() -> int:
    return 2**62


def at(cache: Path, folder: Path, clock: Callable[[], int] = later) -> LoraLookup:
    """A lookup of a later start of the program."""
    return LoraFolders(None, (folder,), ListedFacts(cache, clock)).look()


def test_a_new_card_is_read(tmp_path: Path) -> None:
    cache, folder = tmp_path / "cache.json", tmp_path / "loras"
    path = write(folder / "x.safetensors", ss_output_name="a")
    assert at(cache, folder).find("ink", HASH) is None
    card = {"files": [{"hashes": {"SHA256": HASH}}]}
    path.with_suffix(".civitai.info").write_text(json.dumps(card))
    assert at(cache, folder).find("ink", HASH) is not None


class Reads:
    """A reader of names that counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, path: Path) -> FileNames:
        self.count += 1
        return read_names(path)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    counting = Reads()
    monkeypatch.setattr(names_below, "read_names", counting)
    return counting


def test_names_are_read_once_for_all_files_and_once_again_for_a_changed_one(
    tmp_path: Path, reads: Reads
) -> None:
    cache, folder = tmp_path / "cache.json", tmp_path / "loras"
    for number in range(5):
        write(folder / f"{number}.safetensors", ss_output_name=f"ink {number}")

    def find(name: str) -> tuple[Path | None, int]:
        reads.count = 0
        answer = at(cache, folder).find(name)
        return (None if answer is None else answer.path), reads.count

    assert find("ink 3") == (folder / "3.safetensors", 5)
    assert find("ink 4") == (folder / "4.safetensors", 0)
    write(folder / "3.safetensors", ss_output_name="a longer name")
    assert find("a longer name") == (folder / "3.safetensors", 1)
    assert find("ink 3") == (None, 0)


def test_no_file_is_read_where_its_name_is_that_of_the_file(tmp_path: Path, reads: Reads) -> None:
    write(tmp_path / "ink.safetensors")
    assert lookup(tmp_path).find("ink") is not None
    assert reads.count == 0


def test_one_file_is_read_where_its_path_is_given(tmp_path: Path, reads: Reads) -> None:
    path = write(tmp_path / "ink.safetensors")
    write(tmp_path / "other.safetensors")
    assert lookup(tmp_path).find(str(path), HASH) is not None
    assert reads.count == 1


def test_names_of_a_file_that_was_just_written_are_not_kept(tmp_path: Path, reads: Reads) -> None:
    cache, folder = tmp_path / "cache.json", tmp_path / "loras"
    path = write(folder / "x.safetensors", ss_output_name="a")
    just_now = path.stat().st_mtime_ns + 1
    for count in (1, 2):
        assert at(cache, folder, lambda: just_now).find("a") is not None
        assert reads.count == count


def test_a_damaged_store_of_names_is_made_again(tmp_path: Path, reads: Reads) -> None:
    cache, folder = tmp_path / "cache.json", tmp_path / "loras"
    write(folder / "x.safetensors", ss_output_name="a")
    cache.write_bytes(b"{nonsense")
    for _ in range(2):
        assert at(cache, folder).find("a") is not None
    assert reads.count == 1
