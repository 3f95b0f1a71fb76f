"""How texts become terms, as a table, and what holds for every term."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.retrieval.terms import LONGEST_TERM_BYTES, terms

TABLE = [
    ("", ""),
    (" .,-_ \0 ", ""),
    ("The cache is stale.", "the cache is stale"),
    ("the THE The", "the"),
    ("parse_date", "parse_date parse date"),
    ("parseDate", "parsedate parse date"),
    ("HTTPServerError", "httpservererror http server error"),
    ("WebAuthn in macOS", "webauthn web authn in macos mac os"),
    ("server-09", "server-09 server 09"),
    ("server-90", "server-90 server 90"),
    ("src/app.py", "src/app.py src app.py app py"),
    ("/repo/tests/test_foo.py:10", "repo/tests/test_foo.py:10 repo tests test test_foo.py:10 test_foo py 10 foo"),
    ("Foo::bar", "foo::bar foo bar"),
    ("os.path.join()", "os.path.join os path join"),
    ("__init__", "__init__ init"),
    ("--no-cache", "no-cache no cache"),
    ("version 1.10", "version 1.10"),
    ("v3.11.4", "v3.11.4"),
    ("12,000 rows", "12000 rows row"),
    ("a,b", "a b"),
    ("https://example.org/a", "https http example.org/a example.org a example org"),
    ("C++ and C#", "c++ and c#"),
    ("x = y#3", "x y#3 y 3"),
    ("don't", "don't don"),
    ("the user’s data", "the user's user data"),
    ("tests boxes queries status class this", "tests test boxes boxe box queries query status class this"),
    ("Ошибка ошибки ошибок", "ошибка ошибк ошибки ошибок"),
    ("кеш и кеша", "кеш и кеша"),
    ("Straße STRASSE", "strasse"),
    ("ＡＢＣ１", "abc1"),
    ("caf\u00e9 cafe\u0301", "caf\u00e9"),
    ("数据库 错误", "数据 据库 错误"),
    ("猫", "猫"),
    ("API错误码v2", "api 错误 误码 v2"),
    ("हिन्दी में", "हिन्दी में"),
    ("שָׁלוֹם", unicodedata.normalize("NFKC", "שָׁלוֹם")),
    ("데이터베이스 오류", "데이터베이스 오류"),
    ("a\0b\ud800c", "a b c"),
    ("bob@example.org", "bob@example.org bob example org"),
]


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_terms(text: str, expected: str) -> None:
    assert " ".join(terms(text)) == expected


def test_what_only_looks_alike_shares_no_name() -> None:
    assert set(terms("server-09")) & set(terms("server-90")) == {"server"}
    assert set(terms("1.10")) & set(terms("1.1")) == set()


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("date", "parse_date"),
        ("parse date", "parseDate"),
        ("app.py", "src/app.py"),
        ("test", "the tests"),
        ("tests", "a test"),
        ("server 09", "server-09"),
        ("cache", "caches"),
        ("search", "searches"),
        ("case", "cases"),
        ("class", "classes"),
        ("ошибка", "нет ошибки"),
        ("据库", "数据库"),
        ("12000", "12,000"),
    ],
)
def test_a_query_meets_what_it_means(query: str, document: str) -> None:
    assert set(terms(query)) & set(terms(document))


def test_long_terms_are_bounded() -> None:
    long = "x" * 1000
    assert terms(long) == ("x" * LONGEST_TERM_BYTES,)
    assert terms(f"a/{long}") == ("a", "x" * LONGEST_TERM_BYTES)
    assert terms("я" * 100) == ("я" * 64,)


_BITS = st.lists(
    st.sampled_from(
        [
            "foo",
            "Bar",
            "BAZ",
            "_",
            "-",
            ".",
            "/",
            ":",
            "::",
            "'",
            "’",
            "#",
            "++",
            "1",
            "09",
            ",000",
            " ",
            "я",
            "Ошибки",
            "猫猫",
            "ก็",
            "İ",
            "ß",
            "ǅ",
            "\0",
            "\ud800",
            "\u0301",
            "ﬁ",
            "x" * 130,
        ]
    )
).map("".join)


@given(st.one_of(st.text(), _BITS))
def test_every_term_is_small_folded_and_storable(text: str) -> None:
    found = terms(text)
    assert len(set(found)) == len(found)
    for term in found:
        assert term.strip()
        assert "\0" not in term
        assert 0 < len(term.encode()) <= LONGEST_TERM_BYTES
        assert not any(char.isspace() for char in term)


@given(st.one_of(st.text(), _BITS))
def test_case_and_composition_make_no_difference(text: str) -> None:
    assert set(terms(text.replace("ǅ", "x"))) >= set(terms(unicodedata.normalize("NFKC", text.replace("ǅ", "x"))))


@given(
    st.lists(st.sampled_from(["foo", "Bar", "_", "-", ".", "/", "09", "tests", "ошибки", "猫猫猫", "C++"])).map("".join)
)
def test_every_term_finds_itself(text: str) -> None:
    for term in terms(text):
        assert term in terms(term)


@pytest.mark.parametrize(
    "piece", ["a", "a-", "aB", "1,000", "1.", "_", "'", "猫", "a/", "::a", "я", "\u0301", "a#", "++"]
)
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    assert "lastword" in terms(f"{piece * (200_000 // len(piece))} lastword")
