"""The queue of jobs, its journal, and the job that is being made."""
