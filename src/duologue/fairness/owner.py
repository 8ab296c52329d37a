"""The owner of the current task: the conversation that the task works for. It is stored in a context variable, which
tasks inherit.

Rule: only the code that starts a conversation's tasks sets the owner. All work without an owner counts as the work of a
single owner.
"""

from __future__ import annotations

from contextvars import Context, ContextVar, copy_context

OWNER: ContextVar[str] = ContextVar("duologue_owner", default="")


def owner() -> str:
    """The id of the conversation that the current task works for; empty if there is no such conversation."""
    return OWNER.get()


def context_of(name: str) -> Context:
    """A copy of the current context, in which this conversation is the owner."""
    context = copy_context()
    context.run(OWNER.set, name)
    return context
