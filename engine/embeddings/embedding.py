"""An embedding's vectors, and the text encoders that they are for."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from backends.base import Array

# The keys by which files of several text encoders name their tensors: CLIP ViT-L, OpenCLIP bigG.
CLIP_L, CLIP_G = "clip_l", "clip_g"
# The key of a tensor of a file for one text encoder, whichever it is.
ANY = ""


class Encoder(msgspec.Struct, frozen=True):
    """A text encoder that takes vectors: its key in files, and the width of its words."""

    key: str
    width: int


class Embedding(msgspec.Struct, frozen=True, eq=False):
    """Vectors under a name; `tensors` are float32 [count, width] by the key of a text encoder.

    All tensors have the same count. `token` is the word that the file itself names, as
    "<cat-toy>"; empty if it names none. `sha256` is the file's, in hexadecimal digits.
    """

    name: str
    tensors: Mapping[str, Array]
    path: Path | None = None
    token: str = ""
    sha256: str = ""
    # The training steps, and the checkpoint that it was trained on, where the file tells them.
    steps: int | None = None
    trained_on: str = ""
    # Other files that have the same name and were not taken.
    others: tuple[Path, ...] = msgspec.field(default=())

    @property
    def count(self) -> int:
        """The number of vectors, each of which takes the place of a token."""
        return len(next(iter(self.tensors.values())))

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of its tensors, in ascending order."""
        return tuple(sorted(tensor.shape[1] for tensor in self.tensors.values()))

    def vectors_for(self, encoder: Encoder) -> Array | None:
        """Return the vectors for a text encoder, float32 [count, width]; None if it has none."""
        tensor = self.tensors.get(encoder.key, self.tensors.get(ANY))
        return tensor if tensor is not None and tensor.shape[1] == encoder.width else None

    def is_exactly_for(self, encoders: Sequence[Encoder]) -> bool:
        """Tell whether each encoder has its vectors, and no vectors are left over.

        AUTOMATIC1111 uses no others (`EmbeddingDatabase.load_from_file`, `expected_shape`).
        """
        fits = all(self.vectors_for(encoder) is not None for encoder in encoders)
        return fits and self.widths == tuple(sorted(encoder.width for encoder in encoders))

    @property
    def purpose(self) -> str:
        """The checkpoints that it is for, in words; those of unknown widths by the width."""
        return _PURPOSES.get(self.widths) or f"text encoders of width {_listed(self.widths)}"


_PURPOSES: Mapping[tuple[int, ...], str] = {
    (768,): "Stable Diffusion 1",
    (1024,): "Stable Diffusion 2",
    (768, 1280): "SDXL",
    (1280,): "SDXL's second text encoder",
}


def _listed(widths: Iterable[int]) -> str:
    return ", ".join(map(str, widths))
