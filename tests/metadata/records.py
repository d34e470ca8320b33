"""Records and PNG bytes to test with."""

import struct
import zlib
from pathlib import Path

from hypothesis import strategies as st

from engine.api import (
    ComponentFiles,
    ConventionName,
    ErrorCode,
    ErrorInfo,
    GenerationRecord,
    InputImage,
    InputRole,
    Phase,
    PrecisionName,
    PredictionType,
    ResolvedRequest,
    Retry,
    SamplerName,
    ScheduleName,
)
from engine.api.conventions import CONVENTIONS
from engine.api.masks import MaskedContent, MaskOptions
from engine.api.request import GuidanceOptions, SamplerOptions, ScheduleOptions, SeedOptions
from engine.metadata.pictures import read_text_chunks
from engine.metadata.record import find_record

PLAIN_REQUEST = ResolvedRequest(
    prompt="a cat, (masterpiece:1.2)",
    negative_prompt="blurry",
    checkpoint="/models/dream v1.5.safetensors",
    components=ComponentFiles(),
    width=512,
    height=768,
    steps=20,
    guidance=7.0,
    sampler=SamplerName.DPMPP_2M,
    schedule=ScheduleName.KARRAS,
    seed=965400086,
    clip_skip=1,
    inputs=(),
    strength=0.75,
    convention=CONVENTIONS[ConventionName.A1111],
    backend="cpu",
    precision=PrecisionName.F32,
)

PLAIN = GenerationRecord(
    safelight="0.1.0",
    request=PLAIN_REQUEST,
    family="sd1",
    prediction=PredictionType.EPSILON,
    device="cpu:0",
    checkpoint_digest="ab" * 32,
)

# Any code point, lone surrogates included.
ANY_TEXT = st.text(st.characters(), max_size=30)
FRACTIONS = st.floats(0, 1)
LEVELS = st.one_of(st.none(), st.floats(0, 10_000))
SIDES = st.integers(64, 8192)
PATHS = st.one_of(st.none(), ANY_TEXT)
ERRORS = st.builds(ErrorInfo, st.sampled_from(ErrorCode), ANY_TEXT, ANY_TEXT, ANY_TEXT)

REQUESTS = st.builds(
    ResolvedRequest,
    prompt=ANY_TEXT,
    negative_prompt=ANY_TEXT,
    checkpoint=ANY_TEXT,
    components=st.builds(ComponentFiles, **dict.fromkeys(ComponentFiles.__struct_fields__, PATHS)),
    width=st.integers(64, 8192),
    height=st.integers(64, 8192),
    steps=st.integers(1, 1000),
    guidance=st.floats(0, 100),
    sampler=st.sampled_from(SamplerName),
    schedule=st.sampled_from(ScheduleName),
    seed=st.integers(0, 2**64 - 1),
    clip_skip=st.integers(1, 12),
    inputs=st.lists(
        st.builds(
            InputImage,
            role=st.sampled_from(InputRole),
            path=ANY_TEXT,
            weight=st.floats(-10_000, 10_000),
            range=st.tuples(FRACTIONS, FRACTIONS),
        ),
        max_size=2,
    ).map(tuple),
    strength=FRACTIONS,
    convention=st.sampled_from(tuple(CONVENTIONS.values())),
    backend=st.sampled_from(["cpu", "intel_openvino", "null"]),
    precision=st.sampled_from(PrecisionName),
    sampler_options=st.builds(SamplerOptions, eta=LEVELS, noise_scale=LEVELS, churn=LEVELS),
    schedule_options=st.builds(ScheduleOptions, sigma_min=LEVELS, sigma_max=LEVELS, rho=LEVELS),
    seed_options=st.builds(
        SeedOptions,
        variation_seed=st.one_of(st.none(), st.integers(0, 2**64 - 1)),
        variation_strength=FRACTIONS,
        resize_from=st.one_of(st.none(), st.tuples(SIDES, SIDES)),
        eta_seed_delta=st.integers(-(2**32), 2**32),
        batch_index=st.integers(0, 1024),
    ),
    guidance_options=st.builds(
        GuidanceOptions,
        rescale=FRACTIONS,
        range=st.tuples(FRACTIONS, FRACTIONS).map(sorted).map(tuple),
        image_guidance=st.one_of(st.none(), st.floats(0, 100)),
    ),
    mask_options=st.builds(
        MaskOptions,
        blur=st.one_of(st.none(), st.integers(0, 64)),
        inverted=st.booleans(),
        content=st.one_of(st.none(), st.sampled_from(MaskedContent)),
        only_masked=st.booleans(),
        padding=st.integers(0, 4096),
        expand=st.tuples(*[st.integers(0, 8192)] * 4),
        feather=st.integers(0, 4096),
    ),
    zero_terminal_snr=st.booleans(),
    prompt_template=PATHS,
    negative_template=PATHS,
)

RECORDS = st.builds(
    GenerationRecord,
    safelight=st.just("0.1.0"),
    request=REQUESTS,
    family=ANY_TEXT,
    prediction=st.sampled_from(PredictionType),
    device=ANY_TEXT,
    checkpoint_digest=ANY_TEXT,
    retries=st.lists(
        st.builds(
            Retry,
            phase=st.sampled_from(Phase),
            reason=ANY_TEXT,
            from_precision=st.sampled_from(PrecisionName),
            to_precision=st.sampled_from(PrecisionName),
        ),
        max_size=1,
    ).map(tuple),
    warnings=st.lists(ERRORS, max_size=1).map(tuple),
    checkpoint_sha256=st.one_of(st.none(), st.just("ab" * 32)),
)


def chunk(kind: bytes, body: bytes) -> bytes:
    """A PNG chunk with its length and checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
PIXELS = chunk(b"IDAT", zlib.compress(b"\0\1\2\3"))
END = chunk(b"IEND", b"")
PNG = HEADER + PIXELS + END


def png_with(*chunks: bytes) -> bytes:
    """A picture of one pixel with the chunks before its pixels."""
    return HEADER + b"".join(chunks) + PIXELS + END


def text(keyword: str, value: str) -> bytes:
    """A tEXt chunk."""
    return chunk(b"tEXt", keyword.encode("latin-1") + b"\0" + value.encode("latin-1"))


def read_record(path: Path) -> GenerationRecord | None:
    """The record of a picture that we wrote; None if there is none."""
    return find_record(read_text_chunks(path))
