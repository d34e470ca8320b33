"""The part of `ControlModel` that control networks of UNets have in common."""

from collections.abc import Mapping, Sequence

from backends.base import Array
from engine.api.control_rules import ControlRules
from engine.api.preprocessors import ControlKind
from engine.families.latents import EncodedImage


class UNetControl:
    """A control network that embeds maps itself, for which the denoiser always has the inputs."""

    __slots__ = ()

    @property
    def residuals(self) -> None:
        """None: the denoiser has no inputs that are there for this network alone."""
        return None

    def shown(self, maps: Array, kinds: Sequence[ControlKind]) -> dict[str, Array]:
        """Return maps as they are, the input of `embedding`."""
        return {"map": maps}

    def drawn(self, made: Mapping[str, Array]) -> EncodedImage | None:
        """Return None: no encoder of a VAE takes the map."""
        return None

    def sees_prompt_alone(self, rules: ControlRules) -> bool:
        """Return False: the network sees the prompts that the denoiser sees."""
        return False

    def size_inputs(self, height: int, width: int) -> dict[str, Array]:
        """Return nothing: sizes are those of the images."""
        return {}
