"""The memory of several runs, by what a runtime keeps between them."""

import msgspec

from backends.base import HeldResults, PackedAttention, WorkingMemory

MEMORY = WorkingMemory(run_share=1.0, least_run_bytes=0)
# A control network, whose residuals the denoiser takes, and the denoiser.
CONTROL, DENOISER = HeldResults(500, 0, 600, leaving=200), HeldResults(400, 0, 900, leaving=1)


def test_a_runtime_that_keeps_its_memory_needs_that_of_all_runs() -> None:
    assert MEMORY.runs_bytes([(CONTROL, 4), (DENOISER, 4)]) == 4 * (500 + 400)


def test_one_that_empties_it_needs_the_most_of_a_run_and_what_earlier_ones_left() -> None:
    memory = msgspec.structs.replace(MEMORY, empties=True)
    assert memory.runs_bytes([(CONTROL, 4), (DENOISER, 4)]) == 4 * (200 + 400)
    assert memory.runs_bytes([(CONTROL, 4)]) == 4 * 500
    assert memory.runs_bytes([]) == 0


def test_results_that_share_buffers_leave_in_float32_and_are_copied_from_the_last_run() -> None:
    memory = msgspec.structs.replace(MEMORY, groups=True)
    assert memory.run_bytes(CONTROL, 4) == 4 * 600 + 4 * 200
    assert memory.run_bytes(CONTROL, 2) == 2 * 600 + 4 * 200
    alone = memory.runs_bytes([(CONTROL, 2)])
    assert alone == memory.run_bytes(CONTROL, 2) + 4 * 200
    whole = memory.runs_bytes([(CONTROL, 2), (DENOISER, 2)])
    assert whole == memory.run_bytes(CONTROL, 2) + memory.run_bytes(DENOISER, 2) + 4 * 1


def test_one_piece_of_memory_has_what_any_attention_packs() -> None:
    memory, run = (
        msgspec.structs.replace(MEMORY, groups=True, threads=3),
        msgspec.structs.replace(CONTROL, leaving=0),
    )
    run = msgspec.structs.replace(
        run, packed=frozenset({PackedAttention(70, 10), PackedAttention(60, 1)})
    )
    assert memory.run_bytes(run, 2) == 2 * (600 + 70)


def test_inputs_of_a_run_are_held_beside_its_results() -> None:
    for groups in (False, True):
        memory = msgspec.structs.replace(MEMORY, groups=groups)
        given = memory.run_bytes(msgspec.structs.replace(CONTROL, entering=30), 2)
        assert given == memory.run_bytes(CONTROL, 2) + 4 * 30


def test_threads_pack_one_head_each_if_it_fits_their_cache_twice() -> None:
    memory = msgspec.structs.replace(MEMORY, groups=True, threads=3, cache_bytes=40)
    run = msgspec.structs.replace(CONTROL, leaving=0, packed=frozenset({PackedAttention(70, 10)}))
    assert memory.run_bytes(run, 2) == 2 * (600 + 3 * 10)
    assert memory.run_bytes(run, 4) == 4 * (600 + 70)
    assert msgspec.structs.replace(memory, cache_bytes=39).run_bytes(run, 2) == 2 * (600 + 70)


def test_a_simulated_arena_is_told_as_it_is() -> None:
    memory, run = (
        msgspec.structs.replace(MEMORY, simulates=True, empties=True),
        msgspec.structs.replace(CONTROL, arena_bytes=9000),
    )
    assert memory.run_bytes(msgspec.structs.replace(run, entering=30), 4) == 9000 + 4 * 30
    # What the first leaves is held while the second runs.
    alone = msgspec.structs.replace(run, leaving=0)
    assert memory.runs_bytes([(run, 4), (alone, 4)]) == 4 * 200 + 9000
    # With all that lies in the same regions.
    whole = msgspec.structs.replace(run, arena_left=5000)
    assert memory.runs_bytes([(whole, 4), (alone, 4)]) == 5000 + 9000
