"""However a stream is cut into chunks, what is kept of it is its beginning and its end."""

from hypothesis import given
from hypothesis import strategies as some

from activities.sandbox import Output
from activities.sandbox.output import Kept


@given(some.lists(some.binary(max_size=12), max_size=30), some.integers(min_value=2, max_value=40))
def test_head_and_tail_are_those_of_the_whole(chunks: list[bytes], limit: int) -> None:
    kept = Kept(limit)
    for chunk in chunks:
        kept.add(chunk)
    whole = b"".join(chunks)
    output = kept.output()
    assert output.total_bytes == len(whole)
    assert len(output.head) + len(output.tail) == min(limit, len(whole))
    assert output.head == whole[: len(output.head)]
    assert output.tail == whole[len(whole) - len(output.tail) :]
    assert output.truncated == (len(whole) > limit)


def test_a_chunk_larger_than_everything_is_cut_before_it_is_kept() -> None:
    kept = Kept(10)
    kept.add(b"a" * 5 + b"x" * 10**6 + b"b" * 5)
    assert (kept.output().head, kept.output().tail) == (b"aaaaa", b"bbbbb")


def test_what_is_missing_is_said_and_broken_letters_do_no_harm() -> None:
    whole = "é" * 4
    assert Output(whole.encode(), b"", 8).text() == whole
    assert Output(whole.encode()[:3], whole.encode()[3:], 8).text() == whole
    assert Output(b"\xc3", b"\xa9", 100).text() == "�\n[... 98 bytes left out ...]\n�"
