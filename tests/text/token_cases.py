"""Texts that tokenizers clean differently."""

TEXTS = (
    "a photo of a cat",
    "A  Photo\n\tof a CAT, don't",
    "it\u2019s a \u201cbig\u201d house \u2013 \u2018old\u2019",
    "\u732b\uff0c\u72d7\u3002\uff08\u5927\uff09\uff01 "
    "\uff21\uff22\uff23\uff11\uff12\uff13 a\uff0cb",
    "1girl, \u521d\u97f3\u30df\u30af, \u6771\u4eac\u30bf\u30ef\u30fc, \u30bd\u30ed",
    "cat &amp; dog, &lt;b&gt; &amp;amp; &quot;x&quot; &copy;",
    "<b>bold &amp; brave</b>",
    "sch\u00c3\u00b6n, caf\u00c3\u00a9, na\u00efve, cafe\u0301",
    "\ufb01ne \ufb02owers, \u00bd, \u2122, \u2026",
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f1ef\U0001f1f5",
    "soft\u00adhyphen zero\u200bwidth no\u00a0break ideographic\u3000space",
    "\x1b[31mred\x1b[0m \x07bell \x00null",
    "<|endoftext|> <|ENDOFTEXT|> <|startoftext|>",
    "\u0130stanbul STRASSE stra\u00dfe \u01c5",
    "\ud55c\uad6d\uc5b4 \uc0ac\uacfc, \u043f\u0440\u0438\u0432\u0435\u0442 "
    "\u043c\u0438\u0440, \u0645\u0631\u062d\u0628\u0627, \u0e44\u0e17\u0e22",
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f \u00b4 ` \u2032",
    "\U00020000 \u3400 \u8c48 a\u4e2db",
    "'S it'S IT'LL 3d 2D",
    "line\r\nbreak\u2028separator",
    "(masterpiece:1.2), [a|b], 8k, HDR",
    "",
)
