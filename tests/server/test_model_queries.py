"""The engine lists files of weights, and finds a moved one by the digest in a record."""

from pathlib import Path

import numpy as np

from engine.api.messages import Configure, Hello, QueryFailed, Ready
from engine.api.model_files import ModelKind
from engine.api.model_messages import (
    DescribeModel,
    FindModel,
    ListModels,
    ModelFound,
    ModelsFound,
    ModelsListed,
)
from engine.pipeline.network_lookup import content_digest
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.server.conftest import Start


def test_a_moved_model_is_found_by_its_content(start: Start, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for number in range(2):
        path = models / f"{number}.safetensors"
        write_arrays(path, {"weight": np.full(4, number, np.float32)})
    digest = content_digest(models / "1.safetensors")
    assert digest is not None
    talk = start(ready=False)
    talk.wait_for(Hello)
    talk.send(Configure(cache=str(tmp_path / "cache"), models=str(models)))
    talk.wait_for(Ready)
    stated = str(tmp_path / "before.safetensors")
    talk.send(FindModel(query=1, stated=stated, digest=digest))
    assert talk.wait_for(ModelFound) == ModelFound(query=1, path=str(models / "1.safetensors"))
    talk.send(FindModel(query=2, stated=stated, digest="00" * 32))
    assert talk.wait_for(ModelFound, lambda event: event.query == 2).path is None


def test_a_file_in_no_listed_folder_is_described(start: Start, tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "elsewhere.safetensors", listings.ldm_vae())
    talk = start()
    talk.send(DescribeModel(query=1, path=str(path)))
    (model,) = talk.wait_for(ModelsFound, lambda event: event.query == 1).models
    assert (model.path, model.kind, model.is_read) == (str(path), ModelKind.VAE, True)
    talk.send(DescribeModel(query=2, path=str(tmp_path / "missing.safetensors")))
    assert talk.wait_for(QueryFailed).query == 2


def test_embeddings_beside_the_folder_of_models_are_listed(start: Start, tmp_path: Path) -> None:
    models, own = tmp_path / "models", tmp_path / "own"
    for folder in (tmp_path / "embeddings", models, own):
        folder.mkdir()
    for folder in (tmp_path / "embeddings", own):
        array = np.full((3, 768), 1, np.float32)
        write_arrays(folder / f"of {folder.name}.safetensors", {"emb_params": array})
    talk = start(ready=False)
    talk.wait_for(Hello)
    talk.send(
        Configure(cache=str(tmp_path / "cache"), models=str(models), embedding_folders=(str(own),))
    )
    talk.wait_for(Ready)
    talk.send(ListModels(query=7, folders=()))
    assert str(own) in talk.wait_for(ModelsListed).folders
    models_found = [model for event in talk.of(ModelsFound) for model in event.models]
    kinds = {model.name: model.kind for model in models_found}
    assert kinds == {"of embeddings": ModelKind.EMBEDDING, "of own": ModelKind.EMBEDDING}
