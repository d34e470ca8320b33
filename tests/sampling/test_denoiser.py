"""The denoiser's question to the network, and the picture it makes of the answer."""

import msgspec
import numpy as np
import pytest

from engine.api.values import ConventionName, PredictionType
from engine.sampling.denoiser import Denoiser
from engine.sampling.schedules import EdmSchedule, NoiseSchedule
from engine.sampling.types import Latent
from tests.sampling.toy import normals

TRAINING = NoiseSchedule.scaled_linear()
SIGMA = np.float32(3.0)
NOISE = normals([1, 2], (4, 3, 5))
PICTURE = normals([3, 4], (4, 3, 5))


def noised(picture: Latent, noise: Latent, sigma: np.float32) -> Latent:
    """A picture under noise of a level."""
    return picture + noise * sigma


@pytest.mark.parametrize("prediction", PredictionType)
def test_a_perfect_network_gives_the_picture_back(prediction: PredictionType):
    """The network sees alpha * picture + spread * noise with alpha^2 + spread^2 = 1."""
    alpha, spread = 1 / np.sqrt(10), 3 / np.sqrt(10)
    velocity = alpha * NOISE - spread * PICTURE
    answers = {
        PredictionType.EPSILON: NOISE,
        PredictionType.V: velocity,
        PredictionType.SAMPLE: PICTURE,
        PredictionType.EDM: -velocity,
        PredictionType.EDM_V: velocity,
        PredictionType.FLOW: NOISE,
    }

    def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
        np.testing.assert_allclose(x, alpha * PICTURE + spread * NOISE, atol=1e-6)
        assert timestep == TRAINING.sigma_to_timestep(SIGMA)
        return answers[prediction].astype(np.float32)

    denoise = Denoiser(predict, TRAINING, prediction, guidance=1.0)
    result = denoise(noised(PICTURE, NOISE, SIGMA), SIGMA)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, PICTURE, rtol=0, atol=3e-6)


@pytest.mark.parametrize("prediction", [PredictionType.EDM, PredictionType.EDM_V])
def test_an_edm_network_gets_a_logarithm_and_unit_variance(prediction: PredictionType):
    """Karras et al. (2022), table 1: F = (picture - c_skip * x) / c_out, for pictures of 0.5."""
    training = EdmSchedule.between(0.002, 80.0, 0.5, ConventionName.DIFFUSERS)
    x = noised(PICTURE / 2, NOISE, SIGMA)
    variance = 3.0**2 + 0.5**2
    skip, out = 0.5**2 / variance, 3.0 * 0.5 / np.sqrt(variance)
    sign = 1 if prediction is PredictionType.EDM else -1

    def predict(seen: Latent, told: np.float32, guided: bool) -> Latent:
        np.testing.assert_allclose(seen, x / np.sqrt(variance), rtol=1e-6)
        np.testing.assert_allclose(told, np.log(3.0) / 4, rtol=1e-6)
        return (sign * (PICTURE / 2 - skip * x) / out).astype(np.float32)

    result = Denoiser(predict, training, prediction, guidance=1.0)(x, SIGMA)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, PICTURE / 2, rtol=0, atol=3e-6)


@pytest.mark.parametrize("prediction", PredictionType)
def test_guidance_moves_away_from_the_negative_half(prediction: PredictionType):
    """One call answers for both halves, the prompt's first."""
    calls: list[tuple[int, ...]] = []
    answer = normals([5, 6, 7, 8], (4, 3, 5))

    def both(x: Latent, timestep: np.float32, guided: bool) -> Latent:
        calls.append(x.shape)
        return answer

    def half(part: slice) -> Latent:
        def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
            return answer[part]

        return Denoiser(predict, TRAINING, prediction, guidance=1.0)(x, SIGMA)

    x = noised(PICTURE, NOISE, SIGMA)
    result = Denoiser(both, TRAINING, prediction, guidance=7.0)(x, SIGMA)
    positive, negative = half(slice(2)), half(slice(2, 4))
    assert calls == [(2, 4, 3, 5)]
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, 7 * positive - 6 * negative, rtol=0, atol=1e-4)


def test_without_guidance_only_the_prompt_is_run():
    calls: list[tuple[int, ...]] = []

    def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
        calls.append(x.shape)
        return x

    denoiser = Denoiser(predict, TRAINING, PredictionType.EPSILON, guidance=1.0)
    denoiser(NOISE, SIGMA)
    assert calls == [NOISE.shape]


class Network:
    """Answers with one fixed output per prompt, and remembers whether the negative was asked."""

    def __init__(self, positives: int, pictures: int = 2) -> None:
        draws = normals(range(5, 5 + (positives + 1) * pictures), (4, 3, 5))
        # Unlike means and spreads, so that taking one for the other shows.
        self.outputs = [
            (1 + 0.3 * place) * output + np.float32(0.2 * place)
            for place, output in enumerate(np.split(draws, positives + 1))
        ]
        self.guided: list[bool] = []

    def __call__(self, x: Latent, timestep: np.float32, guided: bool) -> Latent:
        self.guided.append(guided)
        return np.concatenate(self.outputs if guided else self.outputs[:-1])

    def picture(self, place: int, prediction: PredictionType) -> Latent:
        """The picture that the output at a place predicts from `X`, without guidance."""
        alone = Denoiser(lambda x, timestep, guided: self.outputs[place], TRAINING, prediction, 1.0)
        return alone(X, SIGMA)


X = noised(PICTURE, NOISE, SIGMA)
HIGHER = np.nextafter(SIGMA, np.float32(9))


@pytest.mark.parametrize("prediction", PredictionType)
def test_composed_prompts_each_pull_by_their_weight(prediction: PredictionType):
    network = Network(positives=2)
    first, second, negative = (network.picture(place, prediction) for place in range(3))
    denoise = Denoiser(network, TRAINING, prediction, 7.0, weights=(1.2, -0.5))
    expected = negative + 8.4 * (first - negative) - 3.5 * (second - negative)
    np.testing.assert_allclose(denoise(X, SIGMA), expected, rtol=0, atol=3e-5)
    guided, against = denoise.pair(X, SIGMA)
    np.testing.assert_allclose(guided, expected, rtol=0, atol=3e-5)
    np.testing.assert_allclose(against, negative, rtol=0, atol=1e-6)
    assert network.guided == [True, True]


@pytest.mark.parametrize(
    ("guidance", "weights"), [(1.0, (1.0, 0.0)), (1.0, (0.25, 0.75)), (0.5, (-1.0, 3.0))]
)
def test_the_negative_prompt_is_not_run_where_its_factor_is_zero(
    guidance: float, weights: tuple[float, ...]
):
    """The factor of the negative prompt is 1 - guidance * sum of weights."""
    network = Network(positives=2)
    first, second = (network.picture(place, PredictionType.EPSILON) for place in range(2))
    denoise = Denoiser(network, TRAINING, PredictionType.EPSILON, guidance, weights)
    expected = guidance * (weights[0] * first + weights[1] * second)
    np.testing.assert_allclose(denoise(X, SIGMA), expected, rtol=0, atol=1e-5)
    assert network.guided == [False]


def test_a_pair_has_the_negative_picture_wherever_guidance_acts():
    """CFG++ has use for it without guidance, too."""
    network = Network(positives=1)
    denoise = Denoiser(network, TRAINING, PredictionType.V, guidance=1.0)
    guided, against = denoise.pair(X, SIGMA)
    np.testing.assert_allclose(guided, network.picture(0, PredictionType.V), rtol=0, atol=2e-6)
    np.testing.assert_array_equal(against, network.picture(1, PredictionType.V))
    assert network.guided == [True]


@pytest.mark.parametrize(
    ("levels", "acts"),
    [((0, 3), True), ((3, 9), True), ((0, 2.9), False), ((float(HIGHER), 9), False)],
)
def test_guidance_acts_between_its_levels(levels: tuple[float, float], acts: bool):
    network = Network(positives=1)
    positive = network.picture(0, PredictionType.V)
    denoise = Denoiser(network, TRAINING, PredictionType.V, 7.0, guided_levels=levels)
    guided, against = denoise.pair(X, SIGMA)
    np.testing.assert_array_equal(denoise(X, SIGMA), guided)
    assert network.guided == [acts, acts]
    assert np.array_equal(guided, positive) is not acts
    assert np.array_equal(against, guided) is not acts


def test_outside_its_levels_composed_prompts_keep_their_weights():
    network = Network(positives=2)
    kind = PredictionType.EPSILON
    first, second, negative = (network.picture(place, kind) for place in range(3))
    denoise = Denoiser(network, TRAINING, kind, 7.0, (1.0, 1.0), guided_levels=(4, 9))
    expected = first + second - negative
    np.testing.assert_allclose(denoise(X, SIGMA), expected, rtol=0, atol=1e-5)


def prediction_of(picture: Latent, kind: PredictionType) -> Latent:
    """The output of a network of this kind for this picture in `X`, from definitions."""
    noise = (X.astype(np.float64) - picture) / 3
    velocity = (noise - 3 * picture) / np.sqrt(10)
    match kind:
        case PredictionType.EPSILON | PredictionType.FLOW:
            return noise
        case PredictionType.SAMPLE:
            return picture
        case PredictionType.EDM:
            return -velocity
        case PredictionType.V | PredictionType.EDM_V:
            return velocity


@pytest.mark.parametrize("prediction", PredictionType)
@pytest.mark.parametrize("measured", [None, PredictionType.EPSILON, PredictionType.V])
def test_rescaling_restores_the_contrast_of_the_prompt(
    prediction: PredictionType, measured: PredictionType | None
):
    """Lin et al., equations 14 to 16, for each picture of the batch by itself."""
    network = Network(positives=1)
    kind = measured or prediction
    base = Denoiser(network, TRAINING, prediction, 7.0, rescale_as=measured)
    plain = prediction_of(network.picture(0, prediction), kind)
    guided = prediction_of(base(X, SIGMA), kind)
    ratio = plain.std(axis=(1, 2, 3)) / guided.std(axis=(1, 2, 3))
    assert (ratio < 0.5).all()
    assert ratio[0] != pytest.approx(ratio[1], rel=0.01)
    for rescale in (1.0, 0.7):
        denoise = msgspec.structs.replace(base, rescale=rescale)
        result = denoise(X, SIGMA)
        assert result.dtype == np.float32
        factor = rescale * ratio + 1 - rescale
        expected = guided * factor[:, None, None, None]
        np.testing.assert_allclose(prediction_of(result, kind), expected, rtol=0, atol=3e-5)
        np.testing.assert_array_equal(denoise.pair(X, SIGMA)[1], network.picture(1, prediction))


def test_a_level_of_pure_noise_keeps_its_precision():
    """Zero terminal SNR ends at sigma 4519: x is 4519 times as large as the picture in it."""
    sigma = np.float32(4518.8)
    x = noised(PICTURE, NOISE, sigma).astype(np.float64)
    # The velocity that belongs to the rounded x and the picture.
    spread = 1 / np.sqrt(1 + 1 / np.float64(sigma) ** 2)
    velocity = ((x - PICTURE) / sigma**2 - PICTURE) * spread
    denoise = Denoiser(
        lambda x, timestep, guided: velocity.astype(np.float32), TRAINING, PredictionType.V, 1.0
    )
    result = denoise(x.astype(np.float32), sigma)
    np.testing.assert_allclose(result, PICTURE, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("text", "image"), [(7.5, 1.5), (1.0, 2.0), (4.0, 0.5), (5.0, 1.0)])
def test_an_edit_is_guided_by_text_and_picture(text: float, image: float) -> None:
    """Brooks et al. (2023), equation 3, in the noise that is predicted."""
    both, with_picture, without = (normals([5, i], (4, 3, 5)) for i in range(3))
    x = noised(PICTURE, NOISE, SIGMA)

    def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
        assert guided
        return np.concatenate((both, with_picture, without) if image != 1 else (both, with_picture))

    denoise = Denoiser(predict, TRAINING, PredictionType.EPSILON, text, image_guidance=image)
    noise = without + image * (with_picture - without) + text * (both - with_picture)
    np.testing.assert_allclose(denoise(x, SIGMA), x - SIGMA * noise, rtol=1e-4, atol=1e-4)


def test_outside_the_levels_of_guidance_an_edit_uses_the_prompt_alone() -> None:
    both = normals([5, 0], (4, 3, 5))
    x = noised(PICTURE, NOISE, SIGMA)

    def predict(x: Latent, timestep: np.float32, guided: bool) -> Latent:
        assert not guided
        return both

    levels = (0.0, 1.0)
    denoise = Denoiser(
        predict, TRAINING, PredictionType.EPSILON, 7.5, image_guidance=1.5, guided_levels=levels
    )
    np.testing.assert_allclose(denoise(x, SIGMA), x - SIGMA * both, rtol=1e-5, atol=1e-5)
