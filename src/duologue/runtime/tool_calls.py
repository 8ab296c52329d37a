"""Tool calls and jobs: starts, follows and cancels them, and passes their results to the brain.

Each tool call runs in its own task, so the call can be cancelled, and speech doesn't disturb it. Rule: a result is
stored here until the state machine requests it with an effect. A result that the state machine doesn't request is never
used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import FOREGROUND, ErrorClass, Outcome
from duologue.observe import signals as sg
from duologue.ports.answering import work_beside_answers
from duologue.ports.context import Context
from duologue.ports.failure import BrokenContract, ServiceError, classify
from duologue.ports.history import CONFIDENCE_MIN
from duologue.ports.tool_call import ToolCall
from duologue.ports.worker import Mode, Tool, Worker
from duologue.workers.results import failure_text, json_arguments, result_text

from .call_outputs import RESULT_CHARS_MAX, cut, output_of
from .checkpoint import OpenCall
from .checkpoint_writer import CheckpointWriter
from .driver import Driver, ReportFailure
from .tasks import Tasks
from .transcript import Transcript

SHORTEN_S_MAX = 5.0
DETAIL_STAGE = 2  # from this stage of a wait on, the user is told about each piece of progress
ANSWER_TOOL = Tool(
    "answer_job",
    "Pass the user's answer to a job that asked a question.",
    {
        "type": "object",
        "properties": {"job": {"type": "integer"}, "answer": {"type": "string"}},
        "required": ["job", "answer"],
        "additionalProperties": False,
    },
)
CANCEL_TOOL = Tool(
    "cancel_job",
    "Cancel a job that runs in the background.",
    {
        "type": "object",
        "properties": {"job": {"type": "integer"}},
        "required": ["job"],
        "additionalProperties": False,
    },
)
_OWN = (ANSWER_TOOL.name, CANCEL_TOOL.name)
RUNNING_CALL: ContextVar[int] = ContextVar("running_call", default=0)  # the tool call whose code runs; 0: none


@dataclass(slots=True)
class RunningCall:
    """One tool call, from the brain's request to the end. The worker that runs the tool call gets this object as its
    `Job`."""

    call: int
    reply: int
    request: ToolCall
    started_at: int
    owner: ToolCalls
    task: asyncio.Task[Any] | None = None
    result: str = ""
    error: str = ""
    partial_text: str = ""
    question: str = ""
    is_told: bool = False  # the question is in the history, so the next request to the brain contains it
    told_in: int = 0  # the first reply that knows the question; 0: none yet
    answerable: tuple[int, ...] = ()  # the jobs whose question was asked before the words that this call follows from
    progress_text: str = ""
    is_accepted: bool = False
    is_last: bool = False  # it has asked for the end of the conversation
    answer: asyncio.Future[str] | None = field(default=None)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def context(self) -> Context[Any] | None:
        return self.owner.context

    @property
    def is_asking(self) -> bool:
        return self.answer is not None and not self.answer.done()

    def progress(self, text: str, fraction: float | None = None) -> None:
        self.owner.note_progress(self, text, fraction)

    def partial(self, text: str) -> None:
        self.partial_text = text if isinstance(text, str) else str(text)

    async def ask(self, question: str) -> str:
        return await self.owner.ask(self, question)

    def detach(self) -> None:
        self.owner.detach(self)

    def hang_up(self) -> None:
        self.owner.hang_up(self)


class PendingCall(NamedTuple):
    """Facts about a tool call that is running."""

    call: int
    tool: str  # "unknown" if a model made the name up
    mode: str  # tool, delegate or dispatch
    started_at: int


class ToolCalls:
    """The tool calls of one conversation."""

    def __init__(
        self,
        driver: Driver,
        tasks: Tasks,
        transcript: Transcript,
        report_failure: ReportFailure,
        workers: list[Worker],
        send: Callable[[sg.Signal], None],
        shorten: Callable[[str, int], Awaitable[str]] | None,
        wait_label: Callable[[int], str],
    ) -> None:
        self._driver = driver
        self._tasks = tasks
        self._transcript = transcript
        self._report_failure = report_failure
        self._workers: dict[str, Worker] = {}
        self._send = send
        self._shorten = shorten
        self._wait_label = wait_label
        self._running: dict[int, RunningCall] = {}
        self._ids: list[tuple[int, str]] = []  # (reply, call id) for each call of the newest reply
        self._number = driver.state.call_id
        self._tools: tuple[Tool, ...] = ()
        self.checkpoint_writer: CheckpointWriter | None = None
        self.context: Context[Any] | None = None  # of the call, for the workers
        self.has_words: Callable[[int], bool] = lambda reply: False  # noqa: ARG005 - has this reply said anything?
        self._told_reply = 0  # the newest reply that the brain makes
        # Did the user's newest words begin after the question of this job was asked? The hearing machine knows.
        self.may_answer: Callable[[int], bool] = lambda call: True  # noqa: ARG005
        self.add_workers(workers)

    def add_workers(self, workers: Iterable[Worker]) -> None:
        """Add tools that the brain may call, such as the tools of a server that has just been opened. A tool with the
        same name is replaced."""
        added = {worker.tool.name: worker for worker in workers}
        self._workers |= added
        self._tools = (*(tool for tool in self._tools if tool.name not in added), *(one.tool for one in added.values()))

    def use_workers(self, workers: Iterable[Worker]) -> None:
        """Let the brain call these tools from now on, and no others. Running calls go on."""
        self._tools = ()
        self.add_workers(workers)

    def use_brain(self, shorten: Callable[[str, int], Awaitable[str]] | None) -> None:
        self._shorten = shorten

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the brain may call now. The built-in tools for answering and cancelling jobs are included only
        when there is a job to answer or to cancel."""
        jobs = {job.call for job in self._driver.state.jobs}
        asks = any(call in jobs for call in self.asking)
        return (*self._tools, *((ANSWER_TOOL,) if asks else ()), *((CANCEL_TOOL,) if jobs else ()))

    @property
    def asking(self) -> tuple[int, ...]:
        """The numbers of the tool calls that wait for an answer from the user."""
        return tuple(call for call, work in self._running.items() if work.is_asking)

    def note_request(self, reply: int) -> None:
        """Remember that the request for this reply has told the brain every question in the history."""
        self._told_reply = reply
        for work in self._running.values():
            if work.is_asking and work.is_told and not work.told_in:
                work.told_in = reply

    def asked_in(self, reply: int) -> tuple[int, ...]:
        """The numbers of the tool calls that wait for an answer from the user, and whose question the brain knew when
        it made this reply. Empty if the brain didn't make this reply."""
        if reply != self._told_reply:
            return ()
        return tuple(call for call in self.asking if 0 < self._running[call].told_in <= reply)

    # -- From the brain

    def make(self, reply: int, call: ToolCall) -> None:
        """Register a tool call that the brain makes in this reply, and post it to the state machine. A second tool call
        of the same reply with the same id is ignored."""
        if self._ids and self._ids[0][0] != reply:
            self._ids.clear()
        if call.id and (reply, call.id) in self._ids:
            return
        self._ids.append((reply, call.id))
        call = replace(call, arguments=json_arguments(call.arguments))  # savable as JSON
        self._number += 1
        number = self._number
        self._running[number] = RunningCall(number, reply, call, self._driver.now(), self)
        worker = self._workers.get(call.name)
        cancellable = worker is not None and worker.tool.cancellable
        self._driver.post(ev.ToolCalled, reply=reply, call=number, cancellable=cancellable)
        if not self._driver.is_busy and self._driver.state.call_id < number:
            self._running.pop(number, None)  # not accepted, because the reply was cancelled

    # -- Effects

    def run(self, effect: fx.RunCall) -> None:
        work = self._running[effect.call]
        work.answerable = tuple(call for call in self.asking if self.may_answer(call))
        self._note_accepted(work)
        worker = self._workers.get(work.request.name)
        if worker is not None and worker.tool not in self._tools:
            worker = None  # a tool of an earlier agent
        mode = worker.tool.mode if worker is not None else Mode.TOOL
        self._send(sg.WorkStarted(self._driver.now(), work.call, self._name(work), mode.value))
        if mode is not Mode.DISPATCH:  # the conversation doesn't wait for a dispatched job
            self._send(self._wait(work, 0))
        self._begin(work, worker)
        if mode is Mode.DELEGATE:
            self._driver.post(ev.CallDelegated, call=work.call)
        elif mode is Mode.DISPATCH:
            self._driver.post(ev.CallDispatched, call=work.call)

    def dump(self) -> tuple[OpenCall, ...]:
        """The running tool calls that the state machine has accepted, as data for a checkpoint."""
        return tuple(
            OpenCall(
                work.call, work.reply, work.request.name, work.request.arguments, work.request.id, work.partial_text
            )
            for work in self._running.values()
            if work.is_accepted
        )

    def adopt(self, calls: tuple[OpenCall, ...]) -> None:
        """Take over those tool calls of an earlier process that the state machine still waits for. For a tool call that
        has finished, the stored output is used. One that never began is run. One whose outcome is unknown is run again
        only if its tool is idempotent."""
        open_now = {job.call for job in self._driver.state.jobs}
        for one in calls:
            request = ToolCall(one.name, one.arguments, one.id)
            work = RunningCall(one.call, one.reply, request, self._driver.now(), self, is_accepted=True)
            work.partial_text = one.partial
            if one.call in open_now:
                self._running[one.call] = work
                self._begin(work, self._workers.get(one.name))

    def _begin(self, work: RunningCall, worker: Worker | None) -> None:
        work.task = self._tasks.start(
            self._run(work, worker), f"call {work.call}", lambda failure: self._ended(work, failure)
        )

    def running(self) -> list[PendingCall]:
        """The running tool calls that the state machine has accepted."""
        made = [work for work in self._running.values() if work.is_accepted]
        workers = [self._workers.get(work.request.name) for work in made]
        modes = [worker.tool.mode if worker is not None else Mode.TOOL for worker in workers]
        return [
            PendingCall(work.call, self._name(work), mode.value, work.started_at)
            for work, mode in zip(made, modes, strict=True)
        ]

    def cancel(self, effect: fx.CancelWork) -> None:
        work = self._running.get(effect.call)
        if work is not None and work.task is not None:
            self._tasks.cancel(work.task)

    def post_output(self, effect: fx.PostOutput) -> None:
        self._note_accepted(self._running[effect.call])
        text = self._text(effect.call, effect.outcome)
        self._transcript.add_output(effect.call, text, effect.outcome, self._running[effect.call].request.name)
        self._note_told(effect.call, effect.outcome)
        self._note_end(effect.call, effect.outcome)

    def post_news(self, effect: fx.PostNews) -> None:
        text = self._text(effect.call, effect.outcome)
        self._transcript.add_news(effect.call, text, effect.outcome, self._running[effect.call].request.name)
        self._note_told(effect.call, effect.outcome)
        self._note_end(effect.call, effect.outcome)

    def show_wait(self, effect: fx.ShowWait) -> None:
        if (work := self._running.get(effect.call)) is not None:  # after a takeover, calls are adopted a moment later
            self._send(self._wait(work, effect.stage))

    def waits(self) -> list[sg.Waiting]:
        """A signal for each tool call that the conversation waits for. It contains what the user is told about the wait
        at the moment."""
        jobs = [job for job in self._driver.state.jobs if job.kind in FOREGROUND]
        return [self._wait(self._running[job.call], job.stage) for job in jobs if job.call in self._running]

    def _wait(self, work: RunningCall, stage: int) -> sg.Waiting:
        return sg.Waiting(self._driver.now(), work.call, stage, self._wait_label(stage), work.progress_text)

    def _note_accepted(self, work: RunningCall) -> None:
        """Add the tool call to the history. Called when the state machine has accepted the call."""
        if not work.is_accepted:
            work.is_accepted = True
            self._transcript.add_call(work.reply, work.call, work.request)

    def _text(self, call: int, outcome: Outcome) -> str:
        work = self._running[call]
        return output_of(outcome, call, work.result, cut(work.partial_text), work.error, work.question)

    def _note_told(self, call: int, outcome: Outcome) -> None:
        """If this outcome is a question, note that the history contains it now."""
        if outcome is Outcome.NEEDS_INPUT:
            self._running[call].is_told = True

    def _note_end(self, call: int, outcome: Outcome) -> None:
        work = self._running[call]
        if outcome not in (Outcome.STARTED, Outcome.NEEDS_INPUT):
            now = self._driver.now()
            self._send(sg.WorkEnded(now, call, self._name(work), outcome, now - work.started_at))
            if work.answer is not None:
                work.answer.cancel()  # the call is over, so its question won't be answered
            del self._running[call]

    # -- Running a call

    async def _run(self, work: RunningCall, worker: Worker | None) -> str:
        work_beside_answers()
        RUNNING_CALL.set(work.call)
        arguments = _arguments(work.request)
        if worker is None:
            return self._run_own(work, arguments)
        text = await self._once(work, worker, arguments)
        if len(text) <= RESULT_CHARS_MAX:
            return text
        work.partial_text = cut(text)  # used if the time runs out during the summary
        return await self._shortened(text)

    async def _once(self, work: RunningCall, worker: Worker, arguments: dict[str, Any]) -> str:
        """Run the tool call and return its result. If the conversation is saved, a tool call that has finished isn't
        run again after a restart."""
        writer = self.checkpoint_writer
        if writer is None:
            return result_text(await worker.run(arguments, work))
        await writer.wait_until_saved()

        async def run() -> str:
            return result_text(await worker.run(arguments, work))

        done: str = await writer.once(f"call:{work.call}", worker.tool.name, run, worker.tool.idempotent)
        return done

    async def _shortened(self, text: str) -> str:
        """The text, summarised by the brain. If the brain can't summarise it, the text is cut and ends in a notice."""
        if self._shorten is not None:
            try:
                async with asyncio.timeout(SHORTEN_S_MAX):
                    return cut(await self._shorten(text, RESULT_CHARS_MAX))
            except Exception as failure:  # noqa: BLE001 - cutting is always possible
                self._report_failure("summary", failure)
        return cut(text)

    def _run_own(self, work: RunningCall, arguments: dict[str, Any]) -> str:
        """Run the built-in tool with this name; there are two, for answering and for cancelling jobs. Raises
        ServiceError (INVALID_ARGS) for any other name."""
        name = work.request.name
        if name in (ANSWER_TOOL.name, CANCEL_TOOL.name):
            self._check_words()
        if name == ANSWER_TOOL.name:
            job, answer = _number(arguments, "job"), _text(arguments, "answer")
            self._check_asked(work, job)
            return self.answer(job, answer)
        if name == CANCEL_TOOL.name:
            job = _number(arguments, "job")
            if job not in self._running:
                raise ServiceError(ErrorClass.INVALID_ARGS, f"there is no running job {job}")
            self._driver.post(ev.CancelRequested, call=job)
            return "cancelled"
        known = ", ".join(tool.name for tool in self._tools) or "none"
        raise ServiceError(ErrorClass.INVALID_ARGS, f"unknown tool {name!r}; known tools: {known}")

    def _check_words(self) -> None:
        """Raise ServiceError (INVALID_ARGS) if the user's words in this request were heard with low confidence. The
        "yes" that seems to answer a question may have been a noise."""
        if self._transcript.confidence_of(self._driver.state.asked) < CONFIDENCE_MIN:
            line = "the user's last words were heard with low confidence: ask whether that is what they said"
            raise ServiceError(ErrorClass.INVALID_ARGS, line)

    def _check_asked(self, work: RunningCall, job: int) -> None:
        """Raise ServiceError (INVALID_ARGS) if this job waits for an answer, but the user's newest words can't be that
        answer: the user began to say them before the job's question was heard, or hasn't said anything since."""
        if job in self.asking and job not in work.answerable:
            line = "the user spoke before the question was heard: ask it again, and wait for the answer"
            raise ServiceError(ErrorClass.INVALID_ARGS, line)

    def _ended(self, work: RunningCall, failure: BaseException | None) -> None:
        assert work.task is not None
        if failure is None:
            work.result = work.task.result()
            self._driver.post(ev.JobFinished, call=work.call, quiet=work.is_last and self.has_words(work.reply))
            return
        error = classify(failure)
        said = str(failure) if isinstance(failure, ServiceError) else failure_text(failure)
        work.error = f"INVALID_ARGS: {said}" if error is ErrorClass.INVALID_ARGS else f"Tool failed: {said}"
        self._report_failure(f"tool {self._name(work)}", failure)
        self._driver.post(ev.JobFailed, call=work.call, error=error)

    # -- Progress and questions of a worker

    def note_progress(self, work: RunningCall, text: str, fraction: float | None) -> None:
        if work.call not in self._running:
            return
        work.progress_text = text or work.progress_text  # an empty text only says that the job is alive
        self._driver.post(ev.JobProgressed, call=work.call)
        self._send(sg.WorkProgressed(self._driver.now(), work.call, self._name(work), text, fraction))
        if text:
            for wait in self.waits():
                if wait.call == work.call and wait.stage >= DETAIL_STAGE:
                    self._send(wait)

    def note_outside_progress(self, call: int, text: str, fraction: float | None) -> None:
        """Record that the program has reported progress of the tool call with this number. If no tool call with this
        number is running, nothing happens."""
        if call in self._running:
            self.note_progress(self._running[call], text, fraction)

    async def ask(self, work: RunningCall, question: str) -> str:
        """Ask the user a question and return the answer. The conversation goes on while this method waits."""
        async with work.asking:  # one question at a time
            if work.call not in self._running:
                raise BrokenContract(ErrorClass.TOOL_ERROR, f"job {work.call} is over: its question can't be answered")
            work.question, work.is_told, work.told_in = question, False, 0
            work.answer = asyncio.get_running_loop().create_future()
            self._driver.post(ev.JobAsked, call=work.call)
            self._send(sg.WorkAsked(self._driver.now(), work.call, self._name(work), question))
            return await work.answer

    def answer(self, call: int, text: str) -> str:
        """Answer the question that a job has asked. Raises ServiceError (INVALID_ARGS) if the job doesn't wait for an
        answer."""
        work = self._running.get(call)
        if work is None or work.answer is None or not work.is_asking:
            raise ServiceError(ErrorClass.INVALID_ARGS, f"job {call} doesn't wait for an answer")
        work.answer.set_result(text)
        return "passed on"

    def hang_up(self, work: RunningCall) -> None:
        """End the conversation when everything is said. If the reply that made this tool call has words, they are the
        goodbye, and the brain isn't asked for another one."""
        work.is_last = True
        self._driver.post(ev.EndAfterSpeaking, withdrawable=True)

    def detach(self, work: RunningCall) -> None:
        self._driver.post(ev.CallDispatched, call=work.call)

    def _name(self, work: RunningCall) -> str:
        """The tool's name for signals and logs. It is "unknown" if the model has made the name up."""
        name = work.request.name
        return name if name in self._workers or name in _OWN else "unknown"


def _arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as a dict. Raises ServiceError (INVALID_ARGS) if they are not a JSON object."""
    arguments: object = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            raise ServiceError(ErrorClass.INVALID_ARGS, f"the arguments of {call.name} are not JSON") from None
    if not isinstance(arguments, dict):
        raise ServiceError(ErrorClass.INVALID_ARGS, f"the arguments of {call.name} must be an object")
    return arguments


def _text(arguments: dict[str, Any], name: str) -> str:
    value = arguments.get(name)
    if type(value) is not str:
        raise ServiceError(ErrorClass.INVALID_ARGS, f"{name} must be text")
    return value


def _number(arguments: dict[str, Any], name: str) -> int:
    value = arguments.get(name)
    if type(value) is not int:
        raise ServiceError(ErrorClass.INVALID_ARGS, f"{name} must be a number")
    return value
