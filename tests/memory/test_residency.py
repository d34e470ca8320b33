"""The networks that stay loaded between jobs, and those with side branches that step aside."""

import pytest

from backends.base import Graph, Precision
from backends.null import NullSession, Script
from engine.memory.residency import Residency, Resident

_NOTHING = Graph("denoiser", b"", {}, (), (), Precision.F32)


class Kept:
    """A residency, and the identities whose sessions were closed."""

    def __init__(self) -> None:
        self.residency = Residency()
        self.closed: list[str] = []

    def resident(self, identity: str, returns_to: str = "") -> Resident:
        kept = self

        class Closing(NullSession):
            def close(self) -> None:
                kept.closed.append(identity)

        return Resident(identity, Closing(_NOTHING, Script()), 100, returns_to)

    def give(self, identity: str, returns_to: str = "") -> None:
        self.residency.give("denoiser", self.resident(identity, returns_to))

    def take(self, identity: str, origin: str = "model") -> bool:
        """True if the network was there; it is given back."""
        found = self.residency.take("denoiser", identity, origin)
        if found is not None:
            self.residency.give("denoiser", found)
        return found is not None


@pytest.fixture
def kept() -> Kept:
    made = Kept()
    made.residency.make_room(150, {"denoiser"})
    return made


def test_a_network_with_branches_is_there_again_after_merged_weights(kept: Kept) -> None:
    kept.give("branches", "model")
    assert not kept.take("merged")
    kept.give("merged")
    assert kept.residency.weight_bytes(on_host=True) == 200
    assert kept.take("merged")
    assert kept.take("branches")
    assert kept.closed == ["merged"]
    assert kept.residency.weight_bytes(on_host=True) == 100


def test_a_network_of_another_model_frees_the_one_that_stepped_aside(kept: Kept) -> None:
    kept.give("branches", "model")
    kept.take("merged")
    assert kept.closed == []
    kept.take("another", "another model")
    assert kept.closed == ["branches"]


def test_networks_without_branches_do_not_step_aside(kept: Kept) -> None:
    kept.give("plain")
    kept.take("branches")
    assert kept.closed == ["plain"]


def test_only_one_network_of_a_name_is_aside(kept: Kept) -> None:
    kept.give("thin", "model")
    assert not kept.take("wide")
    kept.give("wide", "model")
    kept.take("merged")
    assert kept.closed == ["thin"]
    assert kept.take("wide")


@pytest.mark.parametrize("room", [0, 99])
def test_a_network_steps_aside_only_into_room(kept: Kept, room: int) -> None:
    kept.residency.make_room(room, {"denoiser"})
    kept.give("branches", "model")
    kept.take("merged")
    assert kept.closed == ["branches"]


def test_a_job_that_needs_the_memory_frees_what_is_aside(kept: Kept) -> None:
    kept.give("branches", "model")
    kept.take("merged")
    kept.residency.make_room(100, {"denoiser"})
    assert kept.closed == []
    kept.residency.make_room(99, {"denoiser"})
    assert kept.closed == ["branches"]


def test_a_job_that_needs_the_memory_frees_what_it_does_not_use(kept: Kept) -> None:
    kept.residency.give("image_encoder", kept.resident("encoder"))
    kept.give("plain")
    kept.residency.make_room(100, {"denoiser"})
    assert kept.closed == []
    kept.residency.make_room(99, {"denoiser"})
    assert kept.closed == ["encoder"]
    kept.residency.make_room(0, {"denoiser"})
    assert kept.take("plain")


def test_release_frees_what_is_aside(kept: Kept) -> None:
    kept.give("branches", "model")
    kept.take("merged")
    kept.give("merged")
    kept.residency.release()
    assert sorted(kept.closed) == ["branches", "merged"]
    assert kept.residency.weight_bytes(on_host=True) == 0
