"""The networks of a job that are loaded at once: the candidates that a memory plan chooses from."""

import msgspec


class Way(msgspec.Struct, frozen=True):
    """The networks that stay loaded together; `MemoryPlan` has what its fields mean."""

    together: bool = False
    resident: bool = False
    load_ahead: bool = True
    tiles: bool = False

    @property
    def is_least(self) -> bool:
        """True if one network is loaded at a time."""
        return not (self.together or self.load_ahead)


def ways(*, more_jobs: bool, several: bool, tiles: bool) -> list[Way]:
    """Return the candidates, the fastest first; each needs less memory than those before.

    Tiles alone need more than the whole where a picture is small.
    """
    found = [Way(together=True, resident=True, tiles=tiles)] * more_jobs
    found += [Way(together=True, tiles=tiles)] * several
    in_turns = Way(load_ahead=False, tiles=tiles), Way(load_ahead=False, tiles=True)
    return [*found, Way(tiles=tiles), *in_turns]
