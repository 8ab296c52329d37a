"""What counts as a head, wherever the data is cut, and which heads are refused."""

from __future__ import annotations

import pytest

from duologue.server.request_heads import HEAD_BYTES_MAX, HEAD_LINES_MAX, TOGETHER_MAX, HeadRefused, RequestHeads

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def post(body: bytes, *headers: bytes) -> bytes:
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join((b"POST / HTTP/1.1", b"Host: x", *headers, length, b"", body))


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def refused(*data: bytes) -> str:
    """The status with which this data is refused."""
    heads = RequestHeads()
    try:
        for one in data:
            heads.check(one)
    except HeadRefused as why:
        return why.status
    return "accepted"


@pytest.mark.parametrize("size", [1, 2, 7, 100, 1 << 20])
def test_what_looks_like_heads_or_chunks_in_a_body_is_no_head(size: int) -> None:
    body = b"\n\n".join([b"Transfer-Encoding: chunked\r\n"] * 200) + b"x" * 2 * HEAD_BYTES_MAX
    heads = RequestHeads()
    for piece in pieces(post(body) + GET + post(body) + post(b"") + GET, size):
        heads.check(piece)


@pytest.mark.parametrize("size", [1, 2, 7, 100, 1 << 20])
@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST / HTTP/1.1\r\ntransfer-ENCODING: chunked\r\n\r\n", "411 Length Required"),
        (b"POST / HTTP/1.1\ntransfer-encoding: chunked\n\n", "411 Length Required"),
        (post(b"", b"Transfer-Encoding: gzip"), "411 Length Required"),
        (post(b"", *[b"a: b"] * HEAD_LINES_MAX), "431 Request Header Fields Too Large"),
        (b"GET / HTTP/1.1\r\na: " + b"b" * HEAD_BYTES_MAX, "431 Request Header Fields Too Large"),
    ],
    ids=["chunks", "line feeds", "other encodings", "lines", "bytes"],
)
def test_a_head_that_cant_be_accepted_is_refused_wherever_it_is_cut(head: bytes, status: str, size: int) -> None:
    assert refused(*pieces(head, size)) == status
    assert refused(*pieces(GET + post(b"abc") + head, size)) == status


def test_a_body_whose_length_isnt_clear_is_read_as_heads() -> None:
    """The parser refuses such a request. If it didn't, its body would be limited as strictly as heads are."""
    for length in (b"-1", b"0x10", b"5, 5", b"1" * 30, b""):
        head = b"POST / HTTP/1.1\r\nContent-Length: %s\r\n\r\n" % length
        assert refused(head + b"x" * (HEAD_BYTES_MAX + 1)) == "431 Request Header Fields Too Large"


def test_only_so_many_requests_may_come_together() -> None:
    RequestHeads().check(GET * TOGETHER_MAX)
    assert refused(GET * (TOGETHER_MAX + 1)) == "429 Too Many Requests"
    one_by_one = RequestHeads()
    for _ in range(TOGETHER_MAX + 1):
        one_by_one.check(GET)
