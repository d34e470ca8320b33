"""Civitai's and Hugging Face's answers, in the shapes that their documentation gives."""

import hashlib
import json

from tests.app.downloads.faulty_server import Answer, Exchange, give, serve

SHA256 = hashlib.sha256
VERSION, MODEL = 2514310, 827184


def civitai_version(content: bytes, **changes: object) -> dict[str, object]:
    """A version of a model with one file of this content."""
    file = {
        "id": 1,
        "sizeKB": len(content) / 1024,
        "name": "waiIllustrious_v160.safetensors",
        "type": "Model",
        "metadata": {"format": "SafeTensor", "size": "pruned", "fp": "fp16"},
        "hashes": {
            "AutoV2": "ABCDEF0123",
            "SHA256": SHA256(content).hexdigest().upper(),
            "CRC32": "00000000",
        },
        "downloadUrl": f"https://civitai.com/api/download/models/{VERSION}",
        "primary": True,
    }
    return {
        "id": VERSION,
        "modelId": MODEL,
        "name": "v16.0",
        "baseModel": "Illustrious",
        "trainedWords": ["masterpiece"],
        "files": [{**file, **changes}],
        "images": [],
    }


def civitai_model(content: bytes, kind: str = "Checkpoint", **changes: object) -> bytes:
    """The page of a model, its newest version first."""
    older = {**civitai_version(content), "id": 11, "name": "v1"}
    model = {
        "id": MODEL,
        "name": "WAI-illustrious-SDXL",
        "description": "<p>...</p>",
        "type": kind,
        "nsfw": False,
        "allowNoCredit": False,
        "allowCommercialUse": ["Image", "RentCivit"],
        "modelVersions": [civitai_version(content, **changes), older],
    }
    return json.dumps(model).encode()


def repository(content: bytes, **changes: object) -> bytes:
    """A repository with a file in LFS, one without, and a part of a diffusers folder."""
    found: dict[str, object] = {
        "id": "someone/mix",
        "sha": "0" * 40,
        "gated": False,
        "cardData": {"license": "openrail++", "base_model": "stabilityai/sdxl"},
        "siblings": [
            {"rfilename": "README.md", "size": 10, "blobId": "1" * 40},
            {
                "rfilename": "mix.safetensors",
                "size": len(content),
                "blobId": "2" * 40,
                "lfs": {
                    "sha256": SHA256(content).hexdigest(),
                    "size": len(content),
                    "pointerSize": 135,
                },
            },
            {"rfilename": "unet/model.safetensors", "size": 5, "blobId": "3" * 40},
        ],
    }
    return json.dumps(found | changes).encode()


def by_path(**pages: Answer) -> Answer:
    """Return an answer that depends on the first word of a path that begins with `/api/`.

    Others are answered with the server's file.
    """

    def answer(exchange: Exchange) -> None:
        path = exchange.asked.path
        for name, page in pages.items():
            if path.startswith(f"/{name.replace('_', '/')}"):
                page(exchange)
                return
        serve(exchange)

    return answer


def json_page(content: bytes) -> Answer:
    return give(content, Content_Type="application/json")
