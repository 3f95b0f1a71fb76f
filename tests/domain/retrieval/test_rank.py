"""Ranking: what a word weighs, which words are left out, and the order of what they found."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.retrieval.rank import SMALL, Posting, rank, weigh, weight


@pytest.mark.parametrize(
    ("nodes", "holding", "expected"),
    [
        (1, 1, 1000),  # log2(2/1)
        (3, 1, 2000),  # log2(4/1)
        (3, 3, 415),  # log2(4/3)
        (7, 2, 2000),  # log2(8/2)
        (1023, 1, 10000),
        (1_000_000, 1_000_000, 1),  # tells nothing, and still is one
    ],
)
def test_what_a_word_weighs(nodes: int, holding: int, expected: int) -> None:
    assert weight(nodes, holding) == expected


@given(st.integers(1, 10**6), st.data())
def test_a_rarer_word_never_weighs_less(nodes: int, data: st.DataObject) -> None:
    holding = data.draw(st.integers(1, nodes))
    rarer = data.draw(st.integers(1, holding))
    assert weight(nodes, rarer) >= weight(nodes, holding) >= 1


@pytest.mark.parametrize(
    ("words", "nodes", "frequencies", "used", "common", "unknown"),
    [
        (("a", "b"), 20, {"a": 19, "b": 2}, {"b"}, ("a",), ()),
        (("a", "b"), 20, {"a": 17, "b": 2}, {"a", "b"}, (), ()),
        (("a", "b"), 20, {"a": 20, "b": 18}, {"a", "b"}, ("a", "b"), ()),  # nothing else: all are used
        (("a", "b"), SMALL - 1, {"a": SMALL - 1, "b": 1}, {"a", "b"}, (), ()),  # too few to call anything common
        (("a", "b"), 20, {"a": 1}, {"a"}, (), ("b",)),
        (("a",), 0, {}, set(), (), ("a",)),
        ((), 20, {}, set(), (), ()),
    ],
)
def test_which_words_are_used(
    words: Sequence[str],
    nodes: int,
    frequencies: dict[str, int],
    used: set[str],
    common: tuple[str, ...],
    unknown: tuple[str, ...],
) -> None:
    weights = weigh(words, nodes, frequencies)
    assert (set(weights.of), weights.common, weights.unknown) == (used, common, unknown)


def posting(node: str, term: str = "a", times: int = 1, state: str = "proposed", confirmations: int = 0) -> Posting:
    return Posting(term, node, times, state, confirmations)


@pytest.mark.parametrize(
    ("postings", "order"),
    [
        ([posting("x", "a"), posting("y", "b")], ["y", "x"]),  # the heavier word
        ([posting("x", "b"), posting("y", "a"), posting("y", "b")], ["y", "x"]),  # more words
        ([posting("x"), posting("y", times=3)], ["y", "x"]),  # said more often
        ([posting("x"), posting("y", state="confirmed")], ["y", "x"]),
        ([posting("x", state="challenged"), posting("y")], ["y", "x"]),
        ([posting("x"), posting("y", confirmations=2)], ["y", "x"]),
        ([posting("y"), posting("x")], ["x", "y"]),  # nothing else differs: the id
        (
            [posting("x", state="confirmed"), posting("y", "b", state="challenged")],
            ["y", "x"],
        ),  # state only breaks ties
        ([], []),
    ],
)
def test_the_order(postings: list[Posting], order: list[str]) -> None:
    assert [item.knowledge_id for item in rank(postings, {"a": 1000, "b": 2000})] == order


def test_saying_a_word_often_counts_up_to_twice() -> None:
    scores = [rank([posting("x", times=times)], {"a": 3000})[0].score for times in (1, 2, 3, 1000)]
    assert scores == [3000, 4000, 4500, 5994]


@given(
    st.lists(
        st.builds(
            Posting,
            term=st.sampled_from("abc"),
            knowledge_id=st.text("xyz", min_size=1, max_size=3),
            occurrences=st.integers(1, 9),
            state=st.just("proposed"),
            confirmations=st.just(0),
        ),
        unique_by=lambda item: (item.term, item.knowledge_id),
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_postings_does_not_matter_and_every_score_is_explained(
    postings: list[Posting], chance: "object"
) -> None:
    weights = {"a": 10, "b": 200, "c": 3000}
    mixed = list(postings)
    chance.shuffle(mixed)  # pyright: ignore[reportAttributeAccessIssue]
    ranked = rank(mixed, weights)
    assert ranked == rank(postings, weights)
    assert {item.knowledge_id for item in ranked} == {item.knowledge_id for item in postings}
    assert all(item.score == sum(term.score for term in item.terms) for item in ranked)
