"""A trial of the Windows installer under Wine."""
