"""The files that a request's layers, image prompts and second passes name, as they are now."""

from functools import partial
from pathlib import Path

import msgspec

from engine.api.control import ControlLayer
from engine.api.image_prompts import ImagePrompt
from engine.api.preprocessors import name_of
from engine.api.request import GenerateRequest
from engine.api.second_passes import SecondPass, needs_file
from engine.api.sentences import Sentence, joined, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.files import read_index
from engine.control.reading import read_control_network
from engine.errors import EngineError
from engine.file_paths import exists
from engine.image_prompts.adapters import read_adapter
from engine.pipeline.network_lookup import (
    Accepts,
    NetworkLookup,
    WantedNetwork,
    accept_any,
    looked_for,
)
from engine.preprocessors.finding import find_weights


def with_networks(
    request: GenerateRequest, lookup: NetworkLookup, read: ReadIndex = read_index
) -> GenerateRequest:
    """Return the request with the paths of the files that its layers and passes name.

    Names that are not found stay: what they are for is left out, with a warning. Raises
    EngineError(CHECKPOINT_NOT_FOUND) for a path where there is no file any more, whose content no
    other file has either.
    """
    finder = _Finder(lookup, read)
    return msgspec.structs.replace(
        request,
        controls=tuple(map(finder.layer, request.controls)),
        image_prompts=tuple(map(finder.image_prompt, request.image_prompts)),
        second_passes=tuple(map(finder.second_pass, request.second_passes)),
    )


class _Finder:
    def __init__(self, lookup: NetworkLookup, read: ReadIndex) -> None:
        self._lookup = lookup
        self._is_control: Accepts = partial(read_control_network, read=read)
        self._is_adapter: Accepts = partial(read_adapter, read=read)

    def layer(self, layer: ControlLayer) -> ControlLayer:
        """Return a layer that is on with its network, and with weights that have a usual name.

        A reference has no network, also where one is named, as in sd-webui-controlnet.
        """
        if not layer.enabled:
            return layer
        if layer.is_reference:
            return msgspec.structs.replace(layer, network=None, hash=None, digest=None)
        network = layer.network
        if network is not None or layer.hash is not None:
            wanted = WantedNetwork(network or "", layer.hash, layer.digest)
            what = sentence("The control network {name} was not found.", name=_bare(network))
            network = self._path(wanted, what, self._is_control) or network
        return msgspec.structs.replace(
            layer,
            network=network,
            digest=None,
            preprocessor_weights=self._weights(layer),
            preprocessor_digest=None,
        )

    def image_prompt(self, prompt: ImagePrompt) -> ImagePrompt:
        """Return an image prompt that is on with its adapter; another encoder will do."""
        if not prompt.enabled:
            return prompt
        adapter, encoder = prompt.adapter, prompt.encoder
        if adapter is not None or prompt.hash is not None:
            wanted = WantedNetwork(adapter or "", prompt.hash, prompt.digest)
            what = sentence("The image prompt adapter {name} was not found.", name=_bare(adapter))
            adapter = self._path(wanted, what, self._is_adapter) or adapter
        if encoder is not None and not exists(encoder):
            found = self._lookup.find(WantedNetwork(encoder, digest=prompt.encoder_digest))
            encoder = str(found) if found is not None else None
        return msgspec.structs.replace(
            prompt, adapter=adapter, digest=None, encoder=encoder, encoder_digest=None
        )

    def second_pass(self, second: SecondPass) -> SecondPass:
        """Return a second pass with its upscaler and its checkpoint.

        An upscaler's name is looked for in the folders of upscalers, once the request is resolved.
        """
        upscaler, checkpoint = second.upscaler, second.checkpoint
        if needs_file(second) and Path(upscaler).is_absolute():
            what = sentence("The upscaler {name} was not found.", name=_bare(upscaler))
            wanted = WantedNetwork(upscaler, digest=second.upscaler_digest)
            upscaler = self._path(wanted, what) or upscaler
        if checkpoint is not None:
            what = sentence(
                "The model {name} of a second pass was not found.", name=_bare(checkpoint)
            )
            wanted = WantedNetwork(checkpoint, digest=second.checkpoint_digest)
            checkpoint = self._path(wanted, what) or checkpoint
        return msgspec.structs.replace(
            second,
            upscaler=upscaler,
            upscaler_digest=None,
            checkpoint=checkpoint,
            checkpoint_digest=None,
        )

    def _weights(self, layer: ControlLayer) -> str | None:
        stated = layer.preprocessor_weights
        if layer.preprocessor is None:
            return stated
        name = name_of(layer.preprocessor)
        if stated is None:
            usual = find_weights(name, self._lookup.folders)
            return str(usual) if usual is not None else None
        what = sentence("The weights {name} of a preprocessor were not found.", name=_bare(stated))
        wanted = WantedNetwork(stated, digest=layer.preprocessor_digest)
        return self._path(wanted, what) or stated

    def _path(
        self, wanted: WantedNetwork, what: Sentence, accepts: Accepts = accept_any
    ) -> str | None:
        found = self._lookup.find(wanted, accepts)
        if found is not None:
            return str(found)
        if not wanted.is_path:
            return None
        hints = [sentence("There is nothing at {path} any more.", path=wanted.stated)]
        if wanted.digest:
            hints.append(sentence("No file in the folders of models has its content, either."))
        hints += looked_for(None, wanted.digits)
        hints.append(sentence("Choose its file, or put it back."))
        raise EngineError(ErrorCode.CHECKPOINT_NOT_FOUND, what, joined(hints, " "))


def _bare(stated: str | None) -> str:
    return (stated or "").replace("\\", "/").rpartition("/")[2]
