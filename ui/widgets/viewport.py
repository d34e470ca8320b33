"""The geometry of zooming and panning: the part of a picture that a view shows."""

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF

# The largest enlargement of a fitted picture, in device-independent pixels for each of its own.
_FITTED_AT_MOST = 2.0
# The largest enlargement by hand, in device pixels for each pixel of the picture.
_MOST = 32.0
# Stops of zooming in steps, in device pixels for each pixel of the picture.
_STOPS = (1 / 16, 1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# Scales nearer to each other than this are the same.
_SAME = 1.001


class ViewPoint(msgspec.Struct, frozen=True):
    """A part of any picture, for views that show the same part of different ones.

    `zoom` is relative to the fitted picture, 1 fits; `x` and `y` in [0, 1] are the point of the
    picture in the middle of the view.
    """

    zoom: float = 1.0
    x: float = 0.5
    y: float = 0.5


class Viewport:
    """A picture's place in a view. Lengths are device pixels; scales are of them to the picture's.

    A fitted picture stays fitted when the view is resized; another scale is kept, and so is the
    point in the middle.
    """

    def __init__(self, margin: float) -> None:
        """`margin` is kept free around a fitted picture, in device-independent pixels."""
        self._margin = margin
        self._view = QSizeF(1, 1)
        self._ratio = 1.0
        self._picture = QSizeF(1, 1)
        # None fits the picture.
        self._scale: float | None = None
        self._middle = QPointF(0.5, 0.5)

    @property
    def is_fitted(self) -> bool:
        """True while the picture is fitted into the view."""
        return self._scale is None

    @property
    def scale(self) -> float:
        """The device pixels that a pixel of the picture takes."""
        return self.fitting_scale if self._scale is None else self._scale

    @property
    def fitting_scale(self) -> float:
        """The scale of a fitted picture."""
        margin = 2 * self._margin * self._ratio
        across = max(1.0, self._view.width() - margin) / self._picture.width()
        down = max(1.0, self._view.height() - margin) / self._picture.height()
        return min(across, down, _FITTED_AT_MOST * self._ratio)

    @property
    def point(self) -> ViewPoint:
        """The part of the picture that is shown."""
        return ViewPoint(self.scale / self.fitting_scale, self._middle.x(), self._middle.y())

    @property
    def target(self) -> QRectF:
        """The place of the whole picture in the view, its corner at a whole device pixel."""
        width, height = self._picture.width() * self.scale, self._picture.height() * self.scale
        left = self._view.width() / 2 - self._middle.x() * width
        top = self._view.height() / 2 - self._middle.y() * height
        return QRectF(round(left), round(top), width, height)

    @property
    def can_pan(self) -> bool:
        """True if the picture is larger than the view."""
        target = self.target
        return target.width() > self._view.width() or target.height() > self._view.height()

    def resize(self, view: QSize, ratio: float) -> None:
        """Take the view's size in device-independent pixels, and its device pixel ratio."""
        if self._scale is not None:
            self._scale *= ratio / self._ratio
        self._view = QSizeF(view) * ratio
        self._ratio = ratio
        self._keep_in_view()

    def take_picture(self, size: QSize) -> None:
        """Take another picture's size; of a picture of another size all is shown."""
        picture = QSizeF(size.expandedTo(QSize(1, 1)))
        if picture != self._picture:
            self._picture = picture
            self.fit()

    def fit(self) -> None:
        """Fit the picture into the view."""
        self._scale = None
        self._middle = QPointF(0.5, 0.5)

    def go_to(self, point: ViewPoint) -> None:
        """Show this part of the picture."""
        fits = 1 / _SAME < point.zoom < _SAME
        self._scale = None if fits else self._bounded(point.zoom * self.fitting_scale)
        self._middle = QPointF(point.x, point.y)
        self._keep_in_view()

    def zoom_to(self, scale: float, at: QPointF | None = None) -> None:
        """Zoom to a scale; what is at the place `at`, else in the view's middle, stays there."""
        at = at or QPointF(self._view.width() / 2, self._view.height() / 2)
        kept = self.to_picture(at)
        self._scale = self._bounded(scale)
        if self._scale / self.fitting_scale == 1:
            self.fit()
            return
        target = self.target
        shift = at - QPointF(
            target.x() + kept.x() / self._picture.width() * target.width(),
            target.y() + kept.y() / self._picture.height() * target.height(),
        )
        self.pan(shift)

    def pan(self, by: QPointF) -> None:
        """Move the picture, as far as its edges allow."""
        target = self.target
        self._middle -= QPointF(by.x() / target.width(), by.y() / target.height())
        self._keep_in_view()

    def next_scale(self, *, larger: bool) -> float:
        """Return the next stop of zooming in steps; the fitting scale is one of them."""
        stops = sorted((*_STOPS, self.fitting_scale))
        if larger:
            return next((stop for stop in stops if stop > self.scale * _SAME), stops[-1])
        return next((stop for stop in reversed(stops) if stop < self.scale / _SAME), stops[0])

    def to_picture(self, place: QPointF) -> QPointF:
        """Return the point of the picture, in its pixels, at a place of the view."""
        target = self.target
        return QPointF(
            (place.x() - target.x()) / target.width() * self._picture.width(),
            (place.y() - target.y()) / target.height() * self._picture.height(),
        )

    def _bounded(self, scale: float) -> float:
        """Return a scale within the bounds; one beside the fitting scale or 100 % becomes that."""
        least = min(self.fitting_scale, 1.0)
        scale = min(max(scale, least), _MOST)
        same = (stop for stop in (1.0, self.fitting_scale) if 1 / _SAME < scale / stop < _SAME)
        return next(same, scale)

    def _keep_in_view(self) -> None:
        """Centre a side that fits into the view, and leave no gap beside one that does not."""
        width, height = self._picture.width() * self.scale, self._picture.height() * self.scale
        self._middle = QPointF(
            _within(self._middle.x(), self._view.width() / width),
            _within(self._middle.y(), self._view.height() / height),
        )


def _within(middle: float, shown: float) -> float:
    """Return a middle that shows a part of this length, both as fractions of a side."""
    return 0.5 if shown >= 1 else min(max(middle, shown / 2), 1 - shown / 2)
