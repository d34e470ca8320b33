"""The layers of the form that the next picture is made with."""

from collections.abc import Iterable, Mapping

from app.form.layer_kinds import MODEL_ITSELF, Layer, LayerKind


def used_layers(
    kind: LayerKind, layers: Iterable[Layer], files: Mapping[str, str | None]
) -> tuple[Layer, ...]:
    """Return the layers with a picture that are switched on, each with the file used for it.

    `files` are the files by what layers state, None for those that cannot be used; what it does not
    have is used as it is stated. They have `MODEL_ITSELF` where layers without a file are followed.
    """
    used: list[Layer] = []
    for layer in layers:
        stated = kind.file_of(layer)
        found = files.get(MODEL_ITSELF if stated is None else stated, stated)
        if stated is None and found is not None and layer.enabled and layer.image:
            used.append(layer)
            continue
        if layer.enabled and layer.image and found is not None:
            used.append(layer if found == stated else kind.with_file(layer, found))
    return tuple(used)
