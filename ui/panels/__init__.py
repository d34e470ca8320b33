"""Parts of the window, each drawing one part of the state."""
