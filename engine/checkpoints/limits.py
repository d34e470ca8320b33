"""Limits on files of weights, whoever wrote them; a file beyond them is refused."""

MAX_TENSORS = 50_000
# The most dimensions of a tensor, and the largest dimension.
MAX_RANK = 8
MAX_DIMENSION = 2**48
MAX_NAME_CHARS = 512
# The most JSON by which the child process lists a PyTorch file: 50,000 tensors with names of 250
# characters.
MAX_ANSWER_BYTES = 16 << 20
