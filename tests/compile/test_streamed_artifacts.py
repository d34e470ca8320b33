"""Artifacts with weights, of which a device keeps as many as it has room for."""

from pathlib import Path

import msgspec
import pytest

from backends.base import (
    Artifact,
    Cancellation,
    Device,
    DType,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    Session,
    Streaming,
)
from backends.forms import BlockForm
from engine.cancel import CancelToken
from engine.memory.placement import WeightPlacement
from engine.weights import packing, weight_set
from engine.weights.sources import WeightSource
from tests.compile.carrying import CarryingBackend
from tests.compile.test_refit import Bench


class Card(CarryingBackend):
    """Streams engines that take more than half of `total` bytes; `rooms` has those of the loads."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self.total, self.rooms = total, list[int | None]()

    def memory(self, device: Device) -> MemoryInfo:
        return MemoryInfo(self.total, self.total, integrated=False)

    def operators(self, device: Device) -> OperatorSet:
        streaming = Streaming(least_share=0.5, copies_on_host=True)
        return msgspec.structs.replace(
            super().operators(device), reads_in_place=False, streaming=streaming
        )

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        self.rooms.append(graph.room_bytes)
        return super().load(graph, artifact, device, progress, cancel)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def rooms(bench: Bench, card: Card, placement: WeightPlacement) -> list[int | None]:
    """The bytes for weights in two loads of the denoiser, the second with 1000 bytes more."""
    compiler = bench.compiler(card)
    for room_bytes in (0, 1000):
        session = compiler.prepared(bench.network, Precision.F32).load(
            placement, lambda _done, _total: None, CancelToken(), room_bytes
        )
        session.run(bench.feeds)
        session.close()
    return card.rooms


def test_a_load_is_told_the_room_for_weights_and_compiles_nothing_anew(bench: Bench) -> None:
    sizes = [weight.elements * 4 for weight in bench.network.weights.values()]
    card = Card(sum(sizes))
    on_their_way = 2 * max(sizes)
    expected = [on_their_way, on_their_way + 1000]
    assert rooms(bench, card, WeightPlacement.STREAMED) == expected
    assert card.compiled == ["denoiser"]


def test_no_room_is_told_where_the_plan_holds_all_weights(bench: Bench) -> None:
    assert rooms(bench, Card(1000), WeightPlacement.WORKING_COPY) == [None, None]


def test_no_room_is_told_for_a_network_that_is_held_whole(bench: Bench) -> None:
    every = sum(weight.elements * 4 for weight in bench.network.weights.values())
    assert rooms(bench, Card(2 * every), WeightPlacement.STREAMED) == [None, None]


def test_a_plan_adds_up_the_weights_of_a_network_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights, added = bench.network.weights, list[WeightSource]()

    def noted(source: WeightSource, element: DType, form: BlockForm | None) -> int:
        added.append(source)
        return packing.bound_bytes(source, element, form)

    monkeypatch.setattr(weight_set, "bound_bytes", noted)
    every = sum(weight.elements * 4 for weight in weights.values())
    compiler = bench.compiler(Card(every))
    assert compiler.in_place_bytes(weights, Precision.F32)
    assert compiler.copied_bytes(weights, Precision.F32) == every
    assert compiler.bound_bytes(weights, Precision.F32) == every
    assert len(added) == len(weights)
