"""Makes Flux.1 schnell at full size from random weights, in the files that people have of it.

The transformer and T5-XXL are GGUF files in Q4_0, as city96 and llama.cpp name their tensors; CLIP
ViT-L and the autoencoder are safetensors files in float16, as ComfyUI splits them.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from backends.base import Array, DType
from benchmarks import make_sdxl
from engine.weights.dequantization import dequantized
from tests.checkpoints.gguf_files import blocks, fact, header, number_of, padded, tensor
from tests.families import listings
from tests.families.flux import files
from tests.families.listings import Listing, VaeSizes

_DTYPE, _SEED = DType.Q4_0, 0
# Blocks are drawn once and reused from other offsets: 17 billion numbers would take minutes.
_DRAWN_ROWS = 1 << 14
_COLUMNS = 4096
# T5-XXL's encoder.
_LAYERS, _WIDTH, _INNER, _HIDDEN, _HEADS, _WORDS = 24, 4096, 4096, 10240, 64, 32128
_DISTANCES = 32


@dataclass(frozen=True, slots=True)
class FluxFiles:
    """The paths of the parts in a folder."""

    folder: Path

    @property
    def transformer(self) -> Path:
        """The denoiser, 6.8 GB."""
        return self.folder / "flux1-schnell-Q4_0.gguf"

    @property
    def t5(self) -> Path:
        """T5's encoder, 2.7 GB."""
        return self.folder / "t5-v1_1-xxl-encoder-Q4_0.gguf"

    @property
    def clip(self) -> Path:
        """CLIP's text encoder, 0.2 GB."""
        return self.folder / "clip_l.safetensors"

    @property
    def vae(self) -> Path:
        """The autoencoder, 0.2 GB."""
        return self.folder / "ae.safetensors"


def t5_encoder() -> Listing:
    """T5-XXL's encoder by llama.cpp's names."""
    names: Listing = {
        "token_embd.weight": (_WORDS, _WIDTH),
        "enc.output_norm.weight": (_WIDTH,),
        "enc.blk.0.attn_rel_b.weight": (_DISTANCES, _HEADS),
    }
    for layer in range(_LAYERS):
        name = f"enc.blk.{layer}"
        names |= {f"{name}.attn_{part}.weight": (_INNER, _WIDTH) for part in "qkv"}
        names |= {f"{name}.ffn_{part}.weight": (_HIDDEN, _WIDTH) for part in ("gate", "up")}
        names[f"{name}.attn_o.weight"] = (_WIDTH, _INNER)
        names[f"{name}.ffn_down.weight"] = (_WIDTH, _HIDDEN)
        names |= {f"{name}.{part}_norm.weight": (_WIDTH,) for part in ("attn", "ffn")}
    return names


def _make_transformer(path: Path) -> None:
    write(path, files.original(files.SCHNELL), "flux")


def _make_t5(path: Path) -> None:
    write(path, t5_encoder(), "t5encoder")


def _make_clip(path: Path) -> None:
    make_sdxl.write(path, listings.clip_text())


def _make_vae(path: Path) -> None:
    names = listings.ldm_vae(VaeSizes(latent=16))
    make_sdxl.write(path, {name: names[name] for name in names if "quant_conv" not in name})


# The maker of each file, by its name.
MAKERS: Mapping[str, Callable[[Path], None]] = {
    FluxFiles(Path()).transformer.name: _make_transformer,
    FluxFiles(Path()).t5.name: _make_t5,
    FluxFiles(Path()).clip.name: _make_clip,
    FluxFiles(Path()).vae.name: _make_vae,
}


def write(path: Path, names: Listing, architecture: str) -> None:
    """Write matrices in blocks and vectors in float32, under a temporary name at first."""
    listed: list[bytes] = []
    offset = 0
    for name, shape in names.items():
        dtype = _type_of(shape)
        listed.append(tensor(name, shape, number_of(dtype), offset))
        offset += _padded_size(_size(dtype, math.prod(shape)))
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(padded(header([fact("general.architecture", architecture)], listed)))
        _write_data(file, names)
    part.replace(path)


def _write_data(file: BinaryIO, names: Listing) -> None:
    random = np.random.default_rng(_SEED)
    raw = blocks(_DTYPE, (_DRAWN_ROWS, _COLUMNS), _SEED, scale=1.0).raw
    drawn = np.frombuffer(raw, np.uint8).reshape(-1, _block_bytes())
    spread = float(dequantized(drawn[:4096].reshape(-1), _DTYPE).std())
    for name, shape in names.items():
        if _type_of(shape) is _DTYPE:
            deviation = 1 / math.sqrt(shape[1]) if "embd" not in name else 1.0
            _write_blocks(file, random, _scaled(drawn, deviation / spread), math.prod(shape))
        else:
            numbers = 0.1 * random.standard_normal(shape, np.float32)
            is_scale = name.endswith(("scale", "norm.weight"))
            file.write(padded((numbers + is_scale).astype(np.float32).tobytes()))


def _scaled(drawn: Array, factor: float) -> Array:
    """Blocks whose scales, of float16, are multiplied."""
    blocks_ = drawn.copy()
    halves = blocks_[:, :2].copy().view(np.float16)
    blocks_[:, :2] = (halves * np.float16(factor)).view(np.uint8)
    return blocks_


def _write_blocks(file: BinaryIO, random: np.random.Generator, drawn: Array, elements: int) -> None:
    for piece in make_sdxl.pieces(random, drawn, elements // 32):
        file.write(piece.tobytes())
    file.write(bytes(-(elements // 32 * _block_bytes()) % 32))


def _type_of(shape: tuple[int, ...]) -> DType:
    """Return Q4_0 for matrices of whole blocks; converters leave vectors and biases."""
    return _DTYPE if len(shape) == 2 and not shape[1] % 32 and shape[1] > 64 else DType.F32


def _size(dtype: DType, elements: int) -> int:
    return elements // 32 * _block_bytes() if dtype is _DTYPE else 4 * elements


def _padded_size(size: int) -> int:
    return size + -size % 32


def _block_bytes() -> int:
    assert _DTYPE.block is not None
    return _DTYPE.block.nbytes
