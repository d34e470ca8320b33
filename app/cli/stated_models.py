"""The models and VAEs that other tools' pictures name, among the user's files."""

import re
from pathlib import Path

import msgspec

from app.library.checkpoints import list_checkpoints, only_called
from app.library.named_vaes import find_vae
from app.model_folders import named_folders
from app.paths import find_paths, starter_checkpoint
from engine.metadata.readers import ImportedRequest
from engine.metadata.readers.imported import (
    drawn_again_with,
    made_with_checkpoint,
    made_with_vae,
)

# What AUTOMATIC1111 adds to the name of a second pass' model.
_HASH = re.compile(r" \[[^\[\]]*\]$")


def with_stated_models(source: ImportedRequest, *, first: bool) -> ImportedRequest:
    """Return a picture's request with the models that its tool names, without the notes on these.

    A name means the only model of that name, in whichever folder; it is never used as a path.
    `first`: the model of the picture itself is wanted, too, not only that of its second pass, and
    with it the VAE.
    """
    request = source.request
    model = source.model if first and request.checkpoint is None else ""
    again = source.model_of_pass if request.second_passes else ""
    found, vae = _called({model, again} - {""}), None
    if model in found:
        request = msgspec.structs.replace(request, checkpoint=str(found[model]))
    if source.vae and first and request.checkpoint is not None:
        paths = find_paths()
        vae = find_vae(source.vae, paths.models, named_folders(paths))
    if vae is not None:
        parts = msgspec.structs.replace(request.components, vae=str(vae))
        request = msgspec.structs.replace(request, components=parts)
    if again in found:
        begun, *others = request.second_passes
        begun = msgspec.structs.replace(begun, checkpoint=str(found[again]))
        request = msgspec.structs.replace(request, second_passes=(begun, *others))
    done = {made_with_checkpoint(model) if model in found else ""}
    done |= {drawn_again_with(again) if again in found else ""}
    done |= {made_with_vae(source.vae) if vae is not None else ""}
    warnings = tuple(warning for warning in source.warnings if warning not in done)
    return msgspec.structs.replace(source, request=request, warnings=warnings)


def _called(names: set[str]) -> dict[str, Path]:
    """Return the models of these names, of those that only one is called; looks at no content."""
    if not names:
        return {}
    paths = find_paths()
    listed = list_checkpoints(paths.models, starter_checkpoint(), named_folders(paths))
    found = {name: only_called(_HASH.sub("", name), listed) for name in names}
    return {name: path for name, path in found.items() if path is not None}
