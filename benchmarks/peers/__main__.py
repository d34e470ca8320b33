"""`python -m benchmarks.peers NAME OPTIONS`: one peer, answering on its standard streams."""

import json
import sys

from benchmarks.child import serve
from benchmarks.peers import PEERS

if __name__ == "__main__":
    serve(lambda: PEERS[sys.argv[1]].load(json.loads(sys.argv[2])))
