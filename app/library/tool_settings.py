"""Reads the folders of models that other programs' own settings name; no program is started.

Each program keeps them in a way of its own: ComfyUI in `extra_model_paths.yaml`, A1111 and its
relatives as arguments in the file that starts them, SD.Next, Fooocus and Stability Matrix as JSON,
SwarmUI in `Settings.fds`, InvokeAI in `invokeai.yaml`. What cannot be read names nothing.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from os.path import expanduser, expandvars
from pathlib import Path

import msgspec

from engine.regular_file import read_bounded
from engine.untrusted_json import JsonError, decode_json

_MOST_BYTES = 1 << 20
# The names of ComfyUI's files that are no models'.
_NO_MODELS = frozenset({"is_default", "custom_nodes"})
# The beginnings of values that stand in the lines below.
_BLOCKS = frozenset({"|", "|-", ">"})
# A line `name: value` or `name: |` of the YAML that ComfyUI documents.
_LINE = re.compile(r"(?P<indent> *)(?P<name>[\w.-]+):(?: +(?P<value>\S.*?))? *")
# A1111's arguments (`modules/cmd_args.py`) and those that Forge, Forge Neo and SD.Next add. Of a
# program's home or data, the folders of models in it are meant.
_OPTIONS = frozenset(
    {
        "data-dir", "models-dir", "model-ref", "forge-ref-a1111-home", "forge-ref-comfy-home",
        "ckpt-dir", "ckpt-dirs", "lora-dir", "lora-dirs", "lyco-dir", "vae-dir", "vae-dirs",
        "text-encoder-dir", "text-encoder-dirs", "embeddings-dir", "controlnet-dir",
        "esrgan-models-path", "realesrgan-models-path", "dat-models-path",
    }
)  # fmt: skip
# A line that sets a variable, of a batch file or of a shell's; comments begin otherwise.
_VARIABLE = re.compile(r"\s*@?(?:(?:set|export)\s+)?\"?(\w+)=(.*)", re.IGNORECASE)
_WORD = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'])+")
# SD.Next's names of folders (`modules/shared.py`), and that of sd-webui-controlnet.
_WEBUI_NAMES = (
    "models_dir", "ckpt_dir", "diffusers_dir", "unet_dir", "vae_dir", "te_dir", "lora_dir",
    "embeddings_dir", "esrgan_models_path", "control_net_models_path",
)  # fmt: skip
# Those of Fooocus (`modules/config.py`), each a path or a list of paths.
_FOOOCUS_NAMES = (
    "path_checkpoints", "path_loras", "path_embeddings", "path_vae", "path_upscale_models",
    "path_controlnet", "path_clip_vision",
)  # fmt: skip
# SwarmUI's may be several; InvokeAI's is one.
_SWARM_ROOT = re.compile(r"^[ \t]+ModelRoot:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_INVOKE_ROOT = re.compile(r"^[ \t]*models_dir:[ \t]+[\"']?(\S.*?)[\"']?[ \t]*$", re.MULTILINE)
_OBJECT = msgspec.json.Decoder(dict[str, object])

# Takes the text of a file and the program's folder, from which relative paths start.
Reader = Callable[[str, Path], Iterable[Path]]


def folders_in_settings(program: Path) -> tuple[Path, ...]:
    """Return the folders that the settings in a program's folder name; they need not exist."""
    named = (_read(program / name, program, reader) for name, reader in _SETTINGS.items())
    return tuple(dict.fromkeys(chain.from_iterable(named)))


def folders_of_comfy_desktop(file: Path) -> tuple[Path, ...]:
    """Return the folders that ComfyUI's desktop program looks into, by its file of settings."""
    return tuple(_read(file, file.parent, folders_in_paths_file))


def folders_of_stability_matrix(settings: Path) -> tuple[Path, ...]:
    """Return the folders of models of Stability Matrix, by its folder in the system's for settings.

    The library lies where a person put it, and the models in it or elsewhere
    (`StabilityMatrix.Core/Services/SettingsManager.cs`).
    """
    libraries = _read(settings / "library.json", settings, _by_names("LibraryPath"))
    return tuple(
        folder
        for library in libraries
        for folder in (library / "Models", *folders_in_settings(library))
    )


def _read(file: Path, program: Path, reader: Reader) -> Iterator[Path]:
    try:
        content = read_bounded(file, _MOST_BYTES)
    except (OSError, ValueError):
        return
    yield from reader(content.decode("utf-8-sig", errors="replace"), program)


def _placed(value: str, program: Path) -> Path:
    """Return the path that a setting means."""
    return program / expanduser(expandvars(value))  # noqa: PTH111 (pathlib's raises for no user)


# --- ComfyUI ---


def folders_in_paths_file(content: str, beside: Path) -> tuple[Path, ...]:
    """Return the folders that ComfyUI's `extra_model_paths.yaml` names, which lies in `beside`.

    Of each section its `base_path`, and the folders that are whole paths elsewhere; its folders
    where it has no base, or a whole disk.
    """
    sections = [_Section(beside)]
    for line in content.splitlines():
        text = line.split(" #")[0].rstrip()
        found = _LINE.fullmatch(text)
        section = sections[-1]
        if found is None:
            section.add(text.strip())
            continue
        section.name, value = found["name"], (found["value"] or "").strip("\"'")
        if not found["indent"]:
            sections.append(_Section(beside))
        elif section.name == "base_path" and value:
            section.base = _placed(value, beside)
        elif value not in _BLOCKS:
            section.add(value)
    return tuple(dict.fromkeys(chain.from_iterable(section.folders for section in sections)))


class _Section(msgspec.Struct):
    """A section of such a file, of which some lines are read; `name` is the latest one's."""

    beside: Path
    name: str = ""
    base: Path | None = None
    paths: list[Path] = msgspec.field(default_factory=list[Path])

    def add(self, value: str) -> None:
        """Add a path that the latest name has."""
        if value and self.name and self.name not in _NO_MODELS:
            self.paths.append(Path(value))

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that it names, none of them inside of its base."""
        base = self.base
        if base is None or base.parent == base:
            return tuple((base or self.beside) / path for path in self.paths)
        whole = (path for path in self.paths if path.is_absolute())
        return (base, *(path for path in whole if not path.is_relative_to(base)))


# --- A1111 and its relatives ---


def _in_batch_file(content: str, program: Path) -> Iterator[Path]:
    """Yield the folders in a `webui-user.bat`: `^` continues a line, `%NAME%` is a variable."""
    variables = {"~dp0": f"{program}{os.sep}"}
    for name, value in _variables(re.sub(r"\^[ \t]*\r?\n", " ", content)):
        value = re.sub(r"%(\w+)%|%(~dp0)", partial(_value, variables), value)
        variables[name.upper()] = value
    yield from _in_arguments(variables.get("COMMANDLINE_ARGS", ""), program)


def _in_shell_file(content: str, program: Path) -> Iterator[Path]:
    r"""Yield the folders in a `webui-user.sh`: `\` continues a line, `$NAME` is a variable."""
    variables: dict[str, str] = {}
    for name, value in _variables(re.sub(r"\\\r?\n", " ", content)):
        if value[:1] in {'"', "'"}:
            value = value[1:].rstrip().removesuffix(value[0]).replace('\\"', '"')
        value = re.sub(r"\$(\w+)|\$\{(\w+)\}", partial(_value, variables), value)
        variables[name.upper()] = value
    yield from _in_arguments(variables.get("COMMANDLINE_ARGS", ""), program)


def _variables(content: str) -> Iterator[tuple[str, str]]:
    for line in content.splitlines():
        if found := _VARIABLE.match(line):
            yield found[1], found[2].strip()


def _value(variables: Mapping[str, str], found: re.Match[str]) -> str:
    """Return a variable's value; one that the file does not set stays as it is written."""
    name = found[1] or found[2]
    return variables.get(name if name.startswith("~") else name.upper(), found[0])


def _in_arguments(arguments: str, program: Path) -> Iterator[Path]:
    option = ""
    for word in _WORD.findall(arguments):
        value = word
        if word.startswith("--"):
            option, _, value = word[2:].partition("=")
        value = value.replace('"', "").replace("'", "")
        if value and option in _OPTIONS:
            yield _placed(value, program)


# --- programs with JSON and lines ---


def _by_names(*names: str) -> Reader:
    """Return the reader of a JSON object that has paths under some names."""
    wanted = {name.casefold() for name in names}

    def read(content: str, program: Path) -> Iterator[Path]:
        try:
            fields = decode_json(content.encode(), _OBJECT)
        except JsonError:
            return
        for name, value in fields.items():
            if name.casefold() in wanted:
                yield from (_placed(path, program) for path in _listed(value) if path)

    return read


def _listed(value: object) -> Sequence[str]:
    """Return the paths of a value, which is one or a list; none of any other value."""
    try:
        return [value] if isinstance(value, str) else msgspec.convert(value, list[str])
    except msgspec.ValidationError:
        return ()


def _by_line(pattern: re.Pattern[str]) -> Reader:
    """Return the reader of a line that has paths, with `;` between them."""

    def read(content: str, program: Path) -> Iterator[Path]:
        for found in pattern.findall(content):
            yield from (_placed(path, program) for path in found.split(";") if path)

    return read


# The files of settings in a program's folder.
_SETTINGS: Mapping[str, Reader] = {
    "extra_model_paths.yaml": folders_in_paths_file,
    "webui-user.bat": _in_batch_file,
    "webui-user.sh": _in_shell_file,
    "config.json": _by_names(*_WEBUI_NAMES),
    "config.txt": _by_names(*_FOOOCUS_NAMES),
    "settings.json": _by_names("ModelDirectoryOverride"),
    "Data/Settings.fds": _by_line(_SWARM_ROOT),
    "invokeai.yaml": _by_line(_INVOKE_ROOT),
}
