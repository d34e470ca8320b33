"""The headers of every layout and variant that is run: names, shapes, types, metadata; no weights.

Built from the published layouts (`listings`, which diffusers' own reader proves in the oracle
ring), as tools save them: whole or in parts, under the original names or diffusers', in each type.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.base import DType
from engine.api.values import PredictionType
from engine.families import Component, identify
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.chroma import files as chroma
from tests.families.flux import files as flux
from tests.families.flux2 import files as flux2
from tests.families.listings import PRUNED_SDXL, SD1, SD2, SDXL, UNET, VAE, Listing
from tests.families.sd3 import files as sd3
from tests.families.zimage import files as zimage

TEXTS = ("cond_stage_model.", "conditioner.")
_INPUTS = {"base": 4, "inpainting": 9, "instruct-pix2pix": 8}
_EMPTY: Mapping[str, str] = {}


@dataclass(frozen=True)
class Entry:
    """A file and what it is."""

    names: Listing
    family: str
    variant: str = "base"
    missing: tuple[Component, ...] = ()
    prediction: PredictionType = PredictionType.EPSILON
    # Of all tensors, or of those that it names; the rest is float16.
    dtype: DType | Mapping[str, DType] = DType.F16
    metadata: Mapping[str, str] = field(default_factory=lambda: _EMPTY)

    def write(self, path: Path) -> Path:
        """The file, its weights a hole."""
        return write_sparse(path, self.names, self.dtype, self.metadata)


def corpus() -> dict[str, Entry]:
    """Every entry by name."""
    return dict(_entries())


_TEXT_OF = {
    "sd1": (Component.TEXT_ENCODER,),
    "sd2": (Component.TEXT_ENCODER,),
    "sdxl": (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2),
    "sdxl_refiner": (Component.TEXT_ENCODER_2,),
}


def _whole(family: str, in_channels: int = 4) -> Listing:
    match family:
        case "sd1":
            return listings.original(replace(SD1, in_channels=in_channels))
        case "sd2":
            return listings.sd2(replace(SD2, in_channels=in_channels))
        case "sdxl":
            return listings.sdxl(replace(SDXL, in_channels=in_channels))
        case _:
            return listings.sdxl_refiner()


@cache
def diffusers_names(family: str) -> Mapping[Component, Listing]:
    """Each part under diffusers' and transformers' names."""
    with TemporaryDirectory() as folder:
        components = identify(
            write_sparse(Path(folder) / "x.safetensors", _whole(family))
        ).components
    return {
        component: {name: weight.shape for name, weight in source.weights.items()}
        for component, source in components.items()
    }


def _entries() -> Iterator[tuple[str, Entry]]:
    for family in _TEXT_OF:
        yield from _layouts(family)
        yield from _types(family)
    for family in ("sd1", "sd2", "sdxl"):
        for variant, in_channels in _INPUTS.items():
            names = _whole(family, in_channels)
            if (family, variant) == ("sd2", "instruct-pix2pix"):
                continue  # nobody trained one; those with 8 channels estimate depth
            yield f"{family} {variant}", Entry(names, family, variant)
            unet = {name: shape for name, shape in names.items() if name.startswith(UNET)}
            gaps = (*_TEXT_OF[family], Component.VAE)
            yield f"{family} {variant} UNet", Entry(unet, family, variant, gaps)
    for name, sizes in PRUNED_SDXL.items():
        yield name, Entry(listings.sdxl(sizes), "sdxl", name)
        painting = listings.sdxl(replace(sizes, in_channels=9))
        yield f"{name} inpainting", Entry(painting, "sdxl", f"{name} inpainting")
        bare = listings.ldm_unet(sizes)
        gaps = (*_TEXT_OF["sdxl"], Component.VAE)
        yield f"{name} bare", Entry(bare, "sdxl", name, gaps)
    yield from _stated()
    yield from _flux()
    yield from _zimage()
    yield from _chroma()
    yield from _sd3()
    yield from _flux2()


def _flux() -> Iterator[tuple[str, Entry]]:
    """Transformers of Flux.1, with the gaps that such files have."""
    gaps = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.VAE)
    flow = PredictionType.FLOW
    for variant, sizes in (("dev", flux.FluxSizes()), ("schnell", flux.SCHNELL)):
        bare = flux.original(sizes)
        for name, names in (("", bare), (" with prefix", listings.prefixed(UNET, bare))):
            title = f"Flux.1 {variant}{name}"
            whole = Entry(names, "flux1", variant, gaps, prediction=flow)
            yield title, whole
            yield f"{title} fp8", replace(whole, dtype=DType.F8_E4M3)


def _zimage() -> Iterator[tuple[str, Entry]]:
    """Transformers of Z-Image, with the gaps that such files have."""
    gaps = (Component.TEXT_ENCODER, Component.VAE)
    for name, names in (("", zimage.diffusers()), (" original", zimage.original())):
        whole = Entry(names, "zimage", "turbo", gaps, prediction=PredictionType.FLOW)
        yield f"Z-Image{name}", whole
        yield f"Z-Image{name} fp8", replace(whole, dtype=DType.F8_E4M3)


def _chroma() -> Iterator[tuple[str, Entry]]:
    """Transformers of Chroma, with the gaps that such files have."""
    gaps, flow = (Component.TEXT_ENCODER, Component.VAE), PredictionType.FLOW
    bare = chroma.original()
    for name, names in (("", bare), (" with prefix", listings.prefixed(UNET, bare))):
        whole = Entry(names, "chroma", "base", gaps, prediction=flow)
        yield f"Chroma{name}", whole
        yield f"Chroma{name} fp8", replace(whole, dtype=DType.F8_E4M3)


def _layouts(family: str) -> Iterator[tuple[str, Entry]]:
    whole, texts = _whole(family), _TEXT_OF[family]
    unet = {n.removeprefix(UNET): s for n, s in whole.items() if n.startswith(UNET)}
    gaps = (*texts, Component.VAE)
    for prefix in ("", UNET, "diffusion_model.", "unet."):
        yield (
            f"{family} UNet {prefix!r}",
            Entry(listings.prefixed(prefix, unet), family, "base", gaps),
        )
    without_vae = {n: s for n, s in whole.items() if not n.startswith(VAE)}
    yield f"{family} without VAE", Entry(without_vae, family, "base", (Component.VAE,))
    without_text = {n: s for n, s in whole.items() if not n.startswith(TEXTS)}
    yield f"{family} without text", Entry(without_text, family, "base", texts)
    with_average = whole | listings.leftovers(whole)
    yield f"{family} with leftovers", Entry(with_average, family)
    parts = diffusers_names(family)
    named: Listing = {}
    for component, names in parts.items():
        prefix = "unet" if component is Component.DENOISER else component.value
        named |= listings.prefixed(f"{prefix}.", names)
    yield f"{family} in diffusers' names", Entry(named, family)
    denoiser = dict(parts[Component.DENOISER])
    yield f"{family} diffusers UNet", Entry(denoiser, family, "base", gaps)


def _types(family: str) -> Iterator[tuple[str, Entry]]:
    whole = _whole(family)
    for dtype in (DType.F32, DType.BF16, DType.F8_E4M3, DType.F8_E5M2):
        yield f"{family} {dtype.value}", Entry(whole, family, dtype=dtype)
    mixed = {name: DType.F32 if name.startswith(VAE) else DType.F8_E4M3 for name in whole}
    yield f"{family} mixed", Entry(whole, family, dtype=mixed)
    linear = [n for n in whole if n.startswith(UNET) and ".to_" in n and n.endswith(".weight")]
    scales: Listing = {f"{name.removesuffix('weight')}scale_weight": (1,) for name in linear}
    scaled = {**whole, **scales, f"{UNET}scaled_fp8": (0,)}
    types = dict.fromkeys(scaled, DType.F16)
    types |= dict.fromkeys(linear, DType.F8_E4M3) | dict.fromkeys(scales, DType.F32)
    yield f"{family} scaled fp8", Entry(scaled, family, dtype=types)


def _stated() -> Iterator[tuple[str, Entry]]:
    """The entries that state their prediction type."""
    v, sdxl = PredictionType.V, listings.sdxl()
    yield "SDXL v_pred", Entry({**sdxl, "v_pred": (0,)}, "sdxl", prediction=v)
    both = {**sdxl, "v_pred": (0,), "ztsnr": (0,)}
    yield "SDXL v_pred ztsnr", Entry(both, "sdxl", prediction=v)
    for family, key, value in (
        ("sdxl", "modelspec.prediction_type", "v"),
        ("sdxl", "ss_v_parameterization", "True"),
        ("sd2", "modelspec.architecture", "stable-diffusion-v2-768-v"),
        ("sd2", "ss_base_model_version", "sd_v2_768_v"),
        ("sd1", "modelspec.prediction_type", "v"),
    ):
        entry = Entry(_whole(family), family, prediction=v, metadata={key: value})
        yield f"{family} {key}", entry
    turbo = {"modelspec.architecture": "stable-diffusion-xl-turbo-v1"}
    yield "SDXL Turbo", Entry(sdxl, "sdxl", metadata=turbo)


def _sd3() -> Iterator[tuple[str, Entry]]:
    """Transformers of SD 3 and 3.5, with the gaps that such files have; T5 is none."""
    gaps = (Component.TEXT_ENCODER, Component.TEXT_ENCODER_2, Component.VAE)
    for variant, sizes in (
        ("medium", sd3.Sd3Sizes()),
        ("3.5-medium", sd3.MEDIUM_35),
        ("3.5-large", sd3.LARGE),
    ):
        names = listings.prefixed(UNET, sd3.original(sizes))
        whole = Entry(names, "sd3", variant, gaps, prediction=PredictionType.FLOW)
        yield f"SD {variant}", whole
        yield f"SD {variant} fp8", replace(whole, dtype=DType.F8_E4M3)


def _flux2() -> Iterator[tuple[str, Entry]]:
    """Transformers of FLUX.2 klein, with the gaps that such files have."""
    gaps = (Component.TEXT_ENCODER, Component.VAE)
    for size, sizes in (("4B", flux2.Flux2Sizes()), ("9B", flux2.KLEIN_9B)):
        names = listings.prefixed(UNET, flux2.original(sizes))
        whole = Entry(names, "flux2", "klein", gaps, prediction=PredictionType.FLOW)
        yield f"FLUX.2 klein {size}", whole
        yield f"FLUX.2 klein {size} fp8", replace(whole, dtype=DType.F8_E4M3)
