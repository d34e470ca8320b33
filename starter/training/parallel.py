"""Training on several cores as several single-threaded processes that average their gradients.

Two threads in one process wait for each other at every operation; two processes wait once a step.
"""

# pyright: basic, reportMissingImports=false
# (torch, diffusers and transformers are in the oracle environment only and leave types open)

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import torch.distributed
import torch.multiprocessing
from torch import nn

PROCESSES = 2


def run(work: Callable[..., None], *arguments: object) -> None:
    """Call `work(rank, *arguments)` in `PROCESSES` processes that can exchange tensors."""
    with tempfile.TemporaryDirectory() as folder:
        meeting = Path(folder, "meeting").as_uri()
        torch.multiprocessing.spawn(_enter, (meeting, work, arguments), nprocs=PROCESSES)


def _enter(
    rank: int, meeting: str, work: Callable[..., None], arguments: tuple[object, ...]
) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=meeting, rank=rank, world_size=PROCESSES
    )
    work(rank, *arguments)
    torch.distributed.destroy_process_group()


def share_parameters(network: nn.Module) -> None:
    """Give every process the parameters of the first."""
    for parameter in network.parameters():
        torch.distributed.broadcast(parameter.detach(), src=0)


def average_gradients(parameters: Sequence[nn.Parameter], number: float) -> float:
    """Average the gradients, in place, and `number` over the processes."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([*(g.reshape(-1) for g in gradients), torch.tensor([number])])
    torch.distributed.all_reduce(flat)
    flat /= PROCESSES
    sizes = [g.numel() for g in gradients]
    for gradient, part in zip(gradients, flat[:-1].split(sizes), strict=True):
        gradient.copy_(part.view_as(gradient))
    return float(flat[-1])
