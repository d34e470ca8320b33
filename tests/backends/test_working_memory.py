"""The memory of several runs, by what a runtime keeps between them."""

from dataclasses import replace

from backends.base import HeldResults, WorkingMemory

MEMORY = WorkingMemory(run_share=1.0, least_run_bytes=0)
# A control network, whose residuals the denoiser takes, and the denoiser.
CONTROL, DENOISER = HeldResults(500, 0, 600, leaving=200), HeldResults(400, 0, 900, leaving=1)


def test_a_runtime_that_keeps_its_memory_needs_that_of_all_runs() -> None:
    assert MEMORY.runs_bytes([(CONTROL, 4), (DENOISER, 4)]) == 4 * (500 + 400)


def test_one_that_empties_it_needs_the_most_of_a_run_and_what_earlier_ones_left() -> None:
    memory = replace(MEMORY, empties=True)
    assert memory.runs_bytes([(CONTROL, 4), (DENOISER, 4)]) == 4 * (200 + 400)
    assert memory.runs_bytes([(CONTROL, 4)]) == 4 * 500
    assert memory.runs_bytes([]) == 0


def test_results_that_share_buffers_leave_in_float32_and_are_copied_from_the_last_run() -> None:
    memory = replace(MEMORY, groups=True)
    assert memory.run_bytes(CONTROL, 4) == 4 * 600 + 4 * 200
    assert memory.run_bytes(CONTROL, 2) == 2 * 600 + 4 * 200
    alone = memory.runs_bytes([(CONTROL, 2)])
    assert alone == memory.run_bytes(CONTROL, 2) + 4 * 200
    whole = memory.runs_bytes([(CONTROL, 2), (DENOISER, 2)])
    assert whole == memory.run_bytes(CONTROL, 2) + memory.run_bytes(DENOISER, 2) + 4 * 1


def test_one_piece_of_memory_has_packed_keys_or_what_threads_copy() -> None:
    memory, run = replace(MEMORY, groups=True, threads=3), replace(CONTROL, leaving=0)
    assert memory.run_bytes(replace(run, packed=70, spread=20), 2) == 2 * (600 + 70)
    assert memory.run_bytes(replace(run, packed=70, spread=30), 2) == 2 * (600 + 90)
