"""`safelight inspect` of networks beside checkpoints: what leads, shows or enlarges pictures."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.cli.terminal import print_json, say
from app.model_folders import named_folders
from app.paths import Paths, typed_path
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.sentences import as_it_is
from engine.api.values import ErrorCode
from engine.control.network import ControlNetwork
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.file_paths import exists, is_folder
from engine.folders import folders_of_models
from engine.jobs.model_descriptions import ModelDescriber
from engine.lora.files_below import list_one
from engine.pipeline.network_lookup import NetworkLookup, WantedNetwork

_KINDS = {
    ModelKind.CONTROLNET: "a control network",
    ModelKind.IP_ADAPTER: "an IP-Adapter",
    ModelKind.VISION_ENCODER: "a CLIP vision encoder",
    ModelKind.UPSCALER: "an upscaler",
}
# The options by which a network is used, before its path.
_USES = {
    ModelKind.CONTROLNET: "--control PICTURE --control-model",
    ModelKind.IP_ADAPTER: "--image-prompt PICTURE --adapter",
    ModelKind.VISION_ENCODER: "--adapter-encoder",
    ModelKind.UPSCALER: "safelight upscale PICTURE --model",
}


class NetworkOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The JSON output for a network: its description, and the kinds of maps that it follows.

    With `by_name` the kind is a guess from its name.
    """

    network: ModelInfo
    maps: tuple[str, ...] = ()
    by_name: bool = False


def describe(name: str, paths: Paths) -> NetworkOutput | None:
    """Return the description of the network of this path or name; None for any other file.

    Raises EngineError for a network that is not run.
    """
    path = _found(name, paths)
    if path is None:
        return None
    if is_folder(path):
        return _of_folder(path)
    listed = list_one(path)
    info = ModelDescriber()(listed, str(path.parent)) if listed else None
    if info is None or info.kind not in _KINDS:
        return None
    if info.problem:
        problem, hint = as_it_is(str(info.problem)), as_it_is(str(info.hint))
        raise EngineError(ErrorCode.CHECKPOINT_UNKNOWN_FAMILY, problem, hint)
    if info.kind is ModelKind.CONTROLNET:
        return _controlled(info, read_control_network(path))
    return NetworkOutput(network=info)


def show(output: NetworkOutput, *, as_json: bool) -> None:
    """Print what is known of a network."""
    if as_json:
        print_json(output)
        return
    say(output.network.path)
    for line in _lines(output):
        say(line)


def _found(name: str, paths: Paths) -> Path | None:
    typed = typed_path(name)
    if exists(typed):
        return typed
    lookup = NetworkLookup(folders_of_models(paths.models, named_folders(paths)))
    return lookup.find(WantedNetwork(name))


def _of_folder(path: Path) -> NetworkOutput | None:
    try:
        network = read_control_network(path)
    except EngineError:
        return None
    info = ModelInfo(
        path=str(path),
        name=path.name,
        root=str(path.parent),
        size=sum(file.stat().st_size for file in path.iterdir()),
        modified_ns=path.stat().st_mtime_ns,
        kind=ModelKind.CONTROLNET,
        purpose=str(network.title),
        families=(network.family,),
        follows=network.stated_kind,
        step_parameters=network.step_parameters,
    )
    return _controlled(info, network)


def _controlled(info: ModelInfo, network: ControlNetwork) -> NetworkOutput:
    if network.kinds:
        return NetworkOutput(network=info, maps=tuple(kind.value for kind in network.kinds))
    known = () if network.kind is None else (network.kind.value,)
    by_name = bool(known) and network.stated_kind is None
    return NetworkOutput(network=info, maps=known, by_name=by_name)


def _lines(output: NetworkOutput) -> Iterator[str]:
    info = output.network
    maps = ", ".join(output.maps)
    facts = {
        "is": info.purpose
        or " ".join(filter(None, (_KINDS[info.kind], _in_brackets(info.variant)))),
        "title": info.title,
        "maps": f"{maps}, by its name" if output.by_name else maps,
        "enlarges": f"{info.scale} times" if info.scale else "",
        "precision": " and ".join(info.precisions),
    }
    yield from (f"  {name:<15}{text}" for name, text in facts.items() if text)
    path = f'"{info.path}"' if " " in info.path else info.path
    yield f"  {'use it with':<15}{_USES[info.kind]} {path}"


def _in_brackets(text: str) -> str:
    return f"({text})" if text else ""
