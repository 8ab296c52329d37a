"""Messages that were heard with low confidence: perhaps the words were only a noise.

Such a message may fill a slot, and the agent reads the value back before an action uses it. But if the message would
decide something, the agent asks the open question again instead. Rule: a doubtful message never confirms, refuses,
cancels, restarts, hands over, runs an action or ends the conversation.
"""

from __future__ import annotations

from collections.abc import Callable

from .draft import Commitment, DialogueDraft
from .events import UserMessage
from .flow import Domain
from .prompts import count_try
from .run_flow import continue_flow
from .state import Phase


def is_doubtful(domain: Domain, message: UserMessage) -> bool:
    """Was the message heard with less confidence than the domain requires? A confidence of NaN is treated as low."""
    return not message.confidence >= domain.confidence_min


def decide(d: DialogueDraft, act: Callable[[DialogueDraft], None]) -> DialogueDraft:
    """Let `act` handle an event, and return the draft with the result. But if the event comes from a doubtful message
    and `act` made a decision, such as cancelling the flow, all its changes are dropped and the agent asks the question
    again."""
    if not d.s.is_doubtful:
        act(d)
        return d
    trial = d.copy()
    act(trial)
    if not trial.commitments:
        return trial
    _ask_again(d, trial.commitments[0])
    return d


def _ask_again(d: DialogueDraft, decided: Commitment) -> None:
    """Say that the message wasn't heard well, and ask the open question again. This is counted as a failed attempt."""
    d.set(pending=0, is_doubtful=False, values=d.s.values if d.s.reading_back else ())
    d.note("heard_doubtfully", decision=decided.name.lower())
    d.say(d.domain.patterns.doubtful_yes if decided is Commitment.YES else d.domain.patterns.doubtful)
    if d.s.phase is Phase.ERROR:
        d.say(d.domain.patterns.failed, asks=True)
    elif not d.s.stack:
        d.enter(Phase.IDLE)
    else:
        if not d.s.is_aside and not d.top.failed:  # a message from before the open question isn't a failed try
            count_try(d)
        continue_flow(d)
