"""A control network as it is read from a file, before it is known which checkpoint it leads."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.api.preprocessors import ControlKind
from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.control.kinds import FLUX_UNION_KINDS, UNION_KINDS
from engine.errors import EngineError
from engine.families.registry import FAMILIES
from engine.graphs.control_net import ControlNetConfig
from engine.graphs.flux_control import FluxControlConfig
from engine.graphs.lllite import LlliteModule
from engine.graphs.sd3_control import Sd3ControlConfig
from engine.graphs.t2i_adapter import AdapterConfig
from engine.weights.patched import Patch
from engine.weights.sources import Weight


class ControlForm(StrEnum):
    """The way in which a control network leads a denoiser."""

    # A copy of the denoiser's way down, whose outputs are added to the skip connections.
    CONTROL_NET = "control_net"
    # A ControlNet for several kinds of maps.
    UNION = "union"
    # Low-rank changes of the denoiser's way down, which make a ControlNet of it.
    CONTROL_LORA = "control_lora"
    # A network that makes an image for each level of the denoiser, from the map alone.
    ADAPTER = "adapter"
    # Small modules that change what the denoiser's attention is given, by the map.
    LLLITE = "lllite"

    @property
    def words(self) -> Sentence:
        """The name for people, with its article."""
        return _WORDS[self]


_WORDS: Mapping[ControlForm, Sentence] = {
    ControlForm.CONTROL_NET: sentence("a ControlNet"),
    ControlForm.UNION: sentence("a ControlNet for several kinds of maps"),
    ControlForm.CONTROL_LORA: sentence("a control-LoRA"),
    ControlForm.ADAPTER: sentence("a T2I-Adapter"),
    ControlForm.LLLITE: sentence("a ControlNet-LLLite"),
}


class ControlNetSizes(msgspec.Struct, frozen=True):
    """The sizes of a ControlNet; `states_heads`: its configuration states heads and norms.

    A single file does not, so these are the checkpoint's, whose copy the network is. Nor does it
    state that outputs are means, so its name tells.
    """

    config: ControlNetConfig
    states_heads: bool = False


class BorrowedSizes(msgspec.Struct, frozen=True):
    """The sizes of a ControlNet that is made of a denoiser: all but these are the denoiser's."""

    context_width: int
    pools: bool = False


class LlliteSizes(msgspec.Struct, frozen=True):
    """The modules of a ControlNet-LLLite; before they are fitted, layers have the file's names."""

    modules: tuple[LlliteModule, ...]


class Sd3NetSizes(msgspec.Struct, frozen=True):
    """The sizes of a ControlNet of SD 3, and the kind of its maps where its tensors state it."""

    config: Sd3ControlConfig
    kind: ControlKind | None = None


_Sizes = (
    ControlNetSizes | BorrowedSizes | AdapterConfig | LlliteSizes | FluxControlConfig | Sd3NetSizes
)


class ControlNetwork(msgspec.Struct, frozen=True, eq=False):
    """A control network in a file or folder of the user's, and the digest of its content.

    `family` is the name of the family whose checkpoints it leads. `weights` has the weights by
    canonical names, diffusers', and `changes` the patches of weights that it borrows from the
    checkpoint's denoiser. `kind` is the kind of its maps as far as names tell: a guess. No number
    of a layer has been read.
    """

    path: Path
    form: ControlForm
    family: str
    digest: str
    weights: Mapping[str, Weight]
    sizes: _Sizes
    changes: Mapping[str, Patch] = msgspec.field(default_factory=dict[str, Patch])
    kind: ControlKind | None = None

    @property
    def name(self) -> str:
        """The name for people, and for the records of pictures: the file's, without its suffix."""
        return self.path.name if self.path.is_dir() else self.path.stem

    @property
    def title(self) -> Sentence:
        """The kind of network and its family in words: "a ControlNet for SDXL"."""
        family = FAMILIES.named(self.family).title
        return sentence("{form} for {family}", form=self.form.words, family=family)

    @property
    def kinds(self) -> tuple[ControlKind, ...]:
        """The kinds of maps that a union is told apart; none for other networks."""
        sizes = self.sizes
        if isinstance(sizes, FluxControlConfig):
            return tuple(kind for kind, number in FLUX_UNION_KINDS.items() if number < sizes.modes)
        union = sizes.config.union if isinstance(sizes, ControlNetSizes) else None
        known = UNION_KINDS.items() if union else ()
        return tuple(kind for kind, number in known if union and number < union.kinds)

    @property
    def sees_mask(self) -> bool:
        """True if it sees a mask of the cells that are kept, beside the latent of a picture."""
        match self.sizes:
            case (FluxControlConfig() as config) | Sd3NetSizes(config=config):
                return config.sees_mask
            case _:
                return False

    @property
    def sees_painting(self) -> bool:
        """True if what is to be painted can be marked in its map, or by a mask beside it.

        A transformer's network without a mask was trained on whole pictures: what tools hide from
        others is no level that the VAE knows.
        """
        return self.sees_mask or not isinstance(self.sizes, FluxControlConfig | Sd3NetSizes)

    @property
    def stated_kind(self) -> ControlKind | None:
        """The kind of its maps that tensors state; None where only names may tell it."""
        if isinstance(self.sizes, Sd3NetSizes):
            return self.sizes.kind
        return ControlKind.INPAINT if self.sees_mask else None

    @property
    def step_parameters(self) -> int:
        """The parameters that are used in each step of a picture; 0 if the network runs before.

        Of a control-LoRA these are the weights that it changes, which nearly all are.
        """
        if self.form is ControlForm.ADAPTER:
            return 0
        changed = sum(getattr(change, "elements", 0) for change in self.changes.values())
        return changed + sum(weight.elements for weight in self.weights.values())

    @property
    def joins_maps(self) -> bool:
        """True if it can be given several maps at once."""
        return self.form is ControlForm.UNION and not isinstance(self.sizes, FluxControlConfig)

    def number_of(self, kind: ControlKind, numbers: Mapping[ControlKind, int]) -> int:
        """Return the number of a kind of map.

        Raises EngineError(REQUEST_INVALID) for a kind that the network was not trained on.
        """
        if kind not in self.kinds:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence(
                    "{path} was not trained on maps of the kind {kind!r}.",
                    path=self.path.name,
                    kind=kind.value,
                ),
                sentence("It takes {kinds}.", kinds=", ".join(kind.value for kind in self.kinds)),
            )
        return numbers[kind]
