"""Summaries of the settings that differ from the defaults, for the folded parts of the form."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Formatter
from typing import cast

import msgspec
from PySide6.QtCore import QCoreApplication, QLocale

from app.form.generation import OPTIONS, GenerationState
from app.form.options import GROUPS, OptionGroup
from app.form.used_options import options_left_out, used_options
from app.library.checkpoint_declarations import NO_DECLARATION
from engine.api.fields import RequestField, fields_of
from engine.api.methods import sampler_options_of, schedule_options_of
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName
from ui.checkpoint_labels import part_label
from ui.labels import short_number, size_label, steps_label
from ui.method_labels import method_name, tool_label
from ui.option_labels import option_name

translate = QCoreApplication.translate

# What has a card of its own in the form, and a line of its own in a picture's details.
_BESIDE = ("second_passes",)
_SUMMARISED = tuple(name for name in OPTIONS if name not in _BESIDE)
_METHODS = ("sampler", "schedule")
_NAMED = frozenset(option for options in GROUPS.values() for option in options)
_LIMITS = ("memory_limit_bytes", "device_memory_limit_bytes")
_MACHINE = ("backend", "precision", *_LIMITS, "lora_mode")


def advanced_summary(form: GenerationState) -> str:
    """Return a summary of all advanced settings that differ from the defaults; empty if none."""
    fields = _fields((*_SUMMARISED, *_MACHINE))
    options = _in_force(form)
    parts = [*_method(form, options), *_summaries(options, fields), *_declared(form)]
    return " · ".join(parts)


def left_out_summary(form: GenerationState) -> str:
    """Return a summary of the options that the chosen checkpoint lacks; empty if none is set."""
    left_out = GenerateRequest(prompt="", **options_left_out(form))
    return " · ".join([*_methods(left_out), *_summaries(left_out, _fields(_SUMMARISED))])


def options_summary(request: GenerateRequest) -> str:
    """Return all of a request's options that differ from the defaults; empty if none does."""
    return " · ".join(_all_options(request, _fields(_SUMMARISED)))


def group_summary(form: GenerationState, group: OptionGroup) -> str:
    """Return a summary of a group's options that differ from the defaults; empty if none."""
    names = dict.fromkeys(option.partition(".")[0] for option in GROUPS[group])
    if group is OptionGroup.MACHINE:
        names = dict.fromkeys((*_MACHINE, *names))
    return " · ".join(_summaries(_in_force(form), _fields(names)))


def declared_summary(form: GenerationState, parts: Iterable[str]) -> str:
    """Return the files of some parts, and whether the checkpoint's kind was declared."""
    given = {part: getattr(form.components, part) for part in parts}
    files = [f"{part_label(part)} {Path(file).name}" for part, file in given.items() if file]
    return " · ".join([*files, *_declared(form)])


def _in_force(form: GenerationState) -> GenerateRequest:
    """Return the form's options without those that the method or the checkpoint does not read."""
    effective = form.effective
    fields = fields_of(GenerateRequest)
    names = (*_METHODS, *OPTIONS, *_MACHINE)
    values = {name: getattr(form, name) for name in names if name in fields}
    values |= used_options(form)
    values["sampler_options"] = sampler_options_of(effective.sampler, form.sampler_options)
    values["schedule_options"] = schedule_options_of(effective.schedule, form.schedule_options)
    return GenerateRequest(prompt="", **values)


def _fields(names: Iterable[str]) -> list[RequestField]:
    fields = fields_of(GenerateRequest)
    return [fields[name] for name in names]


def _method(form: GenerationState, options: GenerateRequest) -> Iterator[str]:
    if form.steps is not None:
        yield steps_label(form.steps)
    if form.guidance is not None:
        yield translate("labels", "guidance {n}").format(n=short_number(form.guidance, 1))
    yield from _methods(options)
    if form.convention is not ConventionName.A1111:
        yield translate("labels", "as {tool}").format(tool=tool_label(form.convention))


def _methods(options: GenerateRequest) -> Iterator[str]:
    return (method_name(way) for way in (options.sampler, options.schedule) if way is not None)


def _declared(form: GenerationState) -> Iterator[str]:
    declared = msgspec.structs.replace(form.declaration, components=NO_DECLARATION.components)
    if declared != NO_DECLARATION:
        yield translate("labels", "kind of the model stated")


def _summaries(value: object, fields: Iterable[RequestField]) -> Iterator[str]:
    """Yield the filled-in `summary` template of each field whose value is not its default."""
    for field in fields:
        part = getattr(value, field.name)
        # False in place of None (the checkpoint decides) is not worth a word.
        if part == field.default or (part is False and field.default is None):
            continue
        if field.summary:
            yield _summary(value, field)
        elif isinstance(part, msgspec.Struct):
            yield from _summaries(part, fields_of(type(part)).values())


def _all_options(value: object, fields: Iterable[RequestField], group: str = "") -> Iterator[str]:
    """Yield each value that is not its default: its summary, or the name of its row with it."""
    for field in fields:
        part = getattr(value, field.name)
        if part == field.default or (part is False and field.default is None):
            continue
        option = f"{group}{field.name}"
        if isinstance(part, msgspec.Struct):
            yield from _all_options(part, fields_of(type(part)).values(), f"{option}.")
        elif field.summary:
            yield _summary(value, field)
        elif option in _NAMED:
            yield f"{option_name(option)} {_shown(part)}"


def _summary(value: object, field: RequestField) -> str:
    names = [name for _, name, _, _ in Formatter().parse(field.summary) if name]
    shown = {name: _shown(getattr(value, name)) for name in names}
    return translate("labels", field.summary).format(**shown)


def _shown(value: object) -> str:
    """Return a value's text in a summary: the name of a file, a pair as a size or a range."""
    match value:
        case str():
            return Path(value).name
        case float():
            return short_number(value, 4)
        case (int() as width, int() as height):
            return size_label(width, height)
        case (float() as start, float() as end):
            return f"{QLocale().toString(start, 'g', 3)}–{QLocale().toString(end, 'g', 3)}"  # noqa: RUF001
        case tuple():
            return ", ".join(map(str, cast("tuple[object, ...]", value)))
        case _:
            return str(value)
