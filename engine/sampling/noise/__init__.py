"""Noise as the popular tools draw it, without torch, so that a seed gives the same picture.

noise = picture_noise(seed, (4, 64, 64), SeedOptions(), CONVENTIONS[ConventionName.A1111])
x = noise.first * sigmas[0]
source = noise.steps(sigmas, sigmas, brownian=SAMPLERS[sampler].brownian)
"""

from engine.sampling.noise.brownian import BrownianNoise
from engine.sampling.noise.picture import PictureNoise, picture_noise, torch_generator
from engine.sampling.noise.torch_cpu import TorchCpuGenerator
from engine.sampling.noise.torch_cuda import TorchCudaGenerator, philox4x32

__all__ = [
    "BrownianNoise",
    "PictureNoise",
    "TorchCpuGenerator",
    "TorchCudaGenerator",
    "philox4x32",
    "picture_noise",
    "torch_generator",
]
