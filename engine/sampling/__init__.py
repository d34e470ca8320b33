"""Sampling on the host, in NumPy: from noise to latents by calling a denoiser.

training = NoiseSchedule.scaled_linear()
sigmas = sigmas_for(ScheduleName.KARRAS, 20, training)
noise = SeededNoise([seed], (4, 64, 64))
denoise = Denoiser(predict, training, PredictionType.EPSILON, guidance=7.0)
x = initial_latents(noise.draw(), sigmas[0], InitialNoise.SIGMA)
for step in SAMPLERS[SamplerName.DPMPP_2M].function(denoise, x, sigmas, noise):
    ...  # step.x, step.denoised: progress, preview and cancel belong to whoever iterates
"""
