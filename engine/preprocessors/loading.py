"""The networks of a preprocessor: their files found and read, and later loaded."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import msgspec

from backends.base import Cancellation
from engine.api.preprocessors import (
    PREPROCESSORS,
    MapOptions,
    OnnxOptions,
    PoseOptions,
    PreprocessorName,
    name_of,
)
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.api.weight_suffixes import ONNX_SUFFIX
from engine.compile.compiler import Compiler
from engine.errors import EngineError
from engine.preprocessors.annotators import (
    Annotator,
    AnnotatorKind,
    MapNetwork,
    load_annotator,
    read_annotator,
)
from engine.preprocessors.finding import find_file, find_weights
from engine.preprocessors.onnx_files import LoadedOnnx, OnnxFile
from engine.preprocessors.onnx_trial import OnnxTrials
from engine.preprocessors.pose.posing import JOINTS_SIZE, PEOPLE_SIZE, PoseNetworks
from engine.preprocessors.run import require_network

# Pixels of the square that a file with open sides is tried with.
_TRIED_SIDE = 512
Load = Callable[[Compiler, Cancellation], MapNetwork]


class ReadNetworks(msgspec.Struct, frozen=True):
    """The networks of a preprocessor, whose files are read.

    `load` loads them in float32. It raises EngineError and Cancelled.
    """

    kind: AnnotatorKind
    load: Load


def files_of(
    name: PreprocessorName, weights: Path | None, folders: Iterable[Path]
) -> tuple[Path, ...]:
    """Return the files of a preprocessor: the named or the usual one, and the one beside it.

    None for a preprocessor without weights, or where none is found; a file that is named for a
    preprocessor without weights is returned, too, to be refused.
    """
    searched = tuple(folders)
    first = weights or find_weights(name, searched)
    beside = PREPROCESSORS[name].beside
    if first is None:
        return ()
    if not beside:
        return (first,)
    near = first.with_name(beside)
    second = near if near.is_file() else find_file((beside,), searched)
    return (first,) if second is None else (first, second)


def read_networks(
    options: MapOptions, files: tuple[Path, ...], trials: OnnxTrials
) -> ReadNetworks | None:
    """Read the files of a preprocessor; None for one without weights.

    Raises EngineError: those of the readers, and REQUEST_INVALID for files of another preprocessor
    and where one is missing.
    """
    name = name_of(options)
    if not files:
        require_network(name, None)
        return None
    if files[0].suffix.lower() != ONNX_SUFFIX:
        annotator = read_annotator(files[0])
        require_network(name, annotator.kind)
        return ReadNetworks(annotator.kind, partial(_loaded, annotator))
    if isinstance(options, PoseOptions):
        joints, people = map(OnnxFile, _both(files))
        return ReadNetworks(AnnotatorKind.POSE, partial(_loaded_poses, joints, people, trials))
    require_network(name, AnnotatorKind.ONNX)
    side = options.side if isinstance(options, OnnxOptions) else None
    size = side or _TRIED_SIDE, side or _TRIED_SIDE
    return ReadNetworks(AnnotatorKind.ONNX, partial(_loaded_onnx, OnnxFile(files[0]), size, trials))


def _loaded(annotator: Annotator, compiler: Compiler, cancel: Cancellation) -> MapNetwork:
    return load_annotator(annotator, compiler, cancel)


def _loaded_onnx(
    file: OnnxFile,
    size: tuple[int, int],
    trials: OnnxTrials,
    compiler: Compiler,
    cancel: Cancellation,
) -> LoadedOnnx:
    trials.require_harmless(file, *file.size(*size), cancel)
    return LoadedOnnx(file, compiler, cancel, trials.require_harmless)


def _loaded_poses(
    joints: OnnxFile,
    people: OnnxFile,
    trials: OnnxTrials,
    compiler: Compiler,
    cancel: Cancellation,
) -> PoseNetworks:
    first = _loaded_onnx(joints, JOINTS_SIZE, trials, compiler, cancel)
    try:
        return PoseNetworks(_loaded_onnx(people, PEOPLE_SIZE, trials, compiler, cancel), first)
    except EngineError:
        first.close()
        raise


def _both(files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return both files of poses. Raises EngineError(REQUEST_INVALID) if one is missing."""
    if len(files) == 1:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence("{path} needs a second file beside it.", path=files[0].name),
            sentence(
                "Its usual name is {files}.",
                files=PREPROCESSORS[PreprocessorName.DW_OPENPOSE].beside,
            ),
        )
    return files
