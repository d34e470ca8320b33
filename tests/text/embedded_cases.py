"""Prompts that name embeddings, and the embeddings, for frozen arrangements of tokens."""

import numpy as np

from engine.embeddings.embedding import CLIP_G, CLIP_L, Embedding

# Name and number of vectors.
EMBEDDINGS = {
    "EasyNegative": 8,
    "bad-hands-5": 2,
    "bad": 1,
    "cat toy": 4,
    "long": 20,
    "Ünïcode": 3,
    "sub.style": 5,
}
WORDS = "cat " * 66
A1111 = (
    "a photo of easynegative",
    "EASYNEGATIVE, badge (bad-hands-5:1.3), bad hands bad - hands - 5",
    "cat toy cattoy [Cat  Toy] cat toys",
    "ünïcode and ÜNÏCODE",
    f"{WORDS} EasyNegative dog",
    f"{WORDS} cat EasyNegative dog",
    f"{WORDS} cat cat EasyNegative dog",
    f"{'cat ' * 60}, dog EasyNegative cat cat cat cat cat cat cat bird",
    f"{'cat ' * 60}, (EasyNegative:1.4) cat cat cat cat cat cat cat bird",
    f"{'cat ' * 50}, long cat cat cat cat bird, dog " + "house " * 40,
    f"{'cat ' * 74}, bad-hands-5 dog",
    f"{'cat ' * 75}bad bad bad",
    "a BREAK EasyNegative BREAK (long) " + "dog " * 60,
    "long " * 9,
    "embedding:bad <bad> bad, bad",
)
COMFY = (
    "a photo of embedding:EasyNegative",
    "embedding:EasyNegative, dog (embedding:bad-hands-5:1.3) embedding:bad.pt",
    "xembedding:bad embedding:bad,, dog embedding:nothing here",
    "embedding:nothing, dog embedding:bad<lora:x> y embedding:bad[z]",
    "a\nembedding:bad\tembedding:sub.style (a embedding:bad b:0.5)",
    f"{'cat ' * 70} embedding:sub.style dog",
    f"{'cat ' * 71} embedding:sub.style dog",
    f"{'cat ' * 70} embedding:EasyNegative dog",
    f"{'cat ' * 70} embedding:long dog",
    f"({'cat ' * 74}) (embedding:bad-hands-5:0.7) dog",
    "embedding:long " * 5,
    "(embedding:EasyNegative)embedding:bad embedding: x" + "y",
)


def embedding(name: str, *widths: int) -> Embedding:
    """One of `EMBEDDINGS`, for one encoder of that width, or for SDXL's two."""
    count, seed = EMBEDDINGS[name], list(EMBEDDINGS).index(name)
    draw = np.random.default_rng(seed)
    tensors = [draw.standard_normal((count, width), np.float32) for width in widths]
    keys = ("",) if len(widths) == 1 else (CLIP_L, CLIP_G)
    return Embedding(name, dict(zip(keys, tensors, strict=True)))
