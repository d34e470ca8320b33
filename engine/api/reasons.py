"""Reasons of devices, runtimes and packs, which are said in English, as sentences.

Backends know nothing of ours, so they give reasons as plain texts, some of which are kept in files.
A reason is found again among these sentences by its fixed words; one that no sentence fits is of a
driver or a library, and is shown as it is.
"""

import re
from functools import cache

from engine.api.sentences import Sentence, Text, completed, sentence

# Reasons within reasons beyond these are shown as they are.
_MOST_DEEP = 4
# Longer texts are no reasons of ours; what a program wrote may be of any length.
_LONGEST = 1000
_REASONS = (
    sentence("no AMD graphics card found"),
    sentence("no NVIDIA graphics card found"),
    sentence("no graphics processor is listed"),
    sentence("AMD does not list {name} for MIGraphX"),
    sentence("MIGraphX does not list {name}"),
    sentence("ROCm is absent or of another version: {reason}"),
    sentence("this Mac has no processor of Apple's own"),
    sentence("CoreML is a part of macOS"),
    sentence("Windows ML is a part of Windows"),
    sentence("DirectML is a part of Windows"),
    sentence("Windows lists no graphics processor"),
    sentence("DirectML does not list {name}"),
    sentence("Windows ML offers no {name} for this computer"),
    sentence(
        "Windows ML offers {name} and has not downloaded it: ensure_ready() of its catalog does"
    ),
    sentence("Windows ML's catalog does not answer: {reason}"),
    sentence("it is drawn in software; no driver of a graphics processor is at work"),
    sentence("Windows draws it in software"),
    sentence("it is a display without a graphics processor"),
    sentence("it is the display of a virtual machine, not a graphics processor"),
    sentence("it is the display of a server's management controller, not a graphics processor"),
    sentence("it stands for the GPUs of the Windows host; only NVIDIA's driver reaches them"),
    sentence("it is set aside for a virtual machine ({driver})"),
    sentence("no driver is loaded for it"),
    sentence("it has no Metal driver"),
    sentence("{name} is not installed"),
    sentence("the plug-in is not installed"),
    sentence("the plug-in does not list {name}"),
    sentence("OpenVINO runs it on {found}, not {wanted}"),
    sentence(
        "OpenVINO needs OpenCL, whose loader libOpenCL.so.1 is not installed: install"
        " ocl-icd-libopencl1 and Intel's compute runtime, intel-opencl-icd"
    ),
    sentence("OpenVINO's GPU plug-in does not start: {reason}"),
    sentence("its driver has no OpenCL for OpenVINO: install Intel's current graphics driver"),
    sentence("{node} may not be opened: add yourself to the group render and log in again"),
    sentence(
        "Intel's compute runtime is not installed or does not know it: install"
        " intel-opencl-icd ({guide})"
    ),
    sentence("{name} has no kernels for {card}, only for {others}"),
    sentence("no kernels for {card}, only for {others}"),
    sentence("{name} has {found}; another build has them"),
    sentence("CUDA or cuDNN is absent, or of another version than {name} needs ({reason})"),
    sentence("TensorRT starts with compute capability 7.5 (this is {found})"),
    sentence(
        "TensorRT-RTX serves compute capability 8.6, 8.9, and 12.0 or newer (this is {found})"
    ),
    sentence("{name} is too old: it takes no weights from memory"),
    sentence("{name} cannot be used any more: {reason}"),
    sentence("{name} does not start: {reason}"),
    sentence("{name} does not see it: {reason}"),
    sentence("the graphics processor stopped answering: {reason}"),
    sentence("out of memory"),
    sentence(
        "the files of {names} are mixed: uninstall {others}, then install the one that is wanted"
    ),
    sentence("{name} has no {provider} on this system"),
    sentence("{name} has no {provider}, which {other} has"),
    sentence(
        "{name} lies over {other} and has no {provider}: uninstall {all}, then install {wanted}"
    ),
    sentence("onnxruntime is not installed, which {title} works in"),
    sentence("ONNX Runtime {version} is too old to load {title}"),
    sentence("this build of ONNX Runtime has no {name}"),
    sentence("driver {version} is too old: {name} needs {least} or newer"),
    sentence("its driver is {driver}; NVIDIA's own is needed"),
    sentence("{variable} hides it"),
    sentence("NVIDIA's driver does not answer (NVML)"),
    sentence("{name} is no longer there"),
    sentence("NVIDIA's driver does not tell the memory of {name}"),
    sentence("NVIDIA's driver is not there: {reason}"),
    sentence("no driver offers a graphics processor to WebGPU ({api})"),
    sentence("WebGPU's provider takes {name} and no other"),
    sentence("Direct3D 12, Vulkan or Metal; on Linux libvulkan.so.1 must be there too"),
    sentence("the only one that is known to work here"),
    sentence("{other} failed in an earlier job"),
    sentence("{other} failed in this job"),
    sentence("{other} lacks the memory for this job"),
    sentence("{other} is being prepared"),
    sentence("{other} could not be prepared"),
    sentence("not measured yet"),
    sentence("measured, and {other} was not"),
    sentence("about as fast as {other} here"),
    sentence("{ratio}x faster than {other} here"),
    sentence("asked for"),
    sentence("It was not looked at yet."),
    sentence("It was not tried yet."),
    sentence("It failed: {reason}."),
    sentence("It did not answer for {n} s."),
    sentence("It took more than {n} GB of memory."),
    sentence("It said something that is no answer."),
    sentence("It closed its pipe and did not end."),
    sentence("It crashed ({signal}): {reason}"),
    sentence("It crashed ({signal})."),
    sentence("It ended by itself: {reason}"),
    sentence("It ended by itself."),
    sentence("Its trial ended without a result."),
    sentence("it failed: {reason}"),
    sentence("it is off by {share}"),
    sentence("its numbers are none"),
    sentence("the processor is off by {share} from NumPy's sums"),
    sentence("It is not there."),
    sentence("It starts."),
    sentence("It is made for Python {wanted}; this is Python {present}."),
    sentence("It is made for {machines} processors; this one is {present}."),
    sentence("It is made for {systems} and {system}."),
    sentence("It is made for {systems}."),
    sentence("There are no packages for it."),
    sentence("{name} did not start within {n} s."),
    sentence("{name} starts, and has no device here yet: {reason}."),
    sentence("{name} on {device}: Its results are correct: {results}."),
    sentence("Its results are correct: {results}."),
    sentence("The runtime pack {name} is left out: {reason}."),
    sentence("its folder is missing"),
    sentence("its list of files is damaged"),
    sentence("it is made for another system"),
    sentence("it is made for Python {wanted}, and this is {present}"),
    sentence("its file {name} is missing"),
    sentence("its file {name} has another size"),
    sentence("it brings an ONNX Runtime, and so does {name}"),
    sentence("{name} is no name of a file below its folder"),
    sentence("{name} is a link or a device"),
    sentence("{name} is in two wheels and differs"),
    sentence("{name} is a file and a folder"),
    sentence("{name} is there under another case of letters"),
    sentence("it has too many files"),
    sentence("it is damaged"),
    sentence("it unpacks to more than its list says"),
    sentence("the compiler died with status {status}: {reason}"),
    sentence("the compiler cannot be started: {reason}"),
    sentence("it printed nothing"),
)
# The kinds of files that are no models.
_KINDS = (
    sentence("a {name} model"),
    sentence("an {name} model"),
    sentence("a {name} text encoder"),
    sentence("a {name} vision encoder"),
    sentence("a {name} adapter"),
    sentence("a {name} VAE"),
    sentence("an {name} VAE"),
    sentence("a {name} autoencoder"),
    sentence("a VAE"),
    sentence("a video VAE"),
    sentence("an asymmetric VAE"),
    sentence("a LoRA"),
    sentence("a LyCORIS LoRA"),
    sentence("a LoRA for {family}"),
    sentence("a LoRA for an unknown kind of model"),
    sentence("a checkpoint of {family}"),
    sentence("a {name}"),
    sentence("an {name}"),
    sentence("a T2I style adapter"),
    sentence("a representation autoencoder (RAE)"),
    sentence("a file of weights that this version does not know"),
    sentence("a textual inversion embedding"),
    sentence("a colouriser ({name})"),
    sentence("a detector ({name})"),
    sentence("a face restorer ({name})"),
    sentence("a latent upscaler ({name})"),
    sentence("a segmentation model ({name})"),
    sentence("a text-to-video model ({name})"),
    sentence("a diffusion model without text ({name})"),
    sentence("an estimator of depth or normals ({name})"),
    sentence("an inpainting network ({name})"),
    sentence("a tiny VAE ({name})"),
    sentence("a consistency decoder"),
    sentence("a control-LoRA, which is a ControlNet"),
    sentence("a depth estimator"),
    sentence("a hypernetwork"),
    sentence("a picture restorer"),
    sentence("a prior of {name}"),
    sentence("a safety checker"),
    sentence("a vocoder"),
    sentence("a language model"),
    sentence("an AnimateDiff motion module"),
    sentence("an audio autoencoder"),
    sentence("an audio encoder"),
    sentence("an image projector"),
    sentence("an upscaler"),
)
# The models that embeddings are for, of which some have names that are the same everywhere.
_PURPOSES = (
    sentence("SDXL's second text encoder"),
    sentence("text encoders of width {widths}"),
)
_PLACE = re.compile(r"\\{(\w+)\\}")
# Versions of drivers and of Python look like numbers and stay as they are.
_NUMBER = re.compile(r"(?P<digits>\d{1,9}(?:\.\d{1,9})?)(?P<percent>%?)")
_PERCENT = sentence("{n}%")


def known_reason(text: str) -> Text:
    """Return the sentence of a reason; an unknown one stays a text."""
    return _found(text, _REASONS, 0)


def known_kind(text: str) -> Text:
    """Return the sentence of a kind of file, such as "an upscaler"; an unknown one stays a text."""
    # Names within it are the same in every language.
    return _found(text, _KINDS, _MOST_DEEP - 1)


def known_purpose(text: str) -> Text:
    """Return the sentence of an embedding's purpose; an unknown one stays a text."""
    return _found(text, _PURPOSES, _MOST_DEEP - 1)


@cache
def _patterns(table: tuple[Sentence, ...]) -> tuple[tuple[re.Pattern[str], Sentence], ...]:
    """Return a pattern for each sentence, those with the most fixed words first."""
    ordered = sorted(table, key=lambda reason: -len(re.sub(r"\{\w+\}", "", reason.template)))
    return tuple(
        (re.compile(_PLACE.sub(r"(?P<\1>.+?)", re.escape(reason.template)), re.DOTALL), reason)
        for reason in ordered
    )


def _value(name: str, text: str, table: tuple[Sentence, ...], depth: int) -> Text | float:
    """Return what stands in a place: a number that languages write differently, or a reason."""
    number = _NUMBER.fullmatch(text)
    if number is not None and number["percent"]:
        return completed(_PERCENT, n=float(number["digits"]))
    if number is not None and name == "ratio":
        return float(number["digits"])
    return _found(text, table, depth)


def _found(text: str, table: tuple[Sentence, ...], depth: int) -> Text:
    if depth == _MOST_DEEP or len(text) > _LONGEST:
        return text
    for pattern, reason in _patterns(table):
        found = pattern.fullmatch(text)
        if found is not None:
            inner = found.groupdict().items()
            values = {name: _value(name, value, table, depth + 1) for name, value in inner}
            return completed(reason, **values)
    return text
