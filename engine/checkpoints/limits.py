"""What a file of weights may hold at most, whoever wrote it; more is refused."""

MAX_TENSORS = 50_000
# Dimensions of a tensor, and the length of each.
MAX_RANK = 8
MAX_DIMENSION = 2**48
MAX_NAME_CHARS = 512
# Of JSON with which the child lists a PyTorch file: 50,000 tensors with names of 250 characters.
MAX_ANSWER_BYTES = 16 << 20
