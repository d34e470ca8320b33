"""`python -m engine.devices.pack_trial`: tries a runtime pack that is not in use yet.

SAFELIGHT_PACK_ON_TRIAL names the pack's folder. Its modules are imported, and its backends list and
try their devices, each in a process of its own that may crash; this process never loads a runtime.
It prints a `PackVerdict` as JSON.
"""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from backends.registry import BackendReference, find
from engine.api.machine import PackVerdict
from engine.api.runtime_titles import runtime_title
from engine.cancel import CancelToken
from engine.child_python import python_command
from engine.devices.trials import TrialLimits, Trials, child_failure
from engine.devices.verdicts import BackendReport
from engine.packs import ON_TRIAL, use_packs
from engine.parent import die_first
from engine.stdio import take_stdio

# Imports of large runtimes take seconds, on a cold disk minutes.
_IMPORT_S = 300
_IMPORT = "import sys; from engine.packs import use_packs; use_packs(); __import__(sys.argv[1])"
_PROCESSOR = "cpu"


def main(arguments: Sequence[str] | None = None) -> None:
    """Try the pack that the arguments describe, print the verdict, and end the process."""
    parser = argparse.ArgumentParser(prog="pack_trial", description="One pack's trial.")
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--import", dest="imports", action="append", default=[], metavar="MODULE")
    parser.add_argument("--backend", dest="backends", action="append", default=[], metavar="NAME")
    parser.add_argument(
        "--onnxruntime", action="store_true", help="it replaces the ONNX Runtime of the processor"
    )
    options = parser.parse_args(arguments)
    imports: list[str] = options.imports
    pipes = take_stdio()
    die_first(options.parent, pipes.commands)
    names = (*options.backends, *((_PROCESSOR,) if options.onnxruntime else ()))
    verdict = _verdict(imports, [r for name in names if (r := find(name)) is not None])
    os.write(pipes.events, msgspec.json.encode(verdict))
    os._exit(0)


def _verdict(imports: Sequence[str], backends: Sequence[BackendReference]) -> PackVerdict:
    if left_out := _left_out():
        return PackVerdict(works=False, sentence=left_out)
    for module in imports:
        if problem := _import_problem(module):
            return PackVerdict(works=False, sentence=problem)
    trials = Trials(TrialLimits.of_this_machine())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cancel = CancelToken()
        reports = [trials.run(backend, "", Path(folder), cancel) for backend in backends]
    return judged(reports)


def judged(reports: Sequence[BackendReport]) -> PackVerdict:
    """Return the verdict on a pack by its backends' reports.

    A pack may find no device here, where a person installs it before the card or the driver. A
    backend that crashes or computes wrong numbers on each device that it offers condemns it.
    """
    failures = tuple(failure for report in reports for failure in _failures(report))
    sentences = " ".join(failures or (said for report in reports for said in _told(report)))
    return PackVerdict(works=not failures, sentence=sentences or "It starts.")


def _failures(report: BackendReport) -> Iterator[str]:
    """Yield a sentence for each device that failed, if none of the backend's works."""
    if report.problem:
        yield f"{runtime_title(report.backend)}: {report.problem}"
    elif not any(device.works for device in report.devices):
        for device in report.devices:
            if device.tried:
                yield f"{runtime_title(report.backend)} on {device.name}: {device.sentence}"


def _told(report: BackendReport) -> Iterator[str]:
    for device in report.devices:
        if device.works:
            yield f"{runtime_title(report.backend)} on {device.name}: {device.sentence}"
        elif device.unusable:
            runtime = runtime_title(report.backend)
            yield f"{runtime} starts, and has no device here yet: {device.unusable}."


def _left_out() -> str:
    """Return why the pack cannot be searched at all; empty if it can."""
    tried = os.environ.get(ON_TRIAL, "")
    used = use_packs()
    if any(pack.folder.parent.name == tried for pack in used.packs):
        return ""
    return " ".join(used.problems) or "It is not there."


def _import_problem(module: str) -> str:
    """Import a module in a process of its own; return its failure as a sentence, or nothing."""
    try:
        done = subprocess.run(
            python_command("-c", _IMPORT, module),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_IMPORT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{module} did not start within {_IMPORT_S} s."
    return (
        "" if done.returncode == 0 else f"{module}: {child_failure(done.returncode, done.stderr)}"
    )


if __name__ == "__main__":
    main()
