"""`--control IMAGE` and the options after it: pictures that a ControlNet or an adapter follows."""

import argparse
from collections.abc import Sequence
from typing import Any

import msgspec

from app.cli.option_group import OptionGroup
from app.cli.preprocessor_options import chosen_options
from app.cli.spelling import one_of
from app.cli.terminal import Usage
from app.paths import file_or_name, typed_path
from engine.api.control import ControlLayer, ControlMode, ControlReport, ControlResize
from engine.api.fields import bounds_of
from engine.api.preprocessors import ControlKind, PreprocessorName


def _path(text: str) -> str:
    return str(typed_path(text))


def _range(text: str) -> tuple[float, float]:
    start, comma, end = text.partition(",")
    try:
        found = float(start), float(end)
    except ValueError:
        found = None
    if not comma or found is None or not 0 <= found[0] <= found[1] <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not START,END; write it as 0,0.6")
    return found


def _weight(text: str) -> float:
    low, high = bounds_of(ControlLayer, "weight")
    try:
        weight = float(text)
    except ValueError:
        weight = float("nan")
    if not low <= weight <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from {low:g} to {high:g}")
    return weight


_NONE = "none"


def _preprocessor(text: str) -> str:
    names = _NONE, *PreprocessorName
    if text not in names:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(names)}")
    return text


_PREPROCESSOR = "preprocessor"
_OPTIONS = "preprocessor_options"
# Options of a layer by the field that they set.
_FIELDS: dict[str, dict[str, Any]] = {
    "network": {
        "option": "--control-model",
        "metavar": "M",
        "help": "the ControlNet, control-LoRA or adapter that follows it, a file or a name; "
        "without it the model itself does, as Flux.1 Canny and Depth",
    },
    "weight": {"type": _weight, "metavar": "X", "help": "how strongly, from -10 to 10; default: 1"},
    "range": {
        "type": _range,
        "metavar": "START,END",
        "help": "the part of the run in which it acts, as 0,0.6",
    },
    "mode": {
        "type": one_of(ControlMode),
        "choices": list(ControlMode),
        "help": "whether the prompt or the control matters more",
    },
    "resize": {
        "type": one_of(ControlResize),
        "choices": list(ControlResize),
        "help": "how a picture of another shape becomes the map; default: crop",
    },
    "kind": {
        "type": one_of(ControlKind),
        "choices": list(ControlKind),
        "help": "what the map shows, for networks that take several kinds",
    },
    "mask": {
        "type": _path,
        "metavar": "FILE",
        "help": "a picture that is white where it acts",
    },
    _PREPROCESSOR: {
        "type": _preprocessor,
        "metavar": "NAME",
        "help": "what makes the map of the picture; `safelight map --list` lists them",
    },
    _OPTIONS: {
        "option": "--control-preprocessor-option",
        "metavar": "NAME=VALUE",
        "help": "one of the preprocessor's, as low=50; may be repeated",
    },
    "preprocessor_weights": {
        "option": "--control-preprocessor-model",
        "type": _path,
        "metavar": "FILE",
        "help": "the weights of a preprocessor that needs some",
    },
}


class _OfLastLayer(argparse.Action):
    """An option that sets a field of the layer of the last `--control`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        layers: list[dict[str, Any]] = namespace.wanted_controls or []
        if self.dest == "image":
            # Not the list itself, which is the parser's default.
            namespace.wanted_controls = [*layers, {"image": values}]
            return
        if not layers:
            parser.error(f"{option_string} follows the picture that it is about: --control IMAGE")
        if self.dest == _OPTIONS:
            layers[-1].setdefault(_OPTIONS, []).append(values)
        else:
            layers[-1][self.dest] = values


def add_arguments(parser: OptionGroup) -> None:
    """Declare the options."""
    parser.set_defaults(wanted_controls=None)
    parser.add_argument(
        "--control",
        dest="image",
        action=_OfLastLayer,
        default=argparse.SUPPRESS,
        metavar="IMAGE",
        help="a picture; the options below are about it; may be repeated with them",
    )
    for field, about in _FIELDS.items():
        given = dict(about)
        option = given.pop("option", f"--control-{field}")
        parser.add_argument(
            option, dest=field, action=_OfLastLayer, default=argparse.SUPPRESS, **given
        )


def with_controls(
    before: tuple[ControlLayer, ...], wanted: Sequence[dict[str, Any]] | None
) -> tuple[ControlLayer, ...]:
    """Return the layers of the options, or without any those of before. Raises Usage."""
    return before if wanted is None else tuple(map(_layer, wanted))


def changed(
    before: tuple[ControlReport, ...] | msgspec.UnsetType,
    now: tuple[ControlReport, ...] | msgspec.UnsetType,
) -> tuple[str, ...]:
    """Return sentences about networks and maps that are others than before."""
    if isinstance(before, msgspec.UnsetType) or isinstance(now, msgspec.UnsetType):
        return ()
    told: list[str] = []
    for old, new in zip(before, now, strict=False):
        if old.digest and new.digest and old.digest != new.digest:
            told.append(f"The control network {new.name} has changed since that picture was made.")
        if old.map_sha256 and new.map_sha256 and old.map_sha256 != new.map_sha256:
            told.append(f"The map of {new.name} is another one than in that picture.")
    return tuple(dict.fromkeys(told))


def _layer(given: dict[str, Any]) -> ControlLayer:
    fields = dict(given, image=str(typed_path(given["image"])))
    name, options = fields.pop(_PREPROCESSOR, _NONE), fields.pop(_OPTIONS, [])
    if name == PreprocessorName.REFERENCE_ONLY:
        if "network" in fields:
            raise Usage(f"--control-preprocessor {name} takes no --control-model")
    elif fields.get("network") is not None:
        fields["network"] = file_or_name(fields["network"])
    if name == _NONE:
        if "preprocessor_weights" in fields:
            raise Usage("--control-preprocessor-model needs --control-preprocessor NAME")
        if options:
            raise Usage("--control-preprocessor-option needs --control-preprocessor NAME")
        return ControlLayer(**fields)
    return ControlLayer(**fields, preprocessor=chosen_options(PreprocessorName(name), options))
