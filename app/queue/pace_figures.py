"""The arithmetic of the time that pictures take: from those of earlier pictures, else by weights.

The work of a pass is counted in the predictions of its denoiser over each pixel that this sees.
Networks beside it take a part of a prediction each: the part that was measured, or that of their
weights in the denoiser's, as nearly all layers of a network work at the same cells.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from app.queue.drawing import CELL, REFERENCE, Beside, Drawing
from engine.api.record import Timings
from engine.api.speed import seeing_predictions

# In seconds: beyond it a file says no time that was measured.
_LONGEST_S = 1e6
# A network's part that is so many times larger or smaller than expected was not measured: the
# device, or what else it does, is another than it was for the picture without the network.
_CREDIBLE = 4.0
# The part of a prediction that what acts within a denoiser may seem to take.
_LEAST_WITHIN, _MOST_WITHIN = -0.2, 1.0
# Of this many networks beside a checkpoint, the latest ones, the part is kept.
_MOST_BESIDE = 50

# Returns the parameters that a checkpoint's denoiser or another network uses in each step, by its
# path; None where they are not known.
ParametersOf = Callable[[str], float | None]


class PaceFigures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The times of a checkpoint's latest picture.

    `prediction_s` is for one prediction of the denoiser at `pixels` pixels, `rest_s` for all else
    of a picture of `pixels` pixels but preparation: what is done once for a device or a checkpoint
    does not come again with each picture. `gain` is the part of the time of all steps that a
    picture saved which was guided in its first steps only, measured by its own steps; None before
    the first such picture. `beside` has what a run of a network beside the denoiser was measured to
    take, in predictions, by the network's path.
    """

    pixels: int
    prediction_s: float
    rest_s: float
    gain: float | None = None
    beside: dict[str, float] = {}

    @property
    def is_possible(self) -> bool:
        """False for figures that nobody measured, as a damaged file may have."""
        times = (self.prediction_s, self.rest_s, *self.beside.values())
        gains = self.gain is None or abs(self.gain) < _LONGEST_S
        return gains and self.pixels > 0 and all(0 <= time < _LONGEST_S for time in times)

    @property
    def unit_s(self) -> float:
        """The seconds of a prediction over one pixel."""
        return self.prediction_s / self.pixels


class PictureCosts(msgspec.Struct, frozen=True):
    """The times of pictures by the `figures` of checkpoints, by their paths."""

    figures: Mapping[str, PaceFigures]
    parameters_of: ParametersOf

    def seconds(self, checkpoint: str, passes: Sequence[Drawing]) -> float | None:
        """Return the expected seconds for a picture; None where none of its passes was timed.

        A pass of a checkpoint that drew nothing yet takes as long as one that did, in proportion to
        the weights of both.
        """
        own = [drawing.checkpoint or checkpoint for drawing in passes]
        timed = next((path for path in own if path in self.figures), None)
        if timed is None:
            return None
        total = 0.0
        for path, drawing in zip(own, passes, strict=True):
            unit = self._unit(path, timed)
            if unit is None:
                return None
            total += unit * self.work(path, drawing)
        total += self._seeing(own[0], passes[0]) * (self._unit(own[0], timed) or 0.0)
        last = self.figures.get(own[-1], self.figures[timed])
        return total + last.rest_s * passes[-1].area / last.pixels

    def work(self, checkpoint: str, drawing: Drawing) -> float:
        """Return the work of a pass, in predictions of its denoiser over one pixel."""
        beside = sum(each.part * self._share(checkpoint, each) for each in drawing.beside)
        return drawing.predictions * drawing.seen * (1 + beside)

    def measured(
        self, times: Timings, passes: Sequence[Drawing], denoised: Sequence[float], checkpoint: str
    ) -> dict[str, PaceFigures]:
        """Return the figures of the checkpoints that drew a picture; none where they are not told.

        `denoised` are the seconds of each pass as they were observed, which tell checkpoints apart.
        """
        own = [drawing.checkpoint or checkpoint for drawing in passes]
        seconds = dict.fromkeys(own, 0.0)
        if len(seconds) == 1:
            seconds[own[0]] = times.denoise_s
        elif len(denoised) != len(passes):
            return {}
        else:
            for path, spent in zip(own, denoised, strict=True):
                seconds[path] += spent
        drawn = {path: _of(path, own, passes) for path in seconds}
        found = {path: self._steps(path, drawn[path], seconds[path]) for path in seconds}
        seeing = self._seeing(own[0], passes[0]) * found[own[0]].unit_s
        rest = max(0.0, times.encode_s - seeing) + times.enlarge_s + times.decode_s + times.save_s
        rests = {path: rest * drawn[path][0].area / passes[-1].area for path in found}
        replace = msgspec.structs.replace
        return {path: replace(each, rest_s=rests[path]) for path, each in found.items()}

    def _steps(self, path: str, drawn: Sequence[Drawing], seconds: float) -> PaceFigures:
        """Return a checkpoint's figures with what its passes in a picture took.

        Where a picture of the same size was drawn before, the networks beside took the rest.
        """
        before, pixels = self.figures.get(path), drawn[0].area
        if before is not None and before.pixels == pixels and before.prediction_s > 0:
            beside = self._beside(path, drawn, seconds / before.unit_s)
            if beside:
                latest = [*(before.beside | beside).items()][-_MOST_BESIDE:]
                return msgspec.structs.replace(before, beside=dict(latest))
        work = sum(self.work(path, drawing) for drawing in drawn)
        return PaceFigures(
            pixels=pixels,
            prediction_s=seconds * pixels / max(1, work),
            rest_s=0.0,
            gain=before.gain if before else None,
            beside=before.beside if before else {},
        )

    def _beside(self, path: str, drawn: Sequence[Drawing], work: float) -> dict[str, float]:
        """Return what runs of networks beside a denoiser took in passes with so much work.

        Nothing where no credible rest is left for them: then the denoiser took another time.
        """
        left = work - sum(drawing.predictions * drawing.seen for drawing in drawn)
        every = [(drawing, each) for drawing in drawn for each in drawing.beside]
        runs = [drawing.predictions * drawing.seen * each.part for drawing, each in every]
        shares = [self._share(path, each) for _, each in every]
        expected = sum(run * share for run, share in zip(runs, shares, strict=True))
        if expected > 0 and 1 / _CREDIBLE < left / expected < _CREDIBLE:
            new = [share * left / expected for share in shares]
        elif expected <= 0 < sum(runs) and _LEAST_WITHIN < left / sum(runs) < _MOST_WITHIN:
            new = [max(0.0, left / sum(runs))] * len(every)
        else:
            return {}
        return {each.network: share for (_, each), share in zip(every, new, strict=True)}

    def _unit(self, path: str, timed: str) -> float | None:
        """Return the seconds of a prediction over one pixel; None where nothing tells it.

        `timed` is a checkpoint that was timed.
        """
        if (own := self.figures.get(path)) is not None:
            return own.unit_s
        weights, others = self.parameters_of(path), self.parameters_of(timed)
        return self.figures[timed].unit_s * weights / others if weights and others else None

    def _share(self, checkpoint: str, each: Beside) -> float:
        """Return what a run of a network takes, in predictions: as measured, else by weights."""
        figures = self.figures.get(checkpoint)
        measured = None if figures is None else figures.beside.get(each.network)
        if measured is not None:
            return measured
        if each.usual == 0 or each.network == REFERENCE:
            return each.usual
        own, others = self.parameters_of(each.network), self.parameters_of(checkpoint)
        return each.usual if own is None or not others else own / others

    def _seeing(self, checkpoint: str, drawing: Drawing) -> float:
        """Return the work of seeing the pictures of image prompts, as `work` counts it.

        Those of a prompt that was timed are known to the next pictures, which mostly share them.
        """
        weights, figures = self.parameters_of(checkpoint), self.figures.get(checkpoint)
        known = frozenset[str]() if figures is None else figures.beside.keys()
        pictures = sum(each.pictures for each in drawing.beside if each.network not in known)
        return pictures * seeing_predictions(weights) * CELL**2 if weights else 0.0


def _of(path: str, own: Sequence[str], passes: Sequence[Drawing]) -> list[Drawing]:
    return [drawing for drawing, by in zip(passes, own, strict=True) if by == path]
