"""Handles a message after an error: retry, cancel, help, or an answer to the question that was open.

Rule: nothing is retried unless the user asks for it.
"""

from __future__ import annotations

from .answers import answer, ask_nlu, correct_or_ask
from .apply_commands import apply_commands
from .commands import BY_NAME, Cancel, Help, Repeat
from .confirmation import answer_confirmation
from .draft import DialogueDraft
from .idle_messages import understand
from .not_understood import miss
from .prompts import is_question_current
from .run_flow import continue_flow
from .state import Phase
from .values import validate_next
from .yes_and_no import cancel


def answer_error(d: DialogueDraft, text: str) -> None:
    """Handle a message in the error phase."""
    pack = d.domain.pack
    tokens = pack.words.tokens_of(text)
    words = {token.word for token in tokens}
    name = pack.signs.command_of(tokens)
    if words and words <= pack.words.retry:
        _recover(d)
    elif (words and words <= pack.words.give_up) or (name is not None and isinstance(BY_NAME[name], Cancel)):
        d.set(trouble=None)
        cancel(d)
        continue_flow(d)
    elif name == "wait":
        d.say(d.domain.patterns.wait, asks=True)
    elif not words or (name is not None and isinstance(BY_NAME[name], Help | Repeat)):
        d.say(d.domain.patterns.failed, asks=True)
    elif not d.s.stack:
        d.set(trouble=None)
        understand(d, text)
    elif name is not None:
        d.enter(Phase.UNDERSTANDING)
        apply_commands(d, (BY_NAME[name],))
    elif not d.top.failed:
        _answer_open_question(d, text)
    else:
        correct_or_ask(d, text)


def _answer_open_question(d: DialogueDraft, text: str) -> None:
    """Read the message as the answer to the question that was open when NLU or a validator failed. This can succeed
    even if they still fail, because a plain answer may need neither of them."""
    d.set(trouble=None, values=d.s.values if d.s.reading_back else ())
    if not is_question_current(d):  # nothing was asked yet
        correct_or_ask(d, text)
    elif d.s.waiting_for is not None:
        d.enter(Phase.WAITING_FOR_SLOT)
        answer(d, text)
    else:
        d.enter(Phase.CONFIRMING)
        answer_confirmation(d, text)


def _recover(d: DialogueDraft) -> None:
    """Retry what failed: the action, the request to NLU or the validation."""
    trouble = d.s.trouble
    d.set(trouble=None)
    if d.s.stack and d.top.failed and not d.s.reading_back:
        d.set_top(failed=False)
        continue_flow(d)
    elif trouble is not None and trouble.recovery is Phase.UNDERSTANDING and d.s.heard:
        ask_nlu(d, d.s.heard)
    elif trouble is not None and trouble.recovery is Phase.VALIDATING_SLOT and d.s.values:
        validate_next(d)
    elif d.s.stack:
        continue_flow(d)
    else:
        miss(d)
