"""A patched network shares its checkpoint's working copy, and what is patched is in memory."""

from pathlib import Path
from time import monotonic, sleep

import msgspec
import numpy as np
import pytest

from backends.base import ComputedArray, DType, FileSlice, Precision
from engine.api.values import ArtifactKind, ErrorCode
from engine.cancel import CancelToken
from engine.compile.compiler import Compiler
from engine.compile.network import Network, Preparation
from engine.errors import EngineError
from engine.graphs.clip_text import clip_text
from engine.memory.plan import WeightPlacement
from engine.weights.merged_copies import MergedCopies
from engine.weights.patched import LowRankDifference
from engine.weights.sources import FileWeight, mapped
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies
from tests.checkpoints.arrays import write_arrays
from tests.compile.test_compiler import OpenVinoLike
from tests.graphs.networks import SMALL_CLIP, random_weights

PATCHED = "text_model.encoder.layers.0.mlp.fc1.weight"
BF16 = Precision.BF16


class Patching:
    """A text encoder in float16 and a LoRA of one of its layers, on a device for bfloat16."""

    def __init__(self, folder: Path) -> None:
        arrays = random_weights(lambda g: clip_text(g, SMALL_CLIP))
        slices = write_arrays(folder / "checkpoint.safetensors", arrays, DType.F16)
        self.base = Network(
            "text_encoder", lambda g: clip_text(g, SMALL_CLIP), WeightSet("checkpoint", slices)
        )
        out, inner = arrays[PATCHED].shape
        random = np.random.default_rng(3)
        self.up, self.down = random.standard_normal((out, 2)), random.standard_normal((2, inner))
        factors = {"up": self.up, "down": self.down}
        self.lora = write_arrays(folder / "lora.safetensors", factors)
        self.arrays = arrays
        self.backend = OpenVinoLike()
        self.copies = WorkingCopies(folder / "cache")
        self.merged = MergedCopies(folder / "merged")
        device = self.backend.probe()[0]
        self.compiler = Compiler(self.backend, device, self.copies, merged=self.merged)

    def network(self, strength: float) -> Network:
        up, down = FileWeight(self.lora["up"]), FileWeight(self.lora["down"])
        difference = LowRankDifference(up, down, strength)
        return msgspec.structs.replace(
            self.base, weights=self.base.weights.patched("lora", {PATCHED: [difference]})
        )

    def bound(
        self, network: Network, placement: WeightPlacement
    ) -> dict[str, FileSlice | ComputedArray]:
        """The weights that the network's graph is loaded with."""

        self.progress = list[tuple[int, int]]()

        def report(done: int, total: int) -> None:
            self.progress.append((done, total))

        token = CancelToken()
        self.compiler.load(network, BF16, placement, report, token).close()
        return dict(self.backend.graphs[-1].weights)

    def expected(self, strength: float) -> np.ndarray:
        """The patched weight, rounded once."""
        base = self.arrays[PATCHED].astype(np.float16).astype(np.float32)
        product = self.up.astype(np.float32) @ self.down.astype(np.float32)
        return (base + product * np.float32(strength)).astype(DType.BF16.numpy)

    def listed(self) -> int:
        return len(self.copies.listed())


@pytest.fixture
def patching(tmp_path: Path) -> Patching:
    return Patching(tmp_path)


def test_every_strength_shares_the_copy_of_the_checkpoint(patching: Patching) -> None:
    plain = patching.bound(patching.base, WeightPlacement.WORKING_COPY)
    for strength in (0.5, -1.0, 0.0):
        bound = patching.bound(patching.network(strength), WeightPlacement.WORKING_COPY)
        patched = bound.pop(PATCHED)
        assert isinstance(patched, ComputedArray)
        np.testing.assert_array_equal(patched.array, patching.expected(strength))
        assert bound == {name: ref for name, ref in plain.items() if name != PATCHED}
    assert patching.listed() == 1


def test_a_patched_network_makes_the_copy_that_its_checkpoint_uses(patching: Patching) -> None:
    patching.bound(patching.network(0.5), WeightPlacement.WORKING_COPY)
    before = patching.copies.listed()
    plain = patching.bound(patching.base, WeightPlacement.MEMORY)
    assert all(isinstance(ref, FileSlice) for ref in plain.values())
    assert [copy.name for copy in patching.copies.listed()] == [copy.name for copy in before]


def test_a_copy_that_is_written_beside_has_no_patches(patching: Patching) -> None:
    bound = patching.bound(patching.network(0.5), WeightPlacement.MEMORY_THEN_COPY)
    patched = bound[PATCHED]
    assert isinstance(patched, ComputedArray)
    np.testing.assert_array_equal(patched.array, patching.expected(0.5))
    (name,) = _written(patching)
    plain = patching.bound(patching.base, WeightPlacement.MEMORY)[PATCHED]
    assert isinstance(plain, FileSlice)
    assert plain.path == patching.copies.folder / f"{name}.safetensors"
    raw = np.memmap(plain.path, np.uint8, "r", plain.offset, (plain.nbytes,))
    stored = patching.arrays[PATCHED].astype(np.float16).astype(DType.BF16.numpy)
    assert raw.tobytes() == stored.tobytes()


def _written(patching: Patching) -> list[str]:
    """The names of the copies, once the thread that writes them is done."""
    deadline = monotonic() + 60
    while not patching.copies.listed():
        assert monotonic() < deadline
        sleep(0.001)
    return [copy.name for copy in patching.copies.listed()]


def test_in_memory_only_what_is_used_is_computed(patching: Patching) -> None:
    bound = patching.bound(patching.network(2.0), WeightPlacement.MEMORY)
    assert all(isinstance(ref, ComputedArray) for ref in bound.values())
    patched = bound[PATCHED]
    assert isinstance(patched, ComputedArray)
    np.testing.assert_array_equal(patched.array, patching.expected(2.0))
    assert patching.listed() == 0


def test_weights_that_need_no_conversion_stay_by_reference(
    patching: Patching, tmp_path: Path
) -> None:
    slices = write_arrays(tmp_path / "bf16.safetensors", patching.arrays, DType.BF16)
    patching.base = msgspec.structs.replace(patching.base, weights=WeightSet("bf16", slices))
    bound = patching.bound(patching.network(1.0), WeightPlacement.WORKING_COPY)
    assert isinstance(bound.pop(PATCHED), ComputedArray)
    assert bound == {name: ref for name, ref in slices.items() if name != PATCHED}
    assert patching.listed() == 0
    prepared = patching.compiler.prepared(patching.network(1.0), BF16)
    assert prepared.preparation() is Preparation.LOAD
    patched_bytes = patching.arrays[PATCHED].size * DType.BF16.itemsize
    assert prepared.weight_bytes() == patching.base.weights.elements * 2 + patched_bytes


def test_a_difference_that_is_no_number_is_refused_with_a_copy_too(
    patching: Patching, tmp_path: Path
) -> None:
    patching.bound(patching.base, WeightPlacement.WORKING_COPY)
    factors = {"up": patching.up, "down": np.full_like(patching.down, np.nan)}
    patching.lora = write_arrays(tmp_path / "broken.safetensors", factors)
    with pytest.raises(EngineError, match=PATCHED) as caught:
        patching.bound(patching.network(1.0), WeightPlacement.MEMORY)
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
    assert caught.value.message.startswith("broken.safetensors holds values")


@pytest.mark.parametrize("placement", WeightPlacement)
def test_progress_rises_over_the_copy_and_what_is_patched(
    patching: Patching, placement: WeightPlacement
) -> None:
    patching.bound(patching.network(0.5), placement)
    done = [done for done, _ in patching.progress]
    assert done == sorted(done)
    assert patching.progress[-1][0] == patching.progress[-1][1]
    assert len({total for _, total in patching.progress}) == 1


def test_merged_weights_are_kept_once_they_are_wanted_again(patching: Patching) -> None:
    def merged(strength: float) -> FileSlice | ComputedArray:
        return patching.bound(patching.network(strength), WeightPlacement.MEMORY)[PATCHED]

    for strength in (0.1, 0.2, 0.3, 0.4):  # a slider is moved
        assert isinstance(merged(strength), ComputedArray)
    patching.merged.copies.abandon()
    assert patching.merged.copies.listed() == ()
    assert isinstance(merged(0.2), ComputedArray)
    _wait_for(patching.merged.copies)
    (entry,) = patching.merged.copies.listed()
    assert (entry.kind, entry.network) == (ArtifactKind.MERGED_WEIGHTS, "text_encoder")
    kept = merged(0.2)
    assert isinstance(kept, FileSlice)
    assert kept.path.parent == patching.merged.copies.folder
    np.testing.assert_array_equal(mapped(kept), patching.expected(0.2))
    assert isinstance(merged(0.25), ComputedArray)
    # In another process, too.
    patching.merged = MergedCopies(patching.merged.copies.folder)
    assert patching.merged.copies.find(
        entry.name, {PATCHED: patching.network(0.2).weights[PATCHED]}
    )


def test_merged_weights_of_another_lora_or_checkpoint_are_not_taken(
    patching: Patching, tmp_path: Path
) -> None:
    for _ in range(2):
        patching.bound(patching.network(0.2), WeightPlacement.MEMORY)
    _wait_for(patching.merged.copies)
    factors = {"up": 2 * patching.up, "down": patching.down}
    patching.lora = write_arrays(tmp_path / "other.safetensors", factors)
    found = patching.bound(patching.network(0.2), WeightPlacement.MEMORY)[PATCHED]
    patching.up = 2 * patching.up
    assert isinstance(found, ComputedArray)
    np.testing.assert_array_equal(found.array, patching.expected(0.2))


def test_merged_weights_of_another_version_of_the_arithmetic_are_not_taken(
    patching: Patching, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions share a cache, and one may mend what the other computes wrongly."""
    for _ in range(2):
        patching.bound(patching.network(0.2), WeightPlacement.MEMORY)
    _wait_for(patching.merged.copies)
    monkeypatch.setattr("engine.compile.weight_binding.code_of_weights", lambda: "newer")
    found = patching.bound(patching.network(0.2), WeightPlacement.MEMORY)[PATCHED]
    assert isinstance(found, ComputedArray)


def _wait_for(copies: WorkingCopies) -> None:
    """Wait for the thread that writes copies."""
    deadline = monotonic() + 60
    while not copies.listed():
        assert monotonic() < deadline
        sleep(0.001)
