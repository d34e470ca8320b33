"""The memory plan of a job, and the networks that stay loaded between jobs."""
