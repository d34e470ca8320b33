"""The upscalers of second passes: named ones are found in the user's folders."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.api.record import ResolvedRequest
from engine.api.second_passes import SecondPass, needs_file
from engine.file_paths import exists
from engine.upscalers.finding import find_by_name, unknown_upscaler


def with_upscalers(request: ResolvedRequest, folders: Sequence[Path]) -> ResolvedRequest:
    """Return the request with the paths of upscalers that it names, as imported metadata does."""
    return msgspec.structs.replace(
        request, second_passes=tuple(_found(second, folders) for second in request.second_passes)
    )


def _found(wanted: SecondPass, folders: Sequence[Path]) -> SecondPass:
    if not needs_file(wanted) or Path(wanted.upscaler).is_absolute():
        return wanted
    path = find_by_name(wanted.upscaler, folders)
    return wanted if path is None else msgspec.structs.replace(wanted, upscaler=str(path))


def require_upscaler(named: str) -> Path:
    """Return the path of an upscaler's file. Raises EngineError where there is none.

    Only a whole path is one: a name that was not found is never looked for elsewhere.
    """
    if Path(named).is_absolute() and exists(named):
        return Path(named)
    raise unknown_upscaler(named)
