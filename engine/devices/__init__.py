"""Choosing a device: trials in a child process, stored verdicts, an order of preference."""
