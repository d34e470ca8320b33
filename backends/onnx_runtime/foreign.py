"""Sessions of graphs that somebody else wrote: their values may have any size."""

# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the runtime ships no complete types)

from functools import cache

import onnxruntime as ort

# The most memory of all such runs at once, weights apart; an arena fails beyond it.
MOST_BYTES = 4 << 30
_ONLY_AS_NEEDED = 1


def bound_memory(options: ort.SessionOptions) -> None:
    """Have a session take its memory from an arena of `MOST_BYTES`, also while it is loaded.

    Constants are not computed while the graph is loaded, which would take memory outside of it.
    """
    _arena()
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.add_session_config_entry("optimization.disable_specified_optimizers", "ConstantFolding")


@cache
def _arena() -> None:
    """Make the arena, once in a process."""
    kind = ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    place = ort.OrtMemoryInfo("Cpu", kind, 0, ort.OrtMemType.DEFAULT)
    limits = {"max_mem": MOST_BYTES, "arena_extend_strategy": _ONLY_AS_NEEDED}
    ort.create_and_register_allocator(place, ort.OrtArenaCfg(limits))
