"""A flow as a tool: a brain, such as an LLM, starts the flow by a tool call, and gets the person's values as the
result.

The flow asks the person its questions itself, through the context of the conversation. Rule: the tool returns when the
flow is complete, cancelled or left; the result says which of these happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.dialogue.effects import Respond
from duologue.dialogue.flow import Domain
from duologue.dialogue.state import Phase
from duologue.nlu.understanding import Nlu
from duologue.ports.failure import ServiceError
from duologue.ports.worker import Job, Mode, Tool

from .caller_clock import now_ms, today_in
from .dialogue_session import DialogueSession, check_flow
from .form import form_of
from .registry import Registry

QUESTIONS_MAX = 50  # in one run of a flow


class FlowTool:
    """Runs one flow of a domain as a tool."""

    def __init__(
        self,
        domain: Domain,
        registry: Registry,
        nlu: Nlu,
        flow: str,
        *,
        today: Callable[[], str] | None = None,
        now: Callable[[], int] = now_ms,
    ) -> None:
        check_flow(domain, flow)
        self._domain, self._registry, self._nlu, self._flow = domain, registry, nlu, flow
        self._today = today or today_in(domain.time_zone)
        self._now = now
        about = domain.flows[flow].description or flow
        text = f"{about}. Asks the person for everything that is needed, and returns what they said."
        self._tool = Tool(flow, text, mode=Mode.DELEGATE)

    @property
    def tool(self) -> Tool:
        return self._tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:  # noqa: ARG002 - the flow asks for everything
        context = job.context
        if context is None:
            raise ServiceError(ErrorClass.TOOL_ERROR, f"the flow {self._flow} can ask its questions only during a call")
        talk = DialogueSession(self._domain, self._registry, self._nlu, today=self._today, now=self._now)
        talk.context = context
        said = [item async for item in talk.start(self._flow)]
        for _ in range(QUESTIONS_MAX):
            texts = [item.text for item in said if isinstance(item, Respond)]
            if talk.state.top is None:
                if texts:
                    await context.say(" ".join(texts))
                return self._result(talk)
            confirms = talk.state.phase is Phase.CONFIRMING
            reply = await context.ask(" ".join(texts) or talk.state.last_question, confirms=confirms)
            if not reply:
                break
            said = [item async for item in talk.hear(reply)]
        return {"state": "left", **self._values(talk)}

    def _result(self, talk: DialogueSession) -> dict[str, Any]:
        form = form_of(self._domain, talk.state)
        is_complete = form is not None and form.flow == self._flow and form.state == "completed"
        return {"state": "completed" if is_complete else "cancelled", **self._values(talk)}

    def _values(self, talk: DialogueSession) -> dict[str, Any]:
        form = form_of(self._domain, talk.state)
        return {"slots": {slot.name: slot.value for slot in form.slots if slot.value} if form is not None else {}}
