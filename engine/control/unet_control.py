"""The part of `ControlModel` that control networks of UNets have in common."""

from backends.base import Array


class UNetControl:
    """A control network that embeds maps itself, for which the denoiser always has the inputs."""

    __slots__ = ()

    @property
    def encodes(self) -> bool:
        """False: no encoder of a VAE takes the map."""
        return False

    @property
    def residuals(self) -> None:
        """None: the denoiser has no inputs that are there for this network alone."""
        return None

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return nothing: sizes are those of the images."""
        return {}
