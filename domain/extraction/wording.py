"""How the tables of words are written: alternatives separated by `;`, each a regular expression, matched as whole
words.
"""

from __future__ import annotations

import re


def words(listed: str) -> re.Pattern[str]:
    """Any of the alternatives, anywhere."""
    return re.compile(rf"(?<![\w-])(?:{_alternatives(listed)})(?![\w-]|\.\w)", re.IGNORECASE)


def starts(listed: str) -> re.Pattern[str]:
    """Any of the alternatives as the first words."""
    return re.compile(rf"^(?:{_alternatives(listed)})(?![\w-]|\.\w)", re.IGNORECASE)


def _alternatives(listed: str) -> str:
    found = [" ".join(one.split()) for one in listed.split(";")]
    if not all(found):
        raise ValueError("an alternative is empty and would match everything; remove the `;` too many")
    return "|".join(found)
