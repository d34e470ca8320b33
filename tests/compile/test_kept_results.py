"""Results of encoders in memory and on disk: what stays, what is refused, what is cleared."""

import os
import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from engine.compile.kept_results import KeptResults, Maker, Results
from tests import damages

ENCODER = Maker("e" * 64, "text_encoder", "tiny", "a processor")
ANOTHER = Maker("f" * 64, "text_encoder", "tiny", "a processor")
GIVEN, OTHER = "a" * 64, "b" * 64
KB = 1024


def results(size: int = 8, seed: int = 0) -> Results:
    drawn = np.random.default_rng(seed)
    return {
        "last_hidden_state": drawn.normal(size=(1, size, 2)).astype(np.float32),
        "pooled": drawn.normal(size=(1, 3)).astype(np.float32),
    }


def same(found: Results | None, expected: Results) -> bool:
    return found is not None and all(
        found[name].dtype == array.dtype and np.array_equal(found[name], array)
        for name, array in expected.items()
    )


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_results_that_were_used_last_stay_in_memory() -> None:
    encoded = results()
    kept = KeptResults(memory_bytes=2 * sum(array.nbytes for array in encoded.values()))
    for given in ("first", "second"):
        kept.put(ENCODER, given, encoded)
    assert kept.get(ENCODER, "first") is encoded
    assert kept.get(ANOTHER, "first") is None
    kept.put(ENCODER, "third", encoded)
    assert kept.get(ENCODER, "second") is None
    assert kept.get(ENCODER, "first") is kept.get(ENCODER, "third") is encoded


def test_another_process_finds_them(tmp_path: Path) -> None:
    KeptResults(tmp_path).put(ENCODER, GIVEN, results())
    later = KeptResults(tmp_path)
    found = later.get(ENCODER, GIVEN)
    assert same(found, results())
    assert found is not None
    assert not any(array.flags.writeable for array in found.values())
    assert later.get(ENCODER, GIVEN) is found
    assert later.get(ENCODER, OTHER) is later.get(ANOTHER, GIVEN) is None


@pytest.mark.parametrize("damage", damages.parameters())
def test_a_damaged_file_is_deleted(tmp_path: Path, damage: damages.Damage) -> None:
    KeptResults(tmp_path).put(ENCODER, GIVEN, results())
    (file,) = files(tmp_path)
    damage(file)
    kept = KeptResults(tmp_path)
    assert kept.get(ENCODER, GIVEN) is None
    assert files(tmp_path) == []
    kept.put(ENCODER, GIVEN, results())
    assert same(KeptResults(tmp_path).get(ENCODER, GIVEN), results())


def test_every_byte_counts(tmp_path: Path) -> None:
    KeptResults(tmp_path).put(ENCODER, GIVEN, results(2))
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        file.write_bytes(changed)
        found = KeptResults(tmp_path).get(ENCODER, GIVEN)
        assert found is None or (place < len(whole) - 44 and same(found, results(2))), place


def test_a_file_of_other_inputs_or_of_another_network_is_refused(tmp_path: Path) -> None:
    """Somebody gave a whole file another name."""
    kept = KeptResults(tmp_path)
    for maker, given in ((ENCODER, GIVEN), (ANOTHER, GIVEN), (ENCODER, OTHER)):
        kept.put(maker, given, results(seed=len(given)))
    own, other_inputs, other_network = (
        tmp_path / f"{maker.stem}-{given[:24]}.safetensors"
        for maker, given in ((ENCODER, GIVEN), (ENCODER, OTHER), (ANOTHER, GIVEN))
    )
    for stranger in (other_inputs, other_network):
        own.write_bytes(stranger.read_bytes())
        assert KeptResults(tmp_path).get(ENCODER, GIVEN) is None
        assert not own.exists()


def test_results_that_are_too_large_are_neither_kept_nor_read(tmp_path: Path) -> None:
    KeptResults(tmp_path).put(ENCODER, GIVEN, results(KB))
    small = KeptResults(tmp_path, memory_bytes=8 * KB)
    assert small.get(ENCODER, GIVEN) is None
    assert files(tmp_path) == []
    small.put(ENCODER, OTHER, results())
    small.put(ENCODER, GIVEN, results(KB))
    assert len(files(tmp_path)) == 1
    assert small.get(ENCODER, OTHER) is not None


def test_a_type_that_runs_do_not_return_stays_in_memory(tmp_path: Path) -> None:
    kept, made = KeptResults(tmp_path), {"states": np.ones(3, ml_dtypes.bfloat16)}
    kept.put(ENCODER, GIVEN, made)
    assert kept.get(ENCODER, GIVEN) is made
    assert files(tmp_path) == []


def test_the_least_recently_used_file_goes(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path, cap_bytes=16 * KB)
    names = [letter * 64 for letter in "abcd"]
    for age, given in enumerate(names[:3]):
        kept.put(ENCODER, given, results(512))
        os.utime(tmp_path / f"{ENCODER.stem}-{given[:24]}.safetensors", (age, age))
    later = KeptResults(tmp_path, cap_bytes=16 * KB)
    assert later.get(ENCODER, names[0]) is not None  # and so it was used now
    later.put(ENCODER, names[3], results(512))
    left = [KeptResults(tmp_path).get(ENCODER, given) is not None for given in names]
    assert left == [True, False, True, True]


@pytest.mark.skipif(sys.platform == "win32", reason="limits as POSIX has them")
def test_a_disk_that_is_full_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept, before = KeptResults(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * KB, before[1]))
    try:
        kept.put(ENCODER, GIVEN, results(KB))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files(tmp_path) == []
    assert "is not kept" in caplog.text
    assert kept.get(ENCODER, GIVEN) is not None


def test_two_processes_write_and_read_at_once(tmp_path: Path) -> None:
    stores = [KeptResults(tmp_path, memory_bytes=KB) for _ in range(2)]

    def use(store: KeptResults) -> list[bool]:
        found: list[bool] = []
        for turn in range(40):
            store.put(ENCODER, GIVEN, results(20))
            store.put(ENCODER, str(turn), results(20))
            read = store.get(ENCODER, GIVEN)
            found.append(read is None or same(read, results(20)))
        return found

    with ThreadPoolExecutor(2) as threads:
        assert all(all(found) for found in threads.map(use, stores))
    assert same(KeptResults(tmp_path).get(ENCODER, GIVEN), results(20))


def test_listing_and_clearing(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path)
    assert kept.listed() == ()
    for maker in (ENCODER, ANOTHER):
        for given in (GIVEN, OTHER):
            kept.put(maker, given, results())
    first, second = kept.listed()
    assert (first.name, second.name) == (ENCODER.stem, ANOTHER.stem)
    assert (first.network, first.checkpoint, first.device) == (
        "text_encoder",
        "tiny",
        ENCODER.device,
    )
    assert first.bytes + second.bytes == sum(file.stat().st_size for file in files(tmp_path))
    kept.remove(["nothing of that name"])
    assert len(files(tmp_path)) == 4
    kept.remove([ENCODER.stem])
    assert kept.listed() == (second,)
    assert kept.get(ENCODER, GIVEN) is None
    assert kept.get(ANOTHER, GIVEN) is not None
    kept.remove()
    assert files(tmp_path) == []
    assert kept.get(ANOTHER, GIVEN) is None
