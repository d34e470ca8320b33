"""The look of the window: two colour schemes, a spacing grid, a stylesheet and icons."""
