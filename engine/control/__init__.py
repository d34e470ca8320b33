"""Control networks in the user's files, which lead a denoiser by a map: edges, depth, a pose.

`reading` tells what a file is and for which family; `model` makes its networks for a checkpoint.
"""
