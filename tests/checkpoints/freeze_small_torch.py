"""Writes small PyTorch files as people have: `python -m tests.checkpoints.freeze_small_torch`.

An embedding as A1111 saves it, in a ParameterDict; one as the concept library has it; a
hypernetwork, whose networks are in tuples under the widths they are for.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from pathlib import Path

import torch

FROZEN = Path(__file__).parent / "frozen"


def main() -> None:
    """Write the files."""
    words = torch.zeros(2, 768)
    embedding = {
        "string_to_token": {"*": 265},
        "string_to_param": torch.nn.ParameterDict({"*": torch.nn.Parameter(words)}),
        "name": "mine",
        "step": 1,
        "sd_checkpoint": None,
    }
    torch.save(embedding, FROZEN / "a1111_embedding.pt")
    torch.save({"<cat>": words[0], "<hat>": words[1]}, FROZEN / "concept.bin")
    torch.save({"mine": {f"<{n}>": words[0] for n in range(5)}}, FROZEN / "nested.bin")
    layer = {"linear.0.weight": torch.zeros(4, 2), "linear.0.bias": torch.zeros(4)}
    torch.save({768: (layer, layer), 320: (layer, layer), "step": 1}, FROZEN / "hypernetwork.pt")


if __name__ == "__main__":
    main()
