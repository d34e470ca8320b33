"""The real engine with a null backend that does as it is told: `python scripted_engine.py PLAN`.

PLAN is the JSON of a `Plan`. Run it in isolated mode, like the engine itself.
"""

import ctypes
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec


class Misdeed(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of a network of the null backend; see `backends.null.Script`."""

    load_seconds: float = 0.0
    run_seconds: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is other than usual."""

    networks: dict[str, Misdeed] = {}
    # The null backend finds no device before this file is there.
    gate: str | None = None
    # It prints on the real stdout, and reads stdin, whenever it looks for devices.
    noisy: bool = False
    # Looking for devices fails as no backend may.
    broken: bool = False
    # Looking for devices never returns, and does not let go of the interpreter either.
    hung: bool = False
    # Cancelling a job fails as nothing of the engine's own may.
    buggy: bool = False
    # A library that is missing.
    missing: str | None = None
    # Bytes of unread events after which the job waits.
    limit_bytes: int | None = None
    # Seconds it may take to end.
    grace_s: float = 60.0
    # Modules of further families.
    families: tuple[str, ...] = ()
    # A file with the seconds by which the clock has jumped, once it is there.
    clock: str | None = None
    # The null backend is preferred to the processor, which is all there is beside it.
    preferred: bool = False


def main(plan: Plan) -> None:
    if plan.clock:
        _follow_clock(Path(plan.clock))
    if plan.missing:
        sys.modules[plan.missing] = None  # pyright: ignore[reportArgumentType]
    import engine.server
    from engine.server import job_line, outbox, process

    process.GRACE_S = plan.grace_s
    # A test waits for its engine, and has no window whose share that takes.
    engine.server.yield_to_others = lambda: None
    if plan.limit_bytes is not None:
        outbox.Outbox.__init__.__defaults__ = (plan.limit_bytes,)
    if plan.buggy:
        job_line.JobLine.cancel = _fail
    if not plan.missing:
        _change_null_backend(plan)
    for module in plan.families:
        _add_family(module)
    if plan.preferred:
        _prefer_null_backend()
    engine.server.main(sys.argv[2:])


def _follow_clock(file: Path) -> None:
    now = time.time
    time.time = lambda: now() + (float(file.read_text()) if file.exists() else 0)


def _fail(self: object, job: str) -> None:
    raise ZeroDivisionError


def _add_family(module: str) -> None:
    from engine.families.registry import FAMILIES

    FAMILIES.add(module)


def _change_null_backend(plan: Plan) -> None:
    from backends import null
    from backends.base import Device

    scripts = {
        name: null.Script(load_seconds=misdeed.load_seconds, run_seconds=misdeed.run_seconds)
        for name, misdeed in plan.networks.items()
    }

    class ScriptedBackend(null.NullBackend):
        def __init__(self, given: Mapping[str, null.Script] | None = None) -> None:
            super().__init__(given or scripts)

        def probe(self) -> list[Device]:
            _before_probe(plan)
            return super().probe()

    null.NullBackend = ScriptedBackend


def _prefer_null_backend() -> None:
    from backends import registry
    from engine.devices import choice
    from engine.jobs import background_compiles

    null, cpu = (registry.find(name) for name in ("null", "cpu"))
    assert null is not None
    assert cpu is not None
    both = (msgspec.structs.replace(null, automatic=True), cpu)
    registry.BACKENDS = choice.BACKENDS = both
    background_compiles.WAIT_S = 0.0  # nothing is slow here


def _before_probe(plan: Plan) -> None:
    if plan.noisy:
        os.write(1, b"noise from a driver\n" * 1000)
        print("noise from Python")  # noqa: T201 (what must not reach the app)
        ctypes.CDLL(None).puts(b"noise from a C library")
        ctypes.CDLL(None).fflush(None)
        assert os.read(0, 1) == b""
    if plan.gate:
        Path(f"{plan.gate}.reached").touch()
        while not Path(plan.gate).exists():
            time.sleep(0.01)
    if plan.broken:
        raise ZeroDivisionError("the prompt is secret")
    if plan.hung:
        # PyDLL keeps the interpreter lock.
        ctypes.PyDLL(None).sleep(600)


if __name__ == "__main__":
    main(msgspec.json.decode(sys.argv[1], type=Plan))
