"""`python -m benchmarks [SECTION ...]`: measure, print tables, compare with the targets.

Sections: step, picture, start, memory, starter, window, models, parity, components, identify,
ablation (on a CUDA GPU); all of them by default, about three quarters of an hour on two quiet
cores. Only on request: installed (the start of the installed tree that --tree names), blob (the
gain of OpenVINO's cache), gallery (100,000 pictures, which are made on first use: 800 MB of
disk, 10 minutes), shapes (the cost of dynamic shapes), compilers (cross-vendor compilers, with
the extra of that name), sdxl (a full-size SDXL: 12 GB of disk, 22 GB of memory, 20
minutes), lora (SD 1.5 with LoRAs: 25 minutes), lora_sdxl (SDXL with LoRAs: as sdxl),
flux (Flux.1 schnell in Q4_0: 17 GB of disk, 16 GB of memory, half an hour), zimage (Z-Image
Turbo in Q4_0 with Qwen3-4B: 14 GB of disk, as long), weights (each backend's copies of the
weights), activations (the memory of every family's networks beside weights: 8 GB of memory, an
hour), quantized (Flux.1's blocks in GGUF), quantized_files (the same in files of fp8 and int8,
and rounded), quantized_layers (single layers in GGUF), tiles (the VAE in tiles), reference
(attention to a reference picture), webgpu (single operators compared with the processor's),
tensorrt (a full-size build). Full-size checkpoints of random weights (10 GB) are made on first use.
"""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import platformdirs

from benchmarks.child import ROOT, PeerError
from benchmarks.command import CommandError
from benchmarks.machine import describe
from benchmarks.report import Findings, Target, markdown, targets_table, write_json
from benchmarks.sections import ASKED_FOR, SECTIONS
from benchmarks.sections.setting import Setting

_QUICK = "fewer repeats, pictures of four steps; flux: of one, zimage: of two, by one backend"


def main() -> int:
    """Run the chosen sections; the exit status is 1 if one could not be run."""
    options = _parse()
    setting = Setting(
        folder=options.folder.absolute(),
        python=options.python,
        quick=options.quick,
        starter=options.starter,
        tree=options.tree,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    machine = {**describe(), "started": datetime.now(UTC).isoformat(timespec="seconds")}
    print("\n".join(f"{key}: {value}" for key, value in machine.items()) + "\n", flush=True)
    found: dict[str, Findings] = {}
    failed = False
    for name in options.sections or [name for name in SECTIONS if name not in ASKED_FOR]:
        start = perf_counter()
        setting.say(f"{name}:")
        try:
            found[name] = SECTIONS[name](setting)
        except (PeerError, CommandError) as error:
            failed = True
            reason = "failed"
            setting.say(f"{name} could not be measured: {error}")
            found[name] = Findings((), (Target(name, None, 0.0, "", reason=reason),))
        for table in found[name].tables:
            print(markdown(table), flush=True)
        setting.say(f"{name}: {perf_counter() - start:.0f} s")
        if options.json:
            write_json(options.json, machine, found)
    targets = [target for findings in found.values() for target in findings.targets]
    print(markdown(targets_table(targets)))
    return int(failed)


def _parse() -> argparse.Namespace:
    cache = platformdirs.user_cache_path("safelight-benchmarks", appauthor=False)
    base = ROOT / ".venv" / "bin" / "python"
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], metavar="SECTION")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything found")
    parser.add_argument("--quick", action="store_true", help=_QUICK)
    parser.add_argument("--folder", type=Path, default=cache, help=f"checkpoints; default: {cache}")
    parser.add_argument(
        "--python",
        type=Path,
        default=base if base.exists() else Path(sys.executable),
        help="interpreter of the app's own environment, without torch; default: .venv's",
    )
    parser.add_argument("--starter", type=Path, help="another model for the starter section")
    parser.add_argument("--tree", type=Path, help="an installed tree for the installed section")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
