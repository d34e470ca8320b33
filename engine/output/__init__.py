"""Pictures on disk: where they go, what they are called, and writing them so that none is lost.

`names` reads the wish for a file or folder and makes file names, `writer` encodes and publishes.
"""

from engine.output.names import Destination, destination
from engine.output.writer import write_picture

__all__ = ["Destination", "destination", "write_picture"]
