"""Which device computes: trials in a child process, their verdicts, and the choice."""
