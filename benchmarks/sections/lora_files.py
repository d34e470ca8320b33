"""The time to list a folder of 2,000 LoRA files."""

import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.measure import Series
from benchmarks.report import Findings, Table, Target
from benchmarks.sections.setting import Setting
from engine.jobs.lora_descriptions import LoraDescriber
from engine.jobs.lora_index import LoraIndex
from engine.lora.listed_facts import ListedFacts
from tests.checkpoints.arrays import write_arrays

_FILES, _LISTED_S = 2000, 1.0


def list_files(setting: Setting) -> Findings:
    """Measure the listing of many files: all unknown, then by a process that knows them."""
    with tempfile.TemporaryDirectory(dir=setting.folder) as folder:
        loras = Path(folder) / "loras"
        _write_files(loras)
        firsts, again = Series(), Series()
        for _ in range(setting.rounds(3)):
            cache = Path(tempfile.mkdtemp(dir=folder)) / "loras.json"
            firsts.values.append(_listed_s(loras, cache))
            again.values += [_listed_s(loras, cache) for _ in range(3)]
    table = Table(
        f"A folder of {_FILES} LoRA files",
        ("", "median s", "least s", "most s"),
        (
            ("listed for the first time, each file opened", firsts.median, *firsts.spread),
            ("listed again", again.median, *again.spread),
        ),
        "All descriptions with pictures and trigger words, as the window gets them.",
    )
    return Findings(
        (table,), (Target(f"{_FILES} LoRA files listed", again.median, _LISTED_S, "s"),)
    )


def _listed_s(folder: Path, cache: Path) -> float:
    start = perf_counter()
    index = LoraIndex(ListedFacts(cache), LoraDescriber())
    count = sum(len(part) for part in index.list([folder]) if part is not None)
    assert count >= _FILES
    return perf_counter() - start


def _write_files(folder: Path) -> None:
    """Write small files with the keys and the metadata that kohya's trainer writes."""
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(_FILES):
        layer = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn1_to_q"
        tensors = {
            f"{layer}.lora_down.weight": random.standard_normal((4, 320)).astype(np.float16),
            f"{layer}.lora_up.weight": random.standard_normal((320, 4)).astype(np.float16),
            f"{layer}.alpha": np.asarray(4, np.float16),
        }
        words = ", ".join(f'"word {number} {place}": {place}' for place in range(200))
        tags = f'{{"set": {{{words}}}}}'
        metadata = {"ss_output_name": f"style {number}", "ss_tag_frequency": tags}
        write_arrays(folder / f"style-{number:04}.safetensors", tensors, metadata=metadata)
