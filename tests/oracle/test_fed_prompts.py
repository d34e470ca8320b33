"""Tokens and masks of texts beside those that diffusers' pipelines give their encoders."""
# pyright: basic, reportMissingImports=false
# torch, diffusers and transformers are absent from the environment that is type-checked.

import pytest

from engine.api.values import ConventionName
from tests.families.fed_prompts import FAMILIES, FedPrompt, fed, texts_of
from tests.thinned import thinned

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
diffusers = pytest.importorskip("diffusers")

from tests.oracle import flux_folder, zimage_folder  # noqa: E402

PIPELINES = {
    "flux": diffusers.FluxPipeline,
    "chroma": diffusers.ChromaPipeline,
    "sd3": diffusers.StableDiffusion3Pipeline,
    "zimage": diffusers.ZImagePipeline,
    "flux2": diffusers.Flux2KleinPipeline,
}


class Noting(torch.nn.Module):
    """Stands for a text encoder: notes what it is given, and answers with states of ones."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.device, self.dtype = torch.device("cpu"), torch.float32
        self.given: list[tuple[list[int], int]] = []

    def forward(self, input_ids, attention_mask=None, **_):
        (row,) = input_ids.tolist()
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        count = int(mask.sum())
        assert mask[0, :count].all()
        self.given.append((row, count))
        states = torch.ones(1, len(row), 4)
        return transformers.modeling_outputs.BaseModelOutput(states, hidden_states=(states,) * 30)


def pipeline(family: str):
    """A pipeline of diffusers whose encoder notes what it is given; CLIP takes no part."""
    pieces, words = flux_folder._pieces(), zimage_folder._words()
    # What is cut is decoded for a warning alone.
    pieces.batch_decode = lambda _: ()
    t5 = {"flux": "_2", "sd3": "_3"}.get(family, "")
    absent = ("scheduler", "vae", "transformer", "text_encoder", "tokenizer")
    given: dict = dict.fromkeys((*absent, *(("text_encoder_2", "tokenizer_2") if t5 else ())))
    given[f"text_encoder{t5}"] = Noting()
    given[f"tokenizer{t5}"] = words if family in ("zimage", "flux2") else pieces
    return PIPELINES[family](**given)


def theirs(family: str, pipe, text: str) -> FedPrompt:
    """Note what the pipeline's own code gives its encoder, and its transformer of the states."""
    match family:
        case "flux" | "sd3":
            attended = pipe._get_t5_prompt_embeds(text, dtype=torch.float32).shape[1]
        case "chroma":
            attended = int(pipe._get_t5_prompt_embeds(text)[1].sum())
        case "zimage":
            attended = len(pipe._encode_prompt(text)[0])
        case _:
            attended = pipe.encode_prompt(text)[0].shape[1]
    (encoder,) = (
        component for component in pipe.components.values() if isinstance(component, Noting)
    )
    row, seen = encoder.given.pop()
    row = row[:seen] if family == "zimage" else row
    return FedPrompt([row], [seen], attended, [1.0] * len(row))


# `make thorough` has all drawn prompts.
@pytest.mark.parametrize("every", thinned([10, 1], [10], pytest.mark.slow))
@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_and_masks_are_those_of_diffusers(family: str, every: int) -> None:
    # Without a warning for each text that is cut.
    diffusers.utils.logging.set_verbosity_error()
    pipe = pipeline(family)
    others = [
        text
        for text in texts_of(every)
        if fed(family, text, ConventionName.DIFFUSERS) != theirs(family, pipe, text)
    ]
    assert others == []
