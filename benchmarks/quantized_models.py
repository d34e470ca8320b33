"""Full-size models in Q4_0, of random weights, in the files that people have of them.

Transformers and large text encoders are GGUF files, as city96 and llama.cpp name their tensors;
CLIP and autoencoders are safetensors files in float16, as ComfyUI splits them. They are made on
first use.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backends.base import DType
from benchmarks import make_gguf, make_sdxl
from engine.weights.dequantization import dequantized
from tests.checkpoints.gguf_files import Stored, blocks, plain, write_gguf
from tests.families import listings
from tests.families.flux import files as flux_files
from tests.families.flux.files import FluxSizes
from tests.families.gguf_parts import llama_cpps_name
from tests.families.listings import Listing, VaeSizes
from tests.families.zimage import files as zimage_files
from tests.families.zimage.files import ZImageSizes

# T5-XXL's encoder.
_LAYERS, _WIDTH, _INNER, _HIDDEN, _HEADS, _WORDS = 24, 4096, 4096, 10240, 64, 32128
_DISTANCES = 32
_ZIMAGE = ZImageSizes()
_LEFT_OF_FEW = r"_pad_token|(t_embedder|x_embedder|final_layer|cap_embedder)\."
# The types of a file by its name, and those of its layers that have others: what llama-quantize
# writes for Z-Image with city96's patch (`tools/lcpp.patch` of city96/ComfyUI-GGUF). Of Flux.1 and
# Chroma only queries, keys and values of double blocks are others, as here.
_QKV, _DOWN = "attention.qkv", "feed_forward.w2"
MIXES: Mapping[str, tuple[DType, Mapping[str, DType]]] = {
    "Q3_K_M": (DType.Q3_K, {_QKV: DType.Q4_K, _DOWN: DType.Q4_K}),
    "Q4_K_S": (DType.Q4_K, {_DOWN: DType.Q5_K}),
    "Q4_K_M": (DType.Q4_K, {_QKV: DType.Q5_K, _DOWN: DType.Q6_K}),
    "Q5_K_M": (DType.Q5_K, {_QKV: DType.Q6_K, _DOWN: DType.Q6_K}),
    "Q6_K": (DType.Q6_K, {}),
}
# The standard deviation of a full-size transformer's random weights.
DEVIATION = 0.018
# What city96's converter leaves of Z-Image (`tools/lcpp.patch`, "lumina2").
ZIMAGE_LEFT = r"(t_embedder|x_embedder|final_layer|cap_embedder|_refiner)\."


@dataclass(frozen=True)
class FewBlocks:
    """A transformer of full width with fewer blocks, small enough for several programs at once.

    `blocks` are the numbers of blocks as diffusers names them, `words` say them.
    """

    name: str
    make: Callable[[Path], None]
    words: str
    blocks: Mapping[str, int]

    def prepare(self, folder: Path, say: Callable[[str], None]) -> Path:
        """Return the file's path in a folder; it is made if it lacks."""
        path = folder / self.name
        if not path.exists():
            say(f"Making {path} (once)")
            self.make(path)
        return path


@dataclass(frozen=True)
class QuantizedModel:
    """A model in parts: a file's name and its maker, by the option of `safelight generate`.

    The part `--model` is the transformer. A picture has `steps`, or `quick_steps`. `sdcpp` are the
    parts' names in stable-diffusion.cpp.
    """

    folder: str
    title: str
    steps: int
    quick_steps: int
    parts: Mapping[str, tuple[str, Callable[[Path], None]]]
    few: FewBlocks
    sdcpp: Mapping[str, str]

    def prepare(self, folder: Path, say: Callable[[str], None]) -> dict[str, Path]:
        """Return the parts' paths, in a folder of that name, by option; make those that lack."""
        found: dict[str, Path] = {}
        (folder / self.folder).mkdir(parents=True, exist_ok=True)
        for option, (name, make) in self.parts.items():
            path = found[option] = folder / self.folder / name
            if not path.exists():
                say(f"Making {path} (once)")
                make(path)
        return found


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


def qwen3_4b() -> Listing:
    """Qwen3-4B by llama.cpp's names."""
    names = zimage_files.qwen3(2560, heads=32, key_heads=8, head=128, layers=36, mlp=9728)
    return {llama_cpps_name(name, "qwen3"): shape for name, shape in names.items()}


def write_zimage(path: Path, sizes: ZImageSizes, mix: str) -> None:
    """Write a transformer whose types are those of `MIXES`, its refiners like its layers.

    A file has those in 16 bits; they are few beside 30 layers, and would be many beside some.
    """
    usual, others = MIXES[mix]
    tensors: dict[str, Stored] = {}
    for number, (name, shape) in enumerate(zimage_files.original(sizes).items()):
        dtype = next((other for part, other in others.items() if part in name), usual)
        if len(shape) == 2 and not re.search(_LEFT_OF_FEW, name):
            tensors[name] = blocks(dtype, shape, number, DEVIATION / spread_of(dtype))
        else:
            tensors[name] = plain(flux_files.drawn({name: shape}, number)[name])
    write_gguf(path, tensors, {"general.architecture": "lumina2"})


def spread_of(dtype: DType) -> float:
    """Return the standard deviation of a type's random blocks with scales of the size of 1."""
    raw = np.frombuffer(blocks(dtype, (256, 256), scale=1.0).raw, np.uint8)
    return float(dequantized(raw, dtype).std())


def _schnell(path: Path, sizes: FluxSizes = flux_files.SCHNELL) -> None:
    make_gguf.write(path, flux_files.original(sizes), "flux")


def _few_of_schnell(path: Path) -> None:
    _schnell(path, FluxSizes(double=2, single=4, guidance=False))


def _zimage(path: Path, sizes: ZImageSizes = _ZIMAGE) -> None:
    make_gguf.write(path, zimage_files.original(sizes), "lumina2", ZIMAGE_LEFT)


def _few_of_zimage(path: Path) -> None:
    _zimage(path, ZImageSizes(layers=6, refiners=1))


def _t5(path: Path) -> None:
    make_gguf.write(path, t5_encoder(), "t5encoder")


def _qwen3(path: Path) -> None:
    make_gguf.write(path, qwen3_4b(), "qwen3")


def _clip(path: Path) -> None:
    make_sdxl.write(path, listings.clip_text())


def _vae(path: Path) -> None:
    names = listings.ldm_vae(VaeSizes(latent=16))
    make_sdxl.write(path, {name: names[name] for name in names if "quant_conv" not in name})


_AUTOENCODER = "ae.safetensors", _vae
# 10 GB: the transformer 6.8, T5 2.7, CLIP and the autoencoder 0.2 each.
FLUX = QuantizedModel(
    "flux",
    "Flux.1 schnell",
    4,
    1,
    {
        "--model": ("flux1-schnell-Q4_0.gguf", _schnell),
        "--text-encoder": ("clip_l.safetensors", _clip),
        "--text-encoder-2": ("t5-v1_1-xxl-encoder-Q4_0.gguf", _t5),
        "--vae": _AUTOENCODER,
    },
    FewBlocks(
        "flux1-schnell-few-Q4_0.gguf",
        _few_of_schnell,
        "2 double and 4 single blocks",
        {"num_layers": 2, "num_single_layers": 4},
    ),
    {
        "--model": "diffusion_model_path",
        "--text-encoder": "clip_l_path",
        "--text-encoder-2": "t5xxl_path",
        "--vae": "vae_path",
    },
)
# 7 GB: the transformer 4.6, Qwen3 2.3.
ZIMAGE = QuantizedModel(
    "zimage",
    "Z-Image Turbo",
    8,
    2,
    {
        "--model": ("z_image_turbo-Q4_0.gguf", _zimage),
        "--text-encoder": ("Qwen3-4B-Q4_0.gguf", _qwen3),
        "--vae": _AUTOENCODER,
    },
    FewBlocks(
        "z_image_turbo-few-Q4_0.gguf",
        _few_of_zimage,
        "6 layers and 2 refiners",
        {"n_layers": 6, "n_refiner_layers": 1},
    ),
    {"--model": "diffusion_model_path", "--text-encoder": "llm_path", "--vae": "vae_path"},
)
