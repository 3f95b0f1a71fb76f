"""What counts as an anchor of a proposition and when it occurs in evidence, as tables both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.extraction.anchors import Anchor, AnchorKind, anchors
from domain.extraction.grounding import Span, locate, ungrounded

ANCHORS: list[tuple[str, list[str]]] = [
    ("The cache is stale after a restart", []),
    ("Retry only after the lock is released, e.g. by hand", []),
    ("It does NOT work and must NEVER be used", []),
    ("It works in Safari/Firefox and/or Chrome", []),
    ("`parse_date()` fails on `a  b`", ["code parse_date", "code a  b"]),
    ("``a ` b`` is odd", ["code a ` b"]),
    ("It says \"not found\" and 'try again'", ["quoted not found", "quoted try again"]),
    ("it says “not found”, «нет» and „nein“", ["quoted not found", "quoted нет", "quoted nein"]),
    ("the users' data isn't lost", []),
    (
        "parse_date and parseDate and WebAuthn fail",
        ["identifier parse_date", "identifier parseDate", "identifier WebAuthn"],
    ),
    ("os.path.join and Foo::bar and a->b", ["identifier os.path.join", "identifier Foo::bar", "identifier a->b"]),
    ("server-09 uses utf8 on x86_64", ["identifier server-09", "identifier utf8", "identifier x86_64"]),
    ("well-known re-run", []),
    ("ValueError, json.JSONDecodeError, ENOENT", ["error ValueError", "error json.JSONDecodeError", "error ENOENT"]),
    ("HTTP over TLS", ["acronym HTTP", "acronym TLS"]),
    ("X-Request-Id is sent", ["identifier X-Request-Id"]),
    ("C++ and C# differ", ["identifier C++", "identifier C#"]),
    ("$HOME and @cached are set", ["identifier $HOME", "identifier @cached"]),
    ("use --no-cache and -v", ["flag --no-cache", "flag -v"]),
    ("set --depth=1", ["flag --depth", "number 1"]),
    ("see src/app.py, ./run.sh and /etc/hosts.", ["path src/app.py", "path ./run.sh", "path /etc/hosts"]),
    ("README.md and package.json", ["path README.md", "path package.json"]),
    ("in tests/ and a/b/c", ["path tests/", "path a/b/c"]),
    ("see https://example.org/a?b=1.", ["url https://example.org/a?b=1"]),
    ("db.example.org:5432 and 127.0.0.1:80", ["host db.example.org:5432", "host 127.0.0.1:80"]),
    ("localhost:3000 answers", ["host localhost:3000"]),
    ("since 2024-05-01", ["date 2024-05-01"]),
    ("v2 and 1.2.3 and 2.0-rc1", ["version v2", "version 1.2.3", "version 2.0-rc1"]),
    ("10, -1, 3.11, 1,000 and 5-7", ["number 10", "number -1", "number 3.11", "number 1,000", "number 5", "number 7"]),
    ("10ms or 404s or 50%", ["number 10", "number 404", "number 50"]),
    ("commit 4b825dc, 1e6 and 0x1F", ["identifier 4b825dc", "identifier 1e6", "identifier 0x1F"]),
    ("exit code 0 after 10 tests, 10 of 10", ["number 0", "number 10"]),
    ("Тест test_foo падает на Python 3.11", ["identifier test_foo", "number 3.11"]),
    ("Ждать 1,5 с, всего 10 000 строк, НЕ больше", ["number 1.5", "number 10\u00a0000"]),
    (
        "WebAuthn работает в Safari/Firefox, но не работает в текущем macOS WebView runtime Tauri.",
        ["identifier WebAuthn", "identifier macOS", "identifier WebView"],
    ),
    ("БД в ОЗУ", ["acronym БД", "acronym ОЗУ"]),
]

GROUNDED = [
    ("`pytest -q` passes", "$ pytest -q\n3 passed"),
    ("`pytest  -q` passes", "$ pytest\n  -q"),
    ("`foo()` fails", "foo(1)"),
    ("parse_date fails", "File x, in parse_date\n"),
    ("parse_date fails", "self.parse_date(x)"),
    ("os.path is slow", "import os.path.join"),
    ("ValueError is raised", "ValueError: bad"),
    ("HTTP is used", "http://x"),
    ('it says "not found"', "error: not found."),
    ('it says "don\'t"', "it says don’t"),
    ("10 tests", "ran 10 tests"),
    ("10 tests", "[1,10,7]"),
    ("10 ms", "took 10ms"),
    ("took 10ms", "took 10ms"),
    ("10 lines", "5-10"),
    ("10 is set", "x=10;"),
    ("10.", "it is 10."),
    ("costs $10", "$10"),
    ("1,000 rows", "1000 rows"),
    ("1000 rows", "1,000 rows"),
    ("10000 rows", "10 000 rows"),
    ("1.5 s", "1.5 s"),
    ("exit code -1", "code: -1"),
    ("version v1.2.3", "foo 1.2.3"),
    ("version 1.2.3", "v1.2.3,"),
    ("see src/app.py", "/repo/src/app.py:10"),
    ("needs --no-cache", "run --no-cache=1"),
    ("server-09 is down", "(server-09)"),
    ("db.example.org is down", "https://db.example.org/x"),
    ("see https://example.org/a.", "GET https://example.org/a 200"),
    ("since 2024-05-01", "2024-05-01T10:00"),
    ("caf\u00e9_x fails", "cafe\u0301_x"),
    ("Тест test_foo падает, 1,5 с", "test_foo: 1.5s"),
    ("Всего 10 000 строк", "10000 lines"),
    ("сообщение «нет доступа»", "ошибка: нет доступа"),
    ("nothing to check here", ""),
]

NOT_GROUNDED = [
    ("`pytest -x` passes", "pytest -q", "pytest -x"),
    ("`Foo` fails", "foo", "Foo"),
    ("`foo` fails", "foobar", "foo"),
    ("parse_date fails", "parse_dates(x)", "parse_date"),
    ("parse_date fails", "my_parse_date", "parse_date"),
    ("parseDate fails", "parsedate", "parseDate"),
    ("ValueError is raised", "TypeError: bad", "ValueError"),
    ("TLS is used", "settled", "TLS"),
    ('it says "not found"', "not  yet found", "not found"),
    ("10 tests", "2010", "10"),
    ("10 tests", "100", "10"),
    ("10 tests", "10.5", "10"),
    ("10 tests", "3.10", "10"),
    ("10 tests", "10,000", "10"),
    ("200 tests", "1,200", "200"),
    ("10 tests", "test_10", "10"),
    ("10 tests", "10ab34cd", "10"),
    ("1000 rows", "10000 rows", "1000"),
    ("exit code 1", "exit code -1", "1"),
    ("exit code -1", "exit code 1", "-1"),
    ("1.1 is used", "1.10", "1.1"),
    ("1.10 is used", "1.1", "1.10"),
    ("3.11 is used", "3.11.4", "3.11"),
    ("version 1.2.3", "1.2.3-rc1", "1.2.3"),
    ("version 1.2.3", "1.2.34", "1.2.3"),
    ("server-09 is down", "server-90", "server-09"),
    ("server-09 is down", "server-090", "server-09"),
    ("server-09 is down", "server-09-b", "server-09"),
    ("needs --no-cache", "--no-cache-dir", "--no-cache"),
    ("needs -v", "--v", "-v"),
    ("see src/app.py", "src/app.pyc", "src/app.py"),
    ("see tests/foo_a", "tests/foo_a.py", "tests/foo_a"),
    ("see app.py", "myapp.py", "app.py"),
    ("example.org is down", "example.org.evil.net", "example.org"),
    ("example.org is down", "notexample.org", "example.org"),
    ("since 2024-05-01", "2024-05-11", "2024-05-01"),
    ("Тест test_foo падает", "test_bar", "test_foo"),
    ("Ждать 1,5 с", "15 s", "1.5"),
]


@pytest.mark.parametrize(("proposition", "expected"), ANCHORS)
def test_anchors(proposition: str, expected: list[str]) -> None:
    assert [f"{anchor.kind} {anchor.text}" for anchor in anchors(proposition)] == expected


@pytest.mark.parametrize(("proposition", "evidence"), GROUNDED)
def test_grounded(proposition: str, evidence: str) -> None:
    assert ungrounded(proposition, ["something else", evidence]) == ()


@pytest.mark.parametrize(("proposition", "evidence", "missing"), NOT_GROUNDED)
def test_not_grounded(proposition: str, evidence: str, missing: str) -> None:
    assert [anchor.text for anchor in ungrounded(proposition, [evidence])] == [missing]


def test_each_anchor_may_stand_in_another_text() -> None:
    assert ungrounded("parse_date fails 3 times", ["parse_date", "3 failures"]) == ()
    assert ungrounded("parse_date fails 3 times", []) == (
        Anchor(AnchorKind.IDENTIFIER, "parse_date"),
        Anchor(AnchorKind.NUMBER, "3"),
    )


@pytest.mark.parametrize(
    ("anchor", "text", "span"),
    [
        ("not found", "x not\n found.", Span(2, 12)),
        (Anchor(AnchorKind.NUMBER, "10"), "2010 or 10", Span(8, 10)),
        (Anchor(AnchorKind.NUMBER, "-1"), "x=-1", Span(2, 4)),
        (Anchor(AnchorKind.VERSION, "1.2.3"), "at v1.2.3", Span(3, 9)),
        (Anchor(AnchorKind.IDENTIFIER, "foo_x"), "foo_xy foo_x", Span(7, 12)),
        ("привет", "ну, привет!", Span(4, 10)),
        ("", "x", None),
        ("x", "", None),
    ],
)
def test_locate_gives_character_offsets(anchor: Anchor | str, text: str, span: Span | None) -> None:
    assert locate(anchor, text) == span


_BITS = st.lists(
    st.sampled_from(
        [
            "`",
            '"',
            "'",
            "“",
            "foo_bar",
            "fooBar",
            "--x",
            "/",
            "a/b.py",
            "1,5",
            "10 000",
            "-1",
            "v1.2",
            ".",
            " ",
            "я",
            "10",
            "ms",
            "_",
            "-",
            "\0",
            "\ud800",
            "E",
            "(",
            ")",
            "::",
            "@",
            "$",
            "#",
        ]
    )
).map("".join)


@given(st.one_of(st.text(), _BITS))
def test_a_proposition_with_itself_as_evidence_never_raises(text: str) -> None:
    for anchor in ungrounded(text, [text]):
        assert anchor in anchors(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "foo_bar",
                "fooBar",
                "--xy",
                "a/b.py",
                "-1",
                "v1.2",
                "10",
                "1,000",
                "`x y`",
                '"x  y"',
                "слово",
                "TLS",
                "server-09",
                "ValueError",
                "2024-05-01",
                "db.example.org",
                "README.md",
                "1.5",
            ]
        )
    )
)
def test_a_proposition_grounds_itself(words: list[str]) -> None:
    text = " and ".join(words)
    assert ungrounded(text, [text]) == ()


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_number_is_found_only_as_itself(one: int, other: int) -> None:
    for written in (str(other), f"{other:,}", f"{other:_}"):
        assert (ungrounded(f"there are {one} rows", [f"rows: {written}."]) == ()) == (one == other)


@pytest.mark.parametrize("piece", ["`", '"', "'a", "a.", "a-", "/a", "-", "1,000", "1.", "a_", "«", "10 ", "::a", "A"])
def test_hostile_text_is_read_to_its_end(piece: str) -> None:
    text = f"{piece * (20_000 // len(piece))} `the_end` 77"
    assert {"the_end", "77"} & {anchor.text for anchor in anchors(text)}
    locate(piece, text)
    assert locate(Anchor(AnchorKind.NUMBER, "77"), text) is not None
