"""The answers to queries for maps."""

from functools import partial
from pathlib import Path

from backends.base import Cancellation
from engine.api.map_messages import MakeMap, MapMade
from engine.jobs.map_previews import MapPreviews
from engine.jobs.services import JobServices
from engine.preprocessors.map_maker import MapOrder
from engine.server.map_line import MapLine


def make_maps(line: MapLine, folder: Path, services: JobServices) -> None:
    """Have a line make its maps into a folder from now on."""
    line.start(partial(_made, MapPreviews(folder, services)), services.maps.release)


def _made(previews: MapPreviews, query: MakeMap, cancel: Cancellation) -> MapMade:
    """Make a map into a file and return its event. Raises as `MapPreviews.make`."""
    weights = Path(query.weights) if query.weights is not None else None
    order = MapOrder(query.options, weights, query.target)
    made = previews.make(Path(query.image), order, cancel)
    return MapMade(query=query.query, path=str(made.path), width=made.width, height=made.height)
