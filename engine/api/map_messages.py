"""Messages on maps that are shown before a picture is made."""

from engine.api.message import Message
from engine.api.preprocessors import MapOptions, MapTarget


class MakeMap(Message, frozen=True, kw_only=True):
    """Make the map of a picture that a control layer would follow. Answered by MapMade.

    `weights` is the file of a preprocessor that has one; without, it is looked for by its usual
    names. Maps are made one by one, beside other queries and jobs.
    """

    query: int
    image: str
    options: MapOptions
    weights: str | None = None
    target: MapTarget | None = None


class CancelMap(Message, frozen=True, kw_only=True):
    """Stop making a map, which is then answered by QueryFailed with CANCELLED.

    A query that is unknown or answered is ignored.
    """

    query: int


class MapMade(Message, frozen=True, kw_only=True):
    """A map is in a PNG file in the cache, which stays until many newer ones are made."""

    query: int
    path: str
    width: int
    height: int
