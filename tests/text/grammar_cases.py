"""Prompts whose reading by the tools is frozen in `frozen/`."""

import random

STEPS = (10, 7)

SCHEDULED = [
    "test",
    "",
    "a [b:3]",
    "a [b: 3]",
    "a [b : c : 1] d",
    "a [[[b]]:2]",
    "[(a:2):3]",
    "a[b:[c:d:2]:1]e",
    "a [unbalanced",
    "a [b:.5] c",
    "a [b:0.5] [c::0.25] [d:e:0.75]",
    "a [b:1.0] [c:2.0] [d:1.] [e:0.]",
    "a [b:0] c",
    "[a:b:-1]",
    "[a:b:+2]",
    "[a:b:1e1]",
    "[a:b:.2e1]",
    "[a:b:99]",
    "a [{b|d{:.5] c",
    "((a][:b:c [d:3]",
    "[a|(b:1.1)]",
    "[fe|]male",
    "[fe|||]male",
    "[a|b|c] and [d|e]",
    "[[a|b]|c]",
    "[[a|b]:c:5]",
    "[a:[b|c]:5]",
    "[a|[b:c:3]]",
    "[|]",
    "[:3]",
    "[::3]",
    "[a::3]",
    "[:a:3]",
    "a | b",
    "(a|b)",
    "[a|b",
    "[a:b|c:3]",
    "[a:b]",
    "[[a:b]:c:3]",
    "[a:b:c:3]",
    "[(a:b:c):d:3]",
    "[(a:d:3]",
    "[a)b:c:3]",
    "([a:b:3)]",
    r"\[a:b:3\]",
    r"[a\:b:c:3]",
    r"[a\|b|c]",
    r"[a\[:b:3]",
    "[a:b:3\\",
    "[a:b\\\n:3]",
    "[a:\n b:\t3 ]\n",
    "[a:b: 3 4]",
    "[a:b:3,5]",
    "[a:b:٣]",
    "fantasy [mountain:lake:0.25] and [an oak:a tree:0.75][ in front::0.6][: behind:0.25]",
    "([a:b:3]:1.2) [c]",
    "<lora:x:1> [a:b:3]",
    "[a:b:\0003]",
    "[\u202eabc\u200b:d:3]",
    # A1111's answer differs from run to run.
    "a [b:c:3]] d",
    "[a:3]:",
    "[a:3][[[",
]

COMPOSED = [
    "a AND b",
    "a cat :1.2 AND a dog AND a penguin :2.2",
    "ratio 16:9",
    "a:",
    "a :.5 ",
    "a : -1. AND : 3 AND",
    "ANDROID and BAND AND_x AND\nb:\n2\n",
    "a AND b:1.2.3 AND c:1e3 AND d::2",
    "(a AND b:0.5)",
    "AND",
    "a\u3000:\u30002\u3000",
]

TAGGED = [
    "a <lora:b:0.8> c",
    "<lora:b><hypernet:c:1.1:x>",
    "<lora:a:te=0.5:unet=1:dyn=4>",
    "<lora:a b/c\nd:1> < lora:x:1> <:x> <lora:> <lora",
    "<a:<b:c>d>",
    "<a:><b:c>",
    "<lora:x:1>>",
    "<löra:ü:1>",
]

COMMENTED = ["a # b\nc", "# a\nb", "a\n# b\n# c\nd", "a#", "#\n#\n", "x #1\r\ny"]

ATTENTION = [
    "(a: 1.2 )",
    "(a :1.2) (b:\n1.2\n)",
    ":1.2 ) (c",
    "([a:1.2)]",
    "a BREAK b (BREAK) [BREAK] BREAK",
    r"\(a:1.2\) \\(b:1.2\\)",
    "((((((((((((((a))))))))))))))",
    "(a:+.5) (b:-1) (c:)",
]

_SQUARE = list("[[]]()::||ab 3.")
_ROUND = ["(", ")", "(", ")", "[", "]", ":1.2)", ":", "a", "b ", "\\", " BREAK ", ": .5 )"]
_COMFY = ["(", ")", "(", ")", ":", "1.2", "a", " ", "\\", "\\(", "\\)", "\0\1", "\0\2", "\0"]


def drawn(pieces: list[str], count: int, longest: int) -> list[str]:
    """Texts put together at random, always the same."""
    generator = random.Random(4)
    return [
        "".join(generator.choice(pieces) for _ in range(generator.randint(2, longest)))
        for _ in range(count)
    ]


SCHEDULED.extend(drawn(_SQUARE, 200, 14))
ATTENTION.extend(drawn(_ROUND, 150, 12))
COMFY = drawn(_COMFY, 200, 14)
