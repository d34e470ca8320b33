"""The question for a file or a folder, where the system has no dialog for it."""
