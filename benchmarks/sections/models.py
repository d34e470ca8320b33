"""The page of models: listing 5,000 files, and the window meanwhile."""

import subprocess

import msgspec

from benchmarks.child import ROOT, PeerError
from benchmarks.models_session import FILES, ModelsFigures
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting

_WARM_S = 1.0


def models(setting: Setting) -> Findings:
    """List the files with an empty and with a warm cache, in the app's environment."""
    figures = _session(setting)
    rows = (
        ("first listing, every file opened, s", figures.first_s),
        ("warm listing, page opened to all cards, s", figures.warm_s),
        ("longest stall of the window's thread meanwhile, ms", figures.warm_stall_ms),
        ("its most processor time between two beats, ms", figures.warm_busiest_ms),
        ("processor time of window and engine for the warm listing, s", figures.warm_cpu_s),
        ("search, ms", figures.search_ms),
    )
    table = Table(f"{FILES} models", ("", "measured"), rows, "")
    target = Target(f"models: {FILES} files listed, warm", figures.warm_s, _WARM_S, "s")
    return Findings((table,), (target,))


def _session(setting: Setting) -> ModelsFigures:
    command = [str(setting.python), "-m", "benchmarks.models_session"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        raise PeerError(f"the session ended with {run.returncode}: {run.stderr.strip()[-500:]}")
    return msgspec.json.decode(run.stdout, type=ModelsFigures)
