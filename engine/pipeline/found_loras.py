"""The LoRAs of a picture as files: those in its request's list, and those in its prompt."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PureWindowsPath

import msgspec

from engine.api.lora import LoraChoice
from engine.api.record import ResolvedRequest
from engine.api.remedies import NameLoraFolder
from engine.api.sentences import NO_WORDS, Sentence, joined, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.lora.folder import FoundFile, LoraLookup
from engine.text.idle_tags import idle_remarks
from engine.text.lora_presets import own_presets
from engine.text.lora_strengths import RunLength
from engine.text.lora_tags import LoraUse, lora_tags

_MOST_CHARACTERS = 80
# The most tags that are words which warnings name.
_MOST_IDLE = 20


class NamedLora(msgspec.Struct, frozen=True):
    """A LoRA that a request or a prompt names, its strengths, and its file; None: not found."""

    use: LoraUse
    path: Path | None = None

    @property
    def acts(self) -> bool:
        """True unless it was not found, or all its strengths are 0."""
        strong = any(self.use.strengths) or self.use.text_strength != 0
        return strong and self.path is not None


def find_loras(
    request: ResolvedRequest, run: RunLength, lookup: LoraLookup
) -> tuple[tuple[NamedLora, ...], tuple[ErrorInfo, ...]]:
    """Return the LoRAs of a picture's request, and warnings about those that are left out.

    Those of the list come first, then those of the prompt. Raises EngineError(REQUEST_INVALID) for
    a prompt that the tool refuses, or that names too many.
    """
    presets = own_presets(lookup.preset_texts.weights, lookup.preset_texts.elements)
    tags = lora_tags(request.prompt, request.convention, run, presets, _seed(request))
    hashes = {_plain(lora.name): lora.hash for lora in request.lora_hashes}
    named: list[NamedLora] = []
    idle = idle_remarks(request.prompt, request.negative_prompt, request.convention)
    warnings = [_warning(*remark) for remark in (*tags.remarks, *islice(idle, _MOST_IDLE))]

    def add(use: LoraUse, file: FoundFile | None, digits: str | None) -> None:
        named.append(NamedLora(use, file and file.path))
        if file is None:
            warnings.append(_missing(use.name, digits, lookup))
        else:
            warnings.extend(doubts(use.name, file))

    for choice in request.loras:
        if choice.enabled:
            add(use_of(choice), lookup.find(choice.file, choice.hash), choice.hash)
    for use in tags.uses:
        digits = hashes.get(_plain(use.name))
        add(use, lookup.find_named(use.name, digits), digits)
    return tuple(named), tuple(dict.fromkeys(warnings))


def with_paths(request: ResolvedRequest, lookup: LoraLookup) -> ResolvedRequest:
    """Return the request with the paths of the LoRAs in its list; names that are not found stay."""
    loras = tuple(_with_path(choice, lookup) for choice in request.loras)
    return msgspec.structs.replace(request, loras=loras)


def shared_names(request: ResolvedRequest, lookup: LoraLookup) -> tuple[ErrorInfo, ...]:
    """Return warnings about names in a request's list that several files have.

    They are lost once the names have become paths.
    """
    named = (
        (choice.file, lookup.find(choice.file, choice.hash))
        for choice in request.loras
        if choice.enabled
    )
    return tuple(_shared(name, file) for name, file in named if file is not None and file.others)


def _seed(request: ResolvedRequest) -> int:
    """Return a seed that differs between the pictures of a batch, as their noise does."""
    seeds = request.seed_options
    return request.seed + (seeds.variation_seed or 0) + seeds.batch_index


def _with_path(choice: LoraChoice, lookup: LoraLookup) -> LoraChoice:
    file = lookup.find(choice.file, choice.hash)
    return choice if file is None else msgspec.structs.replace(choice, file=str(file.path))


def use_of(choice: LoraChoice) -> LoraUse:
    """Return the strengths of a LoRA in a request's list."""
    strength, text = choice.strengths
    return LoraUse(choice.file, (strength,), text)


def _plain(name: str) -> str:
    """Return a name as A1111 writes it beside a hash."""
    return name.replace(":", "").replace(",", "").strip()


def _missing(name: str, digits: str | None, lookup: LoraLookup) -> ErrorInfo:
    first = next(iter(lookup.folders), None)
    hints = [
        sentence("Put its file into {folder}.", folder=first)
        if first
        else sentence("Put its file into a folder loras in the folder of models.")
    ]
    if digits:
        hash_ = digits[:_MOST_CHARACTERS]
        hints.append(sentence("Civitai finds it by the hash {hash}.", hash=hash_))
        if lookup.unhashed:
            hints.append(
                sentence(
                    "{count} of the files there are not hashed yet, and one may be it.",
                    count=lookup.unhashed,
                )
            )
    # Of a path the folder may be another machine's.
    path = PureWindowsPath(name.replace("/", "\\"))
    shown = (path.name if path.anchor else name)[:_MOST_CHARACTERS]
    return ErrorInfo(
        ErrorCode.LORA_NOT_FOUND,
        sentence("The LoRA {shown} was not found; the picture was made without it.", shown=shown),
        joined(hints, " "),
        remedies=(NameLoraFolder(),),
    )


def doubts(name: str, file: FoundFile) -> Iterator[ErrorInfo]:
    """Yield warnings about a file that was found by a name: another hash, others of that name."""
    shown = name[:_MOST_CHARACTERS]
    if file.hashed:
        yield _warning(
            sentence("{path} was found by its hash, not by its name.", path=file.path),
            sentence(
                "{hashed} files were hashed for this, which is done once for each file.",
                hashed=file.hashed,
            ),
        )
    if file.differs:
        yield _warning(
            sentence(
                "The LoRA {shown} has another hash than the one that was asked for.", shown=shown
            ),
            sentence("{path} is used, so the picture may become another one.", path=file.path),
        )
    if file.others:
        yield _shared(name, file)


def _shared(name: str, file: FoundFile) -> ErrorInfo:
    others, shown = len(file.others), name[:_MOST_CHARACTERS]
    more = sentence(" and {count} more", count=others - 1) if others > 1 else NO_WORDS
    return _warning(
        sentence(
            "Several files are called {shown}: {path} is used, not {others}{more}.",
            shown=shown,
            path=file.path,
            others=file.others[0],
            more=more,
        ),
        sentence("Name it by its folder, too, as in folder/name, to choose another one."),
    )


def _warning(message: Sentence, hint: Sentence = NO_WORDS) -> ErrorInfo:
    return ErrorInfo(ErrorCode.LORA_REMARK, message, hint)
