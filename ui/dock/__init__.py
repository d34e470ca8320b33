"""The bar at the bottom of the window, the same in every place: what is next, and what runs."""
