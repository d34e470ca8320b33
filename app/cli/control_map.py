"""`safelight map`: a picture turned into the map that a ControlNet looks at."""

import argparse

import msgspec
import numpy as np

from app.cli.preprocessor_options import chosen_options
from app.cli.spelling import parse_size
from app.cli.terminal import Usage, print_json, print_table, write_path
from app.paths import find_paths, typed_path
from engine.api.fields import RequestField, fields_of
from engine.api.picture_names import PictureFacts
from engine.api.preprocessors import PREPROCESSORS, MapOptions, MapTarget, PreprocessorName
from engine.cancel import CancelToken
from engine.compile.cache import NetworkCache
from engine.output.names import Destination, destination, name_after
from engine.output.writer import write_picture
from engine.pipeline.canvas.pictures import read_picture
from engine.preprocessors.map_maker import MapMaker, MapOrder


class MapOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight map --json`."""

    path: str
    width: int
    height: int
    options: MapOptions


class PreprocessorOutput(msgspec.Struct, frozen=True):
    """A preprocessor in the JSON output: `options` are the usual ones, `weights` names of files."""

    name: str
    serves: tuple[str, ...]
    options: MapOptions
    weights: tuple[str, ...]
    about: str


class PreprocessorsOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight map --list --json`."""

    preprocessors: tuple[PreprocessorOutput, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("picture", metavar="PICTURE", nargs="?", help="a PNG, JPEG or WebP file")
    parser.add_argument(
        "--preprocessor", choices=[name.value for name in PreprocessorName], metavar="NAME"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one of the preprocessor's, as low=50; --list tells which",
    )
    parser.add_argument(
        "--weights", metavar="FILE", help="what some preprocessors run; --list tells which"
    )
    parser.add_argument(
        "--for-size",
        type=parse_size,
        metavar="WxH",
        help="the resolution at which a picture of this size loses no pixel of the map",
    )
    parser.add_argument(
        "--whole", action="store_true", help="with --for-size, the map fits into it uncropped"
    )
    parser.add_argument("--output", metavar="FILE", help="a new file, or a folder for it")
    parser.add_argument("--list", action="store_true", help="print the preprocessors")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Make a map and print its path, or list the preprocessors."""
    if options.list:
        _list(as_json=options.json)
        return 0
    if not (options.picture and options.preprocessor and options.output):
        raise Usage("give a picture, --preprocessor NAME and --output FILE, or --list")
    name = PreprocessorName(options.preprocessor)
    chosen = chosen_options(name, options.option)
    target = None
    if options.for_size:
        target = MapTarget(*options.for_size, whole=options.whole)
        chosen = _open(chosen)
    weights = typed_path(options.weights) if options.weights else None
    cache = find_paths().cache
    maker = MapMaker(NetworkCache(cache).working_copies, cache / "tried")
    picture = np.asarray(read_picture(typed_path(options.picture)))
    order = MapOrder(chosen, weights, target)
    made = maker.make(picture, order, (find_paths().models,), CancelToken())
    maker.release()
    path = write_picture(made, _target(options), PictureFacts(seed=0))
    height, width = made.shape[:2]
    if options.json:
        print_json(MapOutput(str(path), width, height, chosen))
    else:
        write_path(path)
    return 0


def _target(options: argparse.Namespace) -> Destination:
    """Return the place of the map: in a folder it is named after its picture."""
    target = destination(str(typed_path(options.output)))
    name = name_after(typed_path(options.picture).name, f"-{options.preprocessor}.png")
    return target if target.name else msgspec.structs.replace(target, name=name)


def _open(chosen: MapOptions) -> MapOptions:
    """Return the options without a resolution, which the map's target then decides."""
    if "resolution" not in fields_of(type(chosen)):
        raise Usage("--for-size needs a preprocessor with a resolution")
    return msgspec.structs.replace(chosen, resolution=None)


def _list(*, as_json: bool) -> None:
    outputs = [
        PreprocessorOutput(
            name.value,
            tuple(kind.value for kind in preprocessor.serves),
            preprocessor.options(),
            preprocessor.files,
            str(preprocessor.about),
        )
        for name, preprocessor in PREPROCESSORS.items()
    ]
    if as_json:
        print_json(PreprocessorsOutput(tuple(outputs)))
        return
    rows = [
        (
            output.name,
            ", ".join(output.serves),
            " ".join(map(_usage, fields_of(type(output.options)).values())),
            ", ".join(output.weights),
            output.about,
        )
        for output in outputs
    ]
    print_table(("NAME", "SERVES", "OPTIONS", "WEIGHTS", "MAP"), rows)


def _usage(field: RequestField) -> str:
    return f"{field.name}={field.default}"
