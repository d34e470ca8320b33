"""Sampling on the host, in NumPy: from noise to latents by calling a denoiser.

model = VarianceExploding(PredictionType.EPSILON)
plan = plan_sampling(request, model, redraws=False)
noise = picture_noise(request.seed, (4, 64, 64), request.seed_options, request.convention)
denoise = Denoiser(predict, plan.training, model.prediction, request.guidance)
source = noise.steps(plan.sigmas, plan.whole, brownian=False)
for step in plan.sampler(denoise, plan.start(noise.first, None), plan.sigmas, source):
    ...  # step.x, step.denoised: progress, preview and cancel belong to whoever iterates
latent = plan.finish(step.x)
"""
