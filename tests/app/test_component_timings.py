"""Networks that are not timed one by one are refused in words."""

from unittest.mock import Mock

import pytest

from app.cli.component_timings import time_components
from backends.base import Precision
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families.checkpoint import Component
from engine.graphs.t5 import T5Config
from tests.backends.samples import NeverCancelled


def test_a_denoiser_that_is_no_unet_is_refused() -> None:
    config = T5Config(vocabulary=4, width=4, heads=1, head_width=4, mlp_width=4, layers=1)
    checkpoint = Mock(family="flux1", components={Component.DENOISER: Mock(config=config)})
    timings = time_components(
        checkpoint,
        Mock(),
        Precision.F32,
        width=64,
        height=64,
        batches=(1,),
        cancel=NeverCancelled(),
    )
    with pytest.raises(EngineError) as raised:
        next(timings)
    assert raised.value.code is ErrorCode.REQUEST_INVALID
    assert "Flux.1" in str(raised.value)
