"""What a refusal says."""

from __future__ import annotations

from duologue.server.rtvi.refusal import MessageRefused, quoted


def test_a_refusal_knows_its_message() -> None:
    why = MessageRefused("No.", "id1", fatal=True)
    assert (str(why), why.message, why.id, why.fatal) == ("No.", "No.", "id1", True)


def test_a_name_is_quoted_short_and_printable() -> None:
    assert quoted("a\nb") == "'a?b'"
    assert len(quoted("x" * 500)) == 66
    assert quoted([1]) == "'list'"
