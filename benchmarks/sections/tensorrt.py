"""TensorRT-RTX built ahead of time: the cost of building SD 1.5's networks, without a card."""

from benchmarks.child import Child
from benchmarks.peers.tensorrt_engine import (
    DECLARED,
    DECODER,
    ENCODER,
    EVERYWHERE,
    FORMS,
    TEXT,
    UNET,
)
from benchmarks.report import Cell, Findings, Table
from benchmarks.sections.setting import Setting

_CARDS = {"SM86": "Ampere, 8.6", "SM89": "Ada, 8.9", "SM120": "Blackwell, 12.0"}
_USUAL = "SM89"
_COLUMNS = (
    "build s",
    "processor s",
    "peak MB",
    "engine MB",
    "weights MB",
    "layers",
    "native attentions",
)


def tensorrt(setting: Setting) -> Findings:
    """Build every network for one card, the UNet for other cards, and with other operator forms."""
    networks = (UNET, DECODER, ENCODER, TEXT)
    rows = [_built(setting, f"{name}, {_CARDS[_USUAL]}", name) for name in networks]
    usual = f"{UNET}, {_CARDS[_USUAL]}"
    rows.append(_built(setting, f"{usual}, weight streaming", UNET, streaming=True))
    rows.append(_built(setting, f"{usual}, refittable", UNET, refittable=True))
    rows.append(_built(setting, f"{usual}, kernels as inputs", UNET, inputs=True))
    others = () if setting.quick else [card for card in _CARDS if card != _USUAL]
    for card in others:
        rows.append(_built(setting, f"{UNET}, {_CARDS[card]}", UNET, card=card))
        label = f"{UNET}, {_CARDS[card]}, kernels as inputs"
        rows.append(_built(setting, label, UNET, card=card, inputs=True))
    built = Table(
        "TensorRT-RTX ahead of time, SD 1.5 in float16, for all sizes the app offers",
        ("", *_COLUMNS),
        tuple(rows),
        "Each in a new process, from a file of float16 weights that is mapped and nowhere copied "
        "to. Peak is the private memory of the process. Nothing is timed on a card. "
        "Refittable: its weights can be replaced. Kernels: of linear layers and convolutions.",
    )
    if setting.quick:
        return Findings((built,))
    return Findings((built, _forms(setting)))


def _forms(setting: Setting) -> Table:
    """Build the UNet with one form changed at a time, the decoder with unsupported attention."""
    tried = [*((UNET, form) for form in FORMS), (DECODER, EVERYWHERE)]
    rows = tuple(_built(setting, f"{name}, {form}", name, form=form) for name, form in tried)
    return Table(
        "The same with operators in other forms, for compute capability 8.9",
        ("", *_COLUMNS),
        rows,
        "Fewer layers leave less to find by pattern; an attention counts as native where TensorRT "
        "has a layer for the whole of it. Where nothing was built, TensorRT refused.",
    )


def _built(
    setting: Setting,
    label: str,
    network: str,
    *,
    card: str = _USUAL,
    form: str = DECLARED,
    **build: bool,
) -> tuple[Cell, ...]:
    setting.say(f"  {label}")
    options = {"checkpoint": str(setting.files.f16), "network": network, "precision": "f16"}
    with Child("tensorrt", **options, forms=form) as child:
        found = child.ask(card, **build)
    if found["refused"]:
        setting.say(f"  {found['refused']}")
    return (
        label,
        f"{found['seconds']:.1f}",
        f"{found['processor_s']:.1f}",
        f"{found['peak_bytes'] / 1e6:.0f}",
        f"{found['engine_bytes'] / 1e6:.0f}" if found["engine_bytes"] else "refused",
        f"{found['weight_bytes'] / 1e6:.0f}",
        str(found["layers"]),
        str(found["attentions"]),
    )
