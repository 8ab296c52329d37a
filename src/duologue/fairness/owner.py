"""The owner of the current task: the conversation for which it works, in a context variable that tasks inherit.

Rule: only the code that starts a conversation's tasks sets it. All work without an owner counts as the work of one
owner.
"""

from __future__ import annotations

from contextvars import Context, ContextVar, copy_context

OWNER: ContextVar[str] = ContextVar("duologue_owner", default="")


def owner() -> str:
    """The id of the conversation for which this task works; empty if it works for no conversation."""
    return OWNER.get()


def context_of(name: str) -> Context:
    """A copy of the current context in which this conversation is the owner."""
    context = copy_context()
    context.run(OWNER.set, name)
    return context
