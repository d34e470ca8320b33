"""Pictures on disk: their folder, their names, and writing them without losing one.

`names` reads the wanted file or folder and makes file names, `writer` encodes and publishes.
"""

from engine.output.names import Destination, destination
from engine.output.writer import write_picture

__all__ = ["Destination", "destination", "write_picture"]
