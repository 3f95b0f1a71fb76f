import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    start: int
    end: int


_A = re.compile(r"`([^`]+)`|\"([^\"]+)\"|((?:[A-Za-z_][\w]*[._/])+\w+|\w+_\w+|[a-z]+[A-Z]\w*)|(\d+(?:\.\d+)*)")


def anchors(p):
    out = []
    for m in _A.finditer(p):
        out.append(next(g for g in m.groups() if g))
    return tuple(dict.fromkeys(out))


def locate(text, evidence):
    m = re.search(
        r"(?<!\w)" + re.escape(text) + r"(?!\w)" if text[:1].isalnum() and text[-1:].isalnum() else re.escape(text),
        evidence,
        re.I,
    )
    return Span(m.start(), m.end()) if m else None


def ungrounded(p, texts):
    return tuple(a for a in anchors(p) if not any(locate(a, t) for t in texts))
