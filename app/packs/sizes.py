"""Sizes in words."""


def megabytes(count: int) -> str:
    """Return a number of bytes as "7 MB" or "1.6 GB"."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"
