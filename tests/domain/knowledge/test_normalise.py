"""When two texts are one claim (`claim/v1`), as a table both ways, and what ids are made of."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.normalise import claim_identity, normalise_claim, observation_identity

SAME = [
    ("Foo breaks the build", "foo breaks the build"),
    ("FOO breaks the build", "foo breaks the build"),
    ("It does NOT work", "it does not work"),
    ("The test fails.", "the test fails"),
    ("The test fails...", "the test fails"),
    ("The test fails…", "the test fails"),
    ("The test fails:", "the test fails"),
    ("  The\ttest \n fails  ", "the test fails"),
    ("the\u00a0test\u2009fails", "the test fails"),
    ("the test\u200b fails\ufeff", "the test fails"),
    ("the “old” test fails", 'the "old" test fails'),
    ("the «old» test fails", 'the "old" test fails'),
    ("it doesn’t fail", "it doesn't fail"),
    ("the ‘old’ test fails", "the 'old' test fails"),
    ("caf\u00e9 fails", "cafe\u0301 fails"),
    ("pages 10–20 fail", "pages 10-20 fail"),
    ("it fails — always", "it fails - always"),
    ("it fails—always", "it fails - always"),
    ("returns −1", "returns -1"),
    ("(Note: it fails)", "(note: it fails)"),
    ("Re-Run the tests", "re-run the tests"),
    ("Use `Foo`.", "use `Foo`"),
    ("The   `a  b`   fails", "the `a  b` fails"),
    ("Причиной ошибки является Кеш.", "причиной ошибки является кеш"),
    ("X ВЫЗЫВАЕТ Y", "x вызывает y"),
    ('The error is "Foo Bar".', 'the error is "Foo Bar"'),
    ("Needs a lock, ", "needs a lock"),
]

DIFFERENT = [
    ("use `Foo`", "use `foo`"),
    ("use `a b`", "use `a  b`"),
    ("use `Foo`", "use Foo"),
    ("use `“x”`", 'use `"x"`'),
    ("use `x.`", "use `x`"),
    ("use ``a ` B``", "use ``a ` b``"),
    ("needs version 1.10", "needs version 1.1"),
    ("needs version 1.0", "needs version 1"),
    ("needs v2", "needs v3"),
    ("a != b", "a == b"),
    ("a < b", "a > b"),
    ("it does not work", "it does work"),
    ("it can't work", "it can work"),
    ("never retry", "retry"),
    ("parse_date fails", "parsedate fails"),
    ("parse_Date fails", "parse_date fails"),
    ("parseDate fails", "parsedate fails"),
    ("getUser fails", "GetUser fails"),
    ("--flag is needed", "-flag is needed"),
    ("--flag is needed", "flag is needed"),
    ("-V is needed", "-v is needed"),
    ("src/App.tsx fails", "src/app.tsx fails"),
    ("README.md is stale", "readme.md is stale"),
    ("server-09 is down", "server-90 is down"),
    ("server09 is down", "Server09 is down"),
    ("$PATH is empty", "$path is empty"),
    ("wait 10 s", "wait 100 s"),
    ("wait 1,000 s", "wait 1000 s"),
    ('returns "True"', 'returns "true"'),
    ("'$HOME' is expanded", '"$HOME" is expanded'),
    ("it returns 'Foo'", "it returns 'foo'"),
    ("does it fail?", "does it fail"),
    ("use println!", "use println"),
    ("go to ..", "go to"),
    ("go to ../..", "go to ../"),
    ("the range is 1..", "the range is 1"),
    ("prefix std::", "prefix std"),
    ("x² grows", "x2 grows"),
    ("Maße fehlen", "Masse fehlen"),
    ("call Foo()", "call foo()"),
    ("render <Foo>", "render <foo>"),
    ("https://example.org/A", "https://example.org/a"),
    ("C++ is used", "C is used"),
    ("C# is used", "C is used"),
    ("кеш есть", "кеша нет"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_claim(one: str, other: str) -> None:
    assert normalise_claim(one) == normalise_claim(other)
    assert claim_identity("p", one) == claim_identity("p", other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_claims_that_stay_apart(one: str, other: str) -> None:
    assert normalise_claim(one) != normalise_claim(other)
    assert claim_identity("p", one) != claim_identity("p", other)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  “WebAuthn” Works in `Safari 17`,\nnot in Tauri. ", '"WebAuthn" works in `Safari 17`, not in tauri'),
        ("`unclosed Foo", "`unclosed foo"),
        ("``", "``"),
        ("", ""),
        (" . ", "."),
        ("Use ``a`b`` And `C`", "use ``a`b`` and `C`"),
    ],
)
def test_normal_forms(text: str, normal: str) -> None:
    assert normalise_claim(text) == normal


def test_ids_hold_the_version_the_project_and_the_generation() -> None:
    first = claim_identity("p", "The cache is stale.")
    assert first == "claim/v1/16a515e4aa02b873eece7f93a0f0e61d"
    assert claim_identity("q", "The cache is stale.") != first
    assert claim_identity("p", "the cache is stale", 2) == f"{first}.g2"


def test_observation_ids_keep_project_workspace_and_command_apart() -> None:
    ids = {
        observation_identity("p", "repo", "pytest"),
        observation_identity("q", "repo", "pytest"),
        observation_identity("p", "repo/api", "pytest"),
        observation_identity("p", "repo", "pytest -x"),
        observation_identity("p", "", "repo pytest"),
        observation_identity("p repo", "", "pytest"),
    }
    assert len(ids) == 6
    assert observation_identity("p", "repo", "pytest") == "auto/855f434d867c28b89ca35f57b6aec649"


def test_bad_input_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="has no content"):
        claim_identity("p", " \u200b ")
    with pytest.raises(ValueError, match="generation -1 is negative"):
        claim_identity("p", "x", -1)


_PIECES = st.lists(
    st.sampled_from(
        [
            "Foo",
            "fooBar",
            "`",
            "``",
            '"',
            "'",
            "“",
            "’",
            " ",
            "\n",
            ".",
            "...",
            ",",
            "—",
            "\u1fef",
            "\u0301",
            "\u00ad",
            "İ",
            "ǅ",
            "(",
            ")",
            "ß",
            "Σ",
            "1.10",
            "--x",
            "\ud800",
            "\0",
        ]
    )
).map("".join)


@given(st.one_of(st.text(), _PIECES))
def test_normalising_again_changes_nothing(text: str) -> None:
    once = normalise_claim(text)
    assert normalise_claim(once) == once
    if once:
        assert claim_identity("p", text) == claim_identity("p", once)


@given(st.text(st.characters(exclude_characters="`"), min_size=1))
def test_code_spans_are_verbatim(code: str) -> None:
    span = normalise_claim(f"see `{code}` here")
    assert unicodedata.normalize("NFC", f"`{code}`") in span
