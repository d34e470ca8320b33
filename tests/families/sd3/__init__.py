"""Files of Stable Diffusion 3, and pictures by a tiny one."""
