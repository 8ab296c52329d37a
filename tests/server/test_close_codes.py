"""Why the server closes a socket."""

from __future__ import annotations

from duologue.server import close_codes


def test_every_close_reason_fits_into_a_close_frame() -> None:
    reasons = [reason for reason in vars(close_codes).values() if isinstance(reason, close_codes.CloseCode)]
    assert len(reasons) == 15
    assert all(len(reason.reason.encode()) <= 123 for reason in reasons)
    assert len({reason.name for reason in reasons}) == len(reasons)
