"""The engine describes embeddings by their names, for lists to choose from."""

import os
from pathlib import Path

import numpy as np
from PIL import Image

from engine.api.embedding_messages import DescribeEmbeddings, EmbeddingsDescribed
from engine.api.messages import Configure, Hello, ListLoras, LorasListed, Ready
from tests.checkpoints.arrays import write_arrays
from tests.server.conftest import Start


def test_embeddings_are_described_by_their_files(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "embeddings"
    folder.mkdir()
    write_arrays(folder / "mine.safetensors", {"emb_params": np.full((3, 768), 1, np.float32)})
    both = {"clip_l": np.zeros((2, 768), np.float32), "clip_g": np.zeros((2, 1280), np.float32)}
    write_arrays(folder / "large.safetensors", both)
    (folder / "broken.safetensors").write_bytes(b"no tensors")
    Image.new("RGB", (4, 4)).save(folder / "mine.preview.png")
    talk = start(ready=False)
    talk.wait_for(Hello)
    talk.send(Configure(cache=str(tmp_path / "cache"), embedding_folders=(str(folder),)))
    talk.wait_for(Ready)
    talk.send(DescribeEmbeddings(query=3, names=("mine", "large", "broken", "nothing")))
    answer = talk.wait_for(EmbeddingsDescribed)
    mine, large, broken = answer.embeddings
    assert answer.query == 3
    assert (mine.name, mine.vectors, mine.widths) == ("mine", 3, (768,))
    assert mine.purpose == "Stable Diffusion 1"
    assert mine.preview == str(folder / "mine.preview.png")
    assert mine.preview_modified_ns > 0
    assert (large.vectors, large.widths, large.preview) == (2, (768, 1280), "")
    assert broken.problem


def test_embeddings_that_leave_their_folder_its_time_are_listed_with_the_loras(
    start: Start, tmp_path: Path
) -> None:
    """The app asks for a list when the system tells it of a folder, of which it watches these."""
    folder = tmp_path / "embeddings"
    folder.mkdir()
    os.utime(folder, ns=(1, 1))
    talk = start(ready=False)
    talk.wait_for(Hello)
    talk.send(Configure(cache=str(tmp_path / "cache"), embedding_folders=(str(folder),)))
    talk.wait_for(Ready)
    talk.send(ListLoras(query=1, folders=()))
    assert talk.wait_for(LorasListed).folders == (str(folder),)
    array = {"emb_params": np.ones((1, 8), np.float32)}
    write_arrays(folder / "mine.safetensors", array)
    os.utime(folder, ns=(1, 1))
    talk.send(ListLoras(query=2, folders=()))
    answer = talk.wait_for(LorasListed, lambda listed: listed.query == 2)
    assert answer.embeddings == ("mine",)
