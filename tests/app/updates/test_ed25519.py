"""The check of Ed25519 signatures beside RFC 8032's examples and libsodium's verdicts."""

from random import Random

import pytest
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from app.updates.ed25519 import verifies

ORDER = 2**252 + 27742317777372353535851937790883648493
P = 2**255 - 19
# RFC 8032, 7.1: key, signature and content of tests 1, 2 and 3.
EXAMPLES = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        b"",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        b"\x72",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        b"\xaf\x82",
    ),
]
# The eight points of small order, and their forms that are not canonical.
SMALL = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]


def by_libsodium(key: bytes, signature: bytes, content: bytes) -> bool:
    try:
        VerifyKey(key).verify(content, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


@pytest.mark.parametrize(("key", "signature", "content"), EXAMPLES)
def test_examples_of_the_standard_are_verified(key: str, signature: str, content: bytes) -> None:
    assert verifies(bytes.fromhex(key), bytes.fromhex(signature), content)
    assert not verifies(bytes.fromhex(key), bytes.fromhex(signature), content + b".")


def test_verdicts_are_libsodiums_for_signatures_with_changed_bits() -> None:
    random = Random(0)
    for length in (0, 1, 31, 128, 5000):
        signing, content = SigningKey(random.randbytes(32)), random.randbytes(length)
        key, signature = bytes(signing.verify_key), signing.sign(content).signature
        assert verifies(key, signature, content)
        for _ in range(12):
            parts = [bytearray(key), bytearray(signature)]
            bit = random.randrange(8 * 96)
            part, place = (parts[0], bit) if bit < 256 else (parts[1], bit - 256)
            part[place // 8] ^= 1 << place % 8
            changed_key, changed = map(bytes, parts)
            assert not verifies(changed_key, changed, content)
            assert not by_libsodium(changed_key, changed, content)


def test_a_scalar_beyond_the_order_is_refused() -> None:
    key, signature, content = EXAMPLES[2]
    raw = bytes.fromhex(signature)
    beyond = int.from_bytes(raw[32:], "little") + ORDER
    changed = raw[:32] + beyond.to_bytes(32, "little")
    assert not verifies(bytes.fromhex(key), changed, content)
    assert not by_libsodium(bytes.fromhex(key), changed, content)


@pytest.mark.parametrize("point", SMALL)
def test_points_of_small_order_are_refused(point: str) -> None:
    small = bytes.fromhex(point)
    good, signature, content = EXAMPLES[1]
    for commitment in (small, bytes([1]) + bytes(31)):
        # With a scalar of nothing such a key would sign every text.
        forged = commitment + bytes(32)
        assert not verifies(small, forged, content)
        assert not by_libsodium(small, forged, content)
    assert not verifies(bytes.fromhex(good), small + bytes.fromhex(signature)[32:], content)


@pytest.mark.parametrize("y", [P, P + 1, P + 3, 2**255 - 1, 2])
def test_numbers_that_are_no_points_are_refused(y: int) -> None:
    key, signature, content = EXAMPLES[1]
    encoded, raw = y.to_bytes(32, "little"), bytes.fromhex(signature)
    assert not verifies(encoded, raw, content)
    assert not verifies(bytes.fromhex(key), encoded + raw[32:], content)
    assert not by_libsodium(encoded, raw, content)


@pytest.mark.parametrize("lengths", [(31, 64), (33, 64), (32, 63), (32, 65), (0, 0)])
def test_other_lengths_are_refused(lengths: tuple[int, int]) -> None:
    assert not verifies(bytes(lengths[0]), bytes(lengths[1]), b"")
