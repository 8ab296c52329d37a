"""Short-lived keys."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from duologue.server.realtime.client_secrets import PREFIX, SECONDS, ClientSecrets
from duologue.server.realtime.refusal import EventRefused
from duologue.server.realtime.session_config import SessionConfig
from duologue.server.settings import ServerSettings
from duologue.server.siblings import NoSiblings
from duologue.server.tickets import make_ticket

TOKEN, KEY, OPERATOR = "t" * 20, "k" * 20, "o" * 20
SCOPE: dict[str, Any] = {"type": "websocket", "headers": [], "client": ("10.0.0.9", 1)}


def keys(**settings: Any) -> ClientSecrets:
    return ClientSecrets(ServerSettings(**settings), "Ada")


def test_a_key_opens_the_server_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    made = keys(token=TOKEN)
    secret = made.make({}, SCOPE, 1_000.0)
    assert secret.value.startswith(PREFIX)
    assert secret.expires_at == 1_000 + SECONDS
    clock = [1_000.0 + SECONDS - 1]
    monkeypatch.setattr("time.time", lambda: clock[0])
    assert made.admit(secret.value, SCOPE) is not None
    clock[0] += 2
    assert made.admit(secret.value, SCOPE) is None, "it is over"


def test_another_process_with_the_same_secret_reads_the_key_and_a_stranger_doesnt() -> None:
    secret = keys(token=TOKEN).make({}, SCOPE, time.time())
    assert keys(token=TOKEN).admit(secret.value, SCOPE) is not None
    assert keys(token="u" * 20).admit(secret.value, SCOPE) is None
    assert keys(token=TOKEN).admit(secret.value[:-2], SCOPE) is None
    assert ClientSecrets(ServerSettings(token=TOKEN), "Bob").admit(secret.value, SCOPE) is None


class OneOfTwo(NoSiblings):
    """What the processes of a server share."""

    shared_key = "known to all of them"
    shared_folder = ""

    def __init__(self, folder: str = "") -> None:
        self.shared_folder = folder


def test_without_a_secret_all_processes_of_the_server_read_a_key() -> None:
    first, second = (ClientSecrets(ServerSettings(), "Ada", OneOfTwo()) for _ in range(2))
    secret = first.make({}, SCOPE, time.time())
    assert second.admit(secret.value, SCOPE) is not None
    assert keys().admit(secret.value, SCOPE) is None, "another server"


def test_two_keys_that_are_made_at_once_have_sessions_of_their_own() -> None:
    made = keys(token=TOKEN)
    now_s = time.time()
    kind, brief, plain = (
        made.make({"session": {"type": "realtime", "instructions": words}} if words else {}, SCOPE, now_s)
        for words in ("Be kind.", "Be brief.", "")
    )
    assert [made.config_of(one.value).instructions for one in (kind, brief, plain)] == ["Be kind.", "Be brief.", None]
    number, _, ticket = kind.value.removeprefix(PREFIX).partition("_")
    assert made.admit(f"{PREFIX}{'0' * len(number)}_{ticket}", SCOPE) is None, "the number is signed too"


def test_only_tokens_make_keys() -> None:
    made = keys(token=TOKEN, ticket_key=KEY, operator_token=OPERATOR)
    secret = made.make({}, SCOPE, time.time())
    ticket = make_ticket(KEY)
    assert made.may_make(TOKEN, SCOPE)
    assert made.may_make(OPERATOR, SCOPE)
    assert not made.may_make(secret.value, SCOPE)
    assert not made.may_make(ticket, SCOPE)
    assert not made.may_make("", SCOPE)
    assert made.admit(ticket, SCOPE) is not None
    assert made.admit("wrong", SCOPE) is None


def test_a_key_names_its_user_and_its_session() -> None:
    made = keys(token=TOKEN)
    scope = {**SCOPE, "headers": [(b"openai-safety-identifier", b"ann")]}
    session = {"type": "realtime", "instructions": "Hi."}
    body = {"expires_after": {"anchor": "created_at", "seconds": 60}, "session": session}
    secret = made.make(body, scope, time.time())
    admission = made.admit(secret.value, SCOPE)
    assert admission is not None
    assert admission.user == "ann"
    assert made.config_of(secret.value).instructions == "Hi."
    assert made.config_of("other").instructions is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"expires_after": {"seconds": 5}}, "invalid_value"),
        ({"expires_after": {"seconds": 9_000}}, "invalid_value"),
        ({"expires_after": {"anchor": "now"}}, "invalid_value"),
        ({"expires": 5}, "unknown_parameter"),
        ({"session": {"type": "realtime", "voice": "x"}}, "beta_api_shape_disabled"),
    ],
)
def test_what_a_key_cant_be_is_refused(body: dict[str, Any], code: str) -> None:
    with pytest.raises(EventRefused) as why:
        keys(token=TOKEN).make(body, SCOPE, 0.0)
    assert why.value.code == code


def test_another_process_of_the_server_knows_the_session_of_a_key(tmp_path: Path) -> None:
    first, second = (ClientSecrets(ServerSettings(), "Ada", OneOfTwo(str(tmp_path))) for _ in range(2))
    made = first.make({"session": {"type": "realtime", "instructions": "Hi."}}, SCOPE, time.time())
    assert made.config.instructions == "Hi."
    assert second.config_of(made.value) == first.config_of(made.value) == made.config
    assert second.config_of(TOKEN) == SessionConfig()
