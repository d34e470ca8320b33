"""A job in tiles tells how far it is between them, and stops there."""

from pathlib import Path

import pytest

from backends.cpu import CpuBackend
from engine.api.values import Phase
from engine.errors import Cancelled
from engine.jobs.cancel import CancelToken
from tests.pipeline.jobs import Log, a_request, run

SIDE = 320


class Tiles(Log):
    """Remembers the tiles of the decoder; cancels after `last` of them."""

    def __init__(self, token: CancelToken, last: int) -> None:
        super().__init__()
        self.tiles: list[tuple[int, int]] = []
        self._token, self._last = token, last

    def progress(self, done: int, total: int) -> None:
        super().progress(done, total)
        if self.phases[-1] is Phase.DECODE:
            self.tiles.append((done, total))
            if len(self.tiles) == self._last:
                self._token.cancel()


def test_progress_is_told_and_a_wish_to_stop_is_heard_between_tiles(tiny: Path) -> None:
    request = a_request(tiny, width=SIDE, height=SIDE, steps=1, vae_tile=256)
    log = Tiles(CancelToken(), last=-1)
    run(request, CpuBackend(), log=log)
    # Smaller ones to measure, then those that compute.
    assert log.tiles == [*((done, 9) for done in range(10)), *((done, 4) for done in range(5))]
    token = CancelToken()
    stopped = Tiles(token, last=3)
    with pytest.raises(Cancelled):
        run(request, CpuBackend(), log=stopped, cancel=token)
    assert stopped.tiles == log.tiles[:3]
