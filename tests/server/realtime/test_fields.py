"""Fields of a client's JSON."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duologue.server.realtime.fields import check_names, one_of, optional_text, read_metadata, read_text, read_whole
from duologue.server.realtime.refusal import EventRefused


@pytest.mark.parametrize(
    ("read", "code"),
    [
        (lambda: check_names({"a": 1}, ("b",), "x."), "unknown_parameter"),
        (lambda: check_names({"a": 1}, ("b",), "x.", {"a": "b"}), "beta_api_shape_disabled"),
        (lambda: read_text({}, "a"), "missing_required_parameter"),
        (lambda: read_text({"a": 1}, "a"), "invalid_type"),
        (lambda: read_text({"a": "long"}, "a", chars_max=3), "invalid_value"),
        (lambda: read_whole({"a": True}, "a"), "invalid_type"),
        (lambda: read_whole({"a": 9}, "a", most=8), "invalid_value"),
        (lambda: one_of([], "a", ("x",)), "invalid_value"),
        (lambda: read_metadata({str(at): "x" for at in range(17)}, "m"), "invalid_value"),
        (lambda: read_metadata({"a": 1}, "m"), "invalid_value"),
    ],
)
def test_a_problem_names_its_field(read: Callable[[], object], code: str) -> None:
    with pytest.raises(EventRefused) as why:
        read()
    assert why.value.code == code
    assert why.value.param


def test_what_is_fine_is_returned() -> None:
    assert optional_text({"a": None}, "a") is None
    assert read_metadata(None, "m") is None
    assert read_metadata({"a": "b"}, "m") == {"a": "b"}
    assert one_of("x", "a", ("x",)) == "x"
