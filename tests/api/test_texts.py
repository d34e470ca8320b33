"""Names that are not UTF-8 come through every encoding as they are."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.api.messages import CheckpointHashed, InspectCheckpoint
from engine.api.texts import encode_json
from engine.api.wire import FrameParser, decode_command, decode_event, encode
from engine.untrusted_json import decode_json

# Any code point, the lone halves of characters and the sign that stands before them included.
TEXTS = st.text(st.sampled_from("a\ud800\udce9\udfff\U0010fffe\U000f00e9\0\n") | st.characters())


class Named(msgspec.Struct, frozen=True):
    """A text, and a list of them."""

    name: str
    names: tuple[str, ...] = ()


@given(TEXTS)
def test_undecodable_names_cross_the_wire_unchanged(name: str) -> None:
    command = InspectCheckpoint(query=1, path=name)
    (frame,) = FrameParser().feed(encode(command))
    assert decode_command(frame) == command
    event = CheckpointHashed(path=name, done_bytes=1, total_bytes=2, sha256=name)
    (frame,) = FrameParser().feed(encode(event, name.encode(errors="surrogatepass")))
    assert decode_event(frame) == event


@given(TEXTS, st.lists(TEXTS))
def test_texts_survive_json(name: str, names: list[str]) -> None:
    value = Named(name, tuple(names))
    raw = encode_json(value)
    raw.decode()
    assert decode_json(raw, msgspec.json.Decoder(Named)) == value
