"""Why a client's event is refused: the exception, and the fields of the protocol's `error` event.

Rule: a refusal says what is refused. It quotes nothing that the client sent, except names of fields and of events.
"""

from __future__ import annotations

from typing import Any

from duologue.core.errors import DuologueError

INVALID = "invalid_request_error"
SERVER = "server_error"
LIMITED = "rate_limit_error"


class EventRefused(DuologueError):
    """A client's event is refused. `code` is the error's code. `param` is the path of the wrong field; None if no field
    is wrong."""

    def __init__(self, code: str, message: str, param: str | None = None, kind: str = INVALID) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param
        self.kind = kind

    def as_error(self, event_id: str | None) -> dict[str, Any]:
        """The content of the `error` event for the client. `event_id` is the id of the refused event."""
        return {
            "type": self.kind,
            "code": self.code,
            "message": self.message,
            "param": self.param,
            "event_id": event_id,
        }


def missing(param: str) -> EventRefused:
    return EventRefused("missing_required_parameter", f"Missing required parameter: '{param}'.", param)


def unknown(param: str) -> EventRefused:
    return EventRefused("unknown_parameter", f"Unknown parameter: '{param}'.", param)


def wrong_type(param: str, wanted: str) -> EventRefused:
    return EventRefused("invalid_type", f"Invalid type for '{param}': expected {wanted}.", param)


def invalid(param: str, what: str) -> EventRefused:
    return EventRefused("invalid_value", f"Invalid value for '{param}': {what}.", param)


def unsupported(param: str, what: str) -> EventRefused:
    """The refusal of something that the protocol allows, but this server doesn't support."""
    return EventRefused("unsupported_parameter", f"'{param}' isn't supported by this server: {what}.", param)


def removed(old: str) -> EventRefused:
    """The refusal of a name from the protocol's beta that has no successor."""
    what = f"'{old}' belongs to the beta protocol: leave it out, because nothing has taken its place."
    return EventRefused("beta_api_shape_disabled", what, old)


def renamed(old: str, new: str) -> EventRefused:
    """The refusal of a name from the protocol's beta, with the new name."""
    return EventRefused("beta_api_shape_disabled", f"'{old}' belongs to the beta protocol: use '{new}'.", old)
