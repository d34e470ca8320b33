"""The engine process: reads commands, runs jobs, tells events."""
