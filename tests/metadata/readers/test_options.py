"""The options that act on a sampler or a schedule are those the engine has for it."""

from engine.metadata.readers import options
from engine.sampling.samplers import SAMPLERS
from engine.sampling.schedules import SCHEDULES


def test_options_of_samplers_are_those_of_the_engine() -> None:
    for option, names in (
        ("eta", options.WITH_ETA),
        ("noise_scale", options.WITH_NOISE_SCALE),
        *((churn, options.WITH_CHURN) for churn in ("churn", "churn_from", "churn_to")),
    ):
        assert names == {name for name, info in SAMPLERS.items() if option in info.options}, option


def test_options_of_schedules_are_those_of_the_engine() -> None:
    for option, names in (
        ("sigma_min", options.WITH_ENDS),
        ("sigma_max", options.WITH_ENDS),
        ("rho", options.WITH_RHO),
    ):
        assert names == {name for name, info in SCHEDULES.items() if option in info.options}, option
