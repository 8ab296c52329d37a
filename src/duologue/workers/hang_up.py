"""A tool with which a brain ends the conversation: `Agent(…, tools=[hang_up])`."""

from __future__ import annotations

from duologue.ports.worker import Job

from .function_tools import tool


@tool
async def hang_up(job: Job) -> str:
    """End the call. Say goodbye in the same answer: the call ends when your words were heard. If the person says
    something before that, the call goes on."""
    job.hang_up()
    return "the call ends as soon as everything is said"
