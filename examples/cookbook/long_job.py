"""Work that takes minutes: it runs while the conversation goes on, reports progress and asks a question back."""

import asyncio
import json

from duologue import Agent, Job, ToolCall, tool
from duologue.ports import News


@tool(mode="dispatch")
async def write_report(topic: str, job: Job) -> str:
    """Write a report; takes minutes."""
    job.progress("collecting sources", 0.2)
    await asyncio.sleep(60)
    pages = await job.ask("How many pages should it have?")
    job.progress("writing", 0.6)
    await asyncio.sleep(60)
    return f"{pages} pages on {topic}"


async def reply(request):
    """An LLM does this by itself: it is offered `answer_job` while a job waits for an answer."""
    asking = [item for item in request.history if isinstance(item, News) and item.outcome.value == "needs_input"]
    may_answer = any(offered.name == "answer_job" for offered in request.tools)
    if request.news and request.news[-1].outcome.value == "needs_input":
        yield "About your report. " + json.loads(request.news[-1].text)["question"]
    elif request.news:
        yield f"Your report is ready: {request.news[-1].text}."
    elif request.outputs:
        yield "It is on its way. Anything else meanwhile?"
    elif may_answer and asking:
        yield ToolCall("answer_job", {"job": asking[-1].call, "answer": request.text})
    elif "report" in request.text:
        yield ToolCall("write_report", {"topic": "tides"})
    else:
        yield "I can write a report for you."


agent = Agent(reply, tools=[write_report])
