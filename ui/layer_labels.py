"""Words about control layers and image prompts in the user's language."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.form.layer_kinds import CONTROL_LAYERS, LayerKind, file_name
from app.form.layer_list import LayerFate, LayerRow
from app.notices.wording import worded
from app.session import Session
from engine.api.control import ControlMode, ControlResize
from engine.api.fields import RequestField
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    PictureCombination,
)
from engine.api.model_files import ModelInfo, ModelKind
from engine.api.preprocessors import PREPROCESSORS, ControlKind, PreprocessorName
from engine.api.weight_suffixes import weights_name
from ui.method_labels import QT_TRANSLATE_NOOP

translate = QCoreApplication.translate

_CONTEXT = "layers"
# The names of weights in diffusers' folders, which tell nothing.
_OF_FOLDERS = ("diffusion_pytorch_model", "pytorch_model", "model")
_OPTIONS = {
    "resolution": (
        QT_TRANSLATE_NOOP("layers", "Resolution"),
        QT_TRANSLATE_NOOP("layers", "Pixels of the map's shorter side."),
    ),
    "low": (
        QT_TRANSLATE_NOOP("layers", "Weak edges from"),
        QT_TRANSLATE_NOOP("layers", "Weaker edges are left out; lower shows more of them."),
    ),
    "high": (
        QT_TRANSLATE_NOOP("layers", "Strong edges from"),
        QT_TRANSLATE_NOOP("layers", "Edges begin where they are as strong as this."),
    ),
    "threshold": (
        QT_TRANSLATE_NOOP("layers", "Threshold"),
        QT_TRANSLATE_NOOP("layers", "The level that divides white from black."),
    ),
    "sigma": (
        QT_TRANSLATE_NOOP("layers", "Blur"),
        QT_TRANSLATE_NOOP("layers", "The radius of the blur in pixels of the map."),
    ),
    "down_sampling_rate": (
        QT_TRANSLATE_NOOP("layers", "Made smaller by"),
        QT_TRANSLATE_NOOP("layers", "The more, the freer the details are."),
    ),
    "seed": (
        QT_TRANSLATE_NOOP("layers", "Seed"),
        QT_TRANSLATE_NOOP("layers", "Another number pulls the picture about in another way."),
    ),
    "gamma": (
        QT_TRANSLATE_NOOP("layers", "Gamma"),
        QT_TRANSLATE_NOOP("layers", "Above 1 the map is darker, below 1 it is lighter."),
    ),
    "safe": (
        QT_TRANSLATE_NOOP("layers", "Coarse edges"),
        QT_TRANSLATE_NOOP("layers", "Edges of three levels, which hide less of the picture."),
    ),
    "background": (
        QT_TRANSLATE_NOOP("layers", "Background"),
        QT_TRANSLATE_NOOP("layers", "Farther than this part of the depth, surfaces face you."),
    ),
    "depth": (
        QT_TRANSLATE_NOOP("layers", "Depth"),
        QT_TRANSLATE_NOOP("layers", "The more, the steeper surfaces are."),
    ),
    "layout": (
        QT_TRANSLATE_NOOP("layers", "Colours of directions"),
        QT_TRANSLATE_NOOP("layers", "The network must have been trained on them."),
    ),
    "body": (
        QT_TRANSLATE_NOOP("layers", "Bodies"),
        QT_TRANSLATE_NOOP("layers", "Draw bodies."),
    ),
    "hands": (
        QT_TRANSLATE_NOOP("layers", "Hands"),
        QT_TRANSLATE_NOOP("layers", "Draw hands."),
    ),
    "face": (
        QT_TRANSLATE_NOOP("layers", "Faces"),
        QT_TRANSLATE_NOOP("layers", "Draw faces."),
    ),
    "style_fidelity": (
        QT_TRANSLATE_NOOP("layers", "Style fidelity"),
        QT_TRANSLATE_NOOP("layers", "The more, the closer the style is to the reference's."),
    ),
    "pixels": (
        QT_TRANSLATE_NOOP("layers", "Numbers that go in"),
        QT_TRANSLATE_NOOP("layers", "The numbers that the network takes for a picture."),
    ),
    "values": (
        QT_TRANSLATE_NOOP("layers", "Numbers that come out"),
        QT_TRANSLATE_NOOP("layers", "The map that its numbers become."),
    ),
    "side": (
        QT_TRANSLATE_NOOP("layers", "Side that it sees"),
        QT_TRANSLATE_NOOP("layers", "Pixels of the square that the network sees."),
    ),
    "invert": (
        QT_TRANSLATE_NOOP("layers", "Inverted"),
        QT_TRANSLATE_NOOP("layers", "Black becomes white."),
    ),
}


def map_option_words(field: RequestField) -> tuple[str, str]:
    """Return the name of a preprocessor's option, and a sentence about it."""
    words = _OPTIONS.get(field.name)
    if words is None:
        name = field.name.replace("_", " ")
        return name[:1].upper() + name[1:], ""
    return translate(_CONTEXT, str(words[0])), translate(_CONTEXT, str(words[1]))


def preprocessor_title(name: PreprocessorName | None) -> str:
    """Return the name of a preprocessor; None is none."""
    if name is None:
        return translate("layers", "None")
    return worded(PREPROCESSORS[name].title)


def preprocessor_about(name: PreprocessorName | None) -> str:
    """Return a sentence about a preprocessor, and the file that it needs."""
    if name is None:
        return translate("layers", "The picture is a map already, and is followed as it is.")
    found = PREPROCESSORS[name]
    about = worded(found.about)
    if not found.files:
        return about
    needs = translate("layers", "Needs {file}.").format(file=found.files[0])
    return f"{about} {needs}"


def put_weights_words(folder: Path) -> str:
    """Return where the missing file of a preprocessor may be put."""
    return translate("layers", "Put it anywhere into {folder}, or choose it.").format(folder=folder)


def control_kind_name(kind: ControlKind | None) -> str:
    """Return the name of a kind of map; None is told by the network or the preprocessor."""
    return {
        None: translate("layers", "Automatic"),
        ControlKind.CANNY: translate("layers", "Canny edges"),
        ControlKind.DEPTH: translate("layers", "Depth"),
        ControlKind.SOFTEDGE: translate("layers", "Soft edges"),
        ControlKind.LINEART: translate("layers", "Line drawing"),
        ControlKind.SCRIBBLE: translate("layers", "Scribble"),
        ControlKind.POSE: translate("layers", "Pose"),
        ControlKind.NORMAL: translate("layers", "Surface normals"),
        ControlKind.SEG: translate("layers", "Segmentation"),
        ControlKind.TILE: translate("layers", "Tile"),
        ControlKind.SHUFFLE: translate("layers", "Shuffled content"),
        ControlKind.COLOR: translate("layers", "Colours"),
        ControlKind.RECOLOR: translate("layers", "Recolouring"),
        ControlKind.INPAINT: translate("layers", "Inpainting"),
        ControlKind.REFERENCE: translate("layers", "Reference"),
    }[kind]


def mode_words(mode: ControlMode) -> tuple[str, str]:
    """Return the name of a control mode, and a sentence about it."""
    return {
        ControlMode.BALANCED: (
            translate("layers", "Balanced"),
            translate("layers", "Prompt and map count alike."),
        ),
        ControlMode.PROMPT: (
            translate("layers", "The prompt is more important"),
            translate("layers", "The map gives way where the prompt wants something else."),
        ),
        ControlMode.CONTROL: (
            translate("layers", "The map is more important"),
            translate("layers", "The map is kept to even where the prompt wants otherwise."),
        ),
    }[mode]


def resize_words(resize: ControlResize) -> tuple[str, str]:
    """Return the name of a resize mode, and a sentence about it."""
    return {
        ControlResize.STRETCH: (
            translate("layers", "Stretch"),
            translate("layers", "The whole map, stretched into the picture's shape."),
        ),
        ControlResize.CROP: (
            translate("layers", "Crop"),
            translate("layers", "The map fills the picture; what is beyond its sides is cut off."),
        ),
        ControlResize.FILL: (
            translate("layers", "Fit"),
            translate("layers", "The whole map within the picture, with borders around it."),
        ),
    }[resize]


def blocks_words(blocks: AdapterBlocks) -> tuple[str, str]:
    """Return the name of a choice of blocks, and a sentence about it."""
    named = {
        AdapterBlocks.ALL: (
            translate("layers", "All of it"),
            translate("layers", "Content, style and composition of the picture."),
        ),
        AdapterBlocks.STYLE: (
            translate("layers", "Style only"),
            translate("layers", "Colours and manner, not what is in the picture."),
        ),
        AdapterBlocks.COMPOSITION: (
            translate("layers", "Composition only"),
            translate("layers", "The places of things, not how they are painted."),
        ),
        AdapterBlocks.STYLE_AND_COMPOSITION: (
            translate("layers", "Style and composition"),
            translate("layers", "Manner and places, without the other content."),
        ),
        AdapterBlocks.STYLE_PRECISE: (
            translate("layers", "Style, not composition"),
            translate("layers", "Takes the style, and leads away from the composition."),
        ),
        AdapterBlocks.COMPOSITION_PRECISE: (
            translate("layers", "Composition, not style"),
            translate("layers", "Takes the composition, and leads away from the style."),
        ),
        AdapterBlocks.STRONG_STYLE: (
            translate("layers", "Strong style"),
            translate("layers", "Everything but the places of things."),
        ),
    }
    return named.get(blocks) or _weighted_words(blocks)


def scaling_words(scaling: AdapterScaling) -> tuple[str, str]:
    """Return the name of what a weight multiplies, and a sentence about it."""
    return {
        AdapterScaling.VALUES: (
            translate("layers", "What it adds"),
            translate("layers", "As in every other tool: half the weight adds half as much."),
        ),
        AdapterScaling.KEYS_AND_VALUES: (
            translate("layers", "Attention, too"),
            translate("layers", "The model also looks more at the picture, or less: K+V."),
        ),
        AdapterScaling.KEYS_AND_VALUES_BY_WIDTH: (
            translate("layers", "Attention, less in fine layers"),
            translate("layers", "Weaker where the model works on details: K+V with a penalty."),
        ),
        AdapterScaling.KEYS_AND_MEAN_BY_WIDTH: (
            translate("layers", "Attention and the mean"),
            translate("layers", "Differences within the picture stay: K+mean(V) with a penalty."),
        ),
    }[scaling]


def combination_words(way: PictureCombination) -> tuple[str, str]:
    """Return the name of a way to join pictures, and a sentence about it."""
    return {
        PictureCombination.CONCAT: (
            translate("layers", "Side by side"),
            translate("layers", "The model looks at all of them together."),
        ),
        PictureCombination.ADD: (
            translate("layers", "Sum"),
            translate("layers", "What is in any of them, stronger where they agree."),
        ),
        PictureCombination.SUBTRACT: (
            translate("layers", "Difference"),
            translate("layers", "The first without what is in the others."),
        ),
        PictureCombination.AVERAGE: (
            translate("layers", "Average"),
            translate("layers", "What they have in common."),
        ),
        PictureCombination.NORM_AVERAGE: (
            translate("layers", "Even average"),
            translate("layers", "The average in which no picture outweighs another."),
        ),
    }[way]


def _weighted_words(blocks: AdapterBlocks) -> tuple[str, str]:
    """Return the words of a choice by which the weight differs from block to block."""
    return {
        AdapterBlocks.EASE_IN: (
            translate("layers", "Fading"),
            translate("layers", "Most in the first blocks of the model, hardly in the last."),
        ),
        AdapterBlocks.EASE_OUT: (
            translate("layers", "Growing"),
            translate("layers", "Hardly in the first blocks of the model, most in the last."),
        ),
        AdapterBlocks.EASE_IN_OUT: (
            translate("layers", "Growing and fading"),
            translate("layers", "Most in the middle blocks of the model."),
        ),
        AdapterBlocks.REVERSE_IN_OUT: (
            translate("layers", "Fading and growing"),
            translate("layers", "Most in the first and the last blocks of the model."),
        ),
        AdapterBlocks.WEAK_INPUT: (
            translate("layers", "Weak beginning"),
            translate("layers", "A fifth of the weight before the model's middle."),
        ),
        AdapterBlocks.WEAK_MIDDLE: (
            translate("layers", "Weak middle"),
            translate("layers", "A fifth of the weight in the model's middle."),
        ),
        AdapterBlocks.WEAK_OUTPUT: (
            translate("layers", "Weak end"),
            translate("layers", "A fifth of the weight after the model's middle."),
        ),
        AdapterBlocks.STRONG_MIDDLE: (
            translate("layers", "Strong middle"),
            translate("layers", "A fifth of the weight outside the model's middle."),
        ),
    }[blocks]


def layer_name(kind: LayerKind, row: LayerRow) -> str:
    """Return the name of a layer: that of its file, or of its picture while no file is chosen."""
    stated = kind.file_of(row.layer)
    if row.info is not None:
        return file_title(row.info)
    if stated is not None:
        return weights_name(file_name(stated))
    return Path(row.layer.image).name or translate("layers", "No picture yet")


def file_title(info: ModelInfo) -> str:
    """Return the name of a file without its folder; in a diffusers folder, that of the folder."""
    folder, _, name = info.name.rpartition("/")
    return folder.rpartition("/")[2] if folder and name.partition(".")[0] in _OF_FOLDERS else name


def misfit_words(info: ModelInfo, families: str, own: str) -> str:
    """Return why a file does not suit the checkpoint; `own` is the title of its family."""
    if info.problem:
        return worded(info.problem)
    text = translate("layers", "It is for {families}; the model is {own}.")
    return text.format(families=families, own=own)


def fate_words(kind: LayerKind, row: LayerRow, misfit: str) -> str:
    """Return why a layer has no effect, or empty; `misfit` says why its file does not suit."""
    is_control = kind is CONTROL_LAYERS
    match row.fate:
        case LayerFate.OFF:
            return translate("layers", "Switched off.")
        case LayerFate.UNTAKEN if is_control:
            return translate("layers", "Left out: there are no control networks for this model.")
        case LayerFate.UNTAKEN:
            return translate("layers", "Left out: there are no IP-Adapters for this model.")
        case LayerFate.BARE:
            return translate("layers", "Without effect until a picture is chosen.")
        case LayerFate.UNCHOSEN if is_control:
            return translate("layers", "Not followed until a control network is chosen.")
        case LayerFate.UNCHOSEN:
            return translate("layers", "Without effect until an IP-Adapter is chosen.")
        case LayerFate.UNSUITED | LayerFate.BROKEN:
            return translate("layers", "Left out: {reason}").format(reason=misfit)
        case LayerFate.MISSING:
            return translate("layers", "Left out: its file is not in your folders.")
        case _:
            return ""


def no_files_words(kind: LayerKind, folder: Path) -> str:
    """Return what to do where the user's folders have no file of a kind."""
    if kind is CONTROL_LAYERS:
        text = translate("layers", "Your folders have no control network. Put some into {folder}.")
    else:
        text = translate("layers", "Your folders have no IP-Adapter. Put some into {folder}.")
    return text.format(folder=folder)


def encoder_words(session: Session, layer: ImagePrompt) -> str:
    """Return what to do where no vision encoder is found; empty where there is one."""
    store = session.models.store
    found = any(
        model.kind is ModelKind.VISION_ENCODER and not model.problem for model in store.models
    )
    if layer.encoder is not None or found or not store.is_listed:
        return ""
    text = translate(
        "layers",
        "IP-Adapters need a CLIP vision encoder, and your folders have none. Put it into {folder}.",
    )
    return text.format(folder=session.checkpoints.models / "clip_vision")
