"""The proof: pictures of other tools, made by plain torch loops, beside Safelight's.

`picture` is what is asked for, in no tool's words; `a1111`, `comfy` and `hugging_face` make it with
torch as their tool does, `ours` with Safelight; `matrix` lists what is compared and `page` writes
FIDELITY.md. Nothing here uses Safelight's samplers, schedules, noise or prompt code.
"""
