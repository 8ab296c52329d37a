"""Runs the ears (STT and VAD): they start with the session, and are restarted when they fail.

Rule: the ears are retried like every other service, with the same waits. The class of the error decides how often they
are retried. After the last retry the failure becomes a fault, and the next session starts the ears again. A session
counts as open only when the ears are ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import SOUNDING, ErrorClass, FaultSource
from duologue.core.settings import POLICIES
from duologue.core.step_record import StepRecord
from duologue.observe.hearing_fact import EarsReport
from duologue.ports.ears import Commit, Discard, Ears, Final, Heard, NeedsLoading, Sounding
from duologue.ports.failure import BrokenContract, classify
from duologue.ports.streams import reading

from .driver import Driver, ReportFailure
from .frame_queue import FrameQueue
from .tasks import Tasks

SURE_S = 1.0  # ears that failed and were started again count as working after this time, or after a report


class EarsTask:
    """The task that runs the ears, and the queue of audio for them. `on_stopped` is called when the ears stop. `tell`
    is called with each report about the condition of the ears."""

    def __init__(
        self,
        driver: Driver,
        tasks: Tasks,
        report_failure: ReportFailure,
        ears: Ears | None,
        note: Callable[[Heard], None],
        on_stopped: Callable[[], None],
        tell: Callable[[EarsReport], None] = lambda report: None,  # noqa: ARG005
    ) -> None:
        self._driver = driver
        self._tasks = tasks
        self._report_failure = report_failure
        self._ears = ears
        self._note = note
        self._on_stopped = on_stopped
        self._tell = tell
        self.frames = FrameQueue()
        if ears is None:
            self.frames.close()  # without ears, nothing reads the queue
        self._task: asyncio.Task[Any] | None = None
        self._failures = 0
        self._retry: asyncio.TimerHandle | None = None
        self._sure: asyncio.TimerHandle | None = None

    def start(self, effect: fx.RestoreContext | None = None) -> None:  # noqa: ARG002 - every session needs ears
        """Start the ears, if the agent has ears and they aren't running."""
        if self._ears is not None and self._task is None:
            self._tell(EarsReport.STARTED if _is_ready(self._ears) else EarsReport.LOADS)
            self._task = self._tasks.start(self._listen(self._ears), "ears", self._ended)
            self._sure = asyncio.get_running_loop().call_later(SURE_S, self._note_lasting)

    def change(self, ears: Ears | None) -> None:
        """Listen with these ears from now on. If `ears` is None, the current ears continue."""
        if ears is None or ears is self._ears:
            return
        self._ears = ears
        task, self._task = self._task, None
        if task is not None:
            self._tasks.cancel(task)
            self._on_stopped()
            task.add_done_callback(lambda _: None if self._tasks.closing else self.start())

    async def prepare(self) -> None:
        """Wait until the ears are ready. If they can't be made ready, report the failure, but raise nothing: the ears
        will fail again when they start to listen, and that failure is handled."""
        if self._ears is None or _is_ready(self._ears):
            return
        assert isinstance(self._ears, NeedsLoading)
        self._tell(EarsReport.LOADS)
        try:
            await self._ears.prepare()
        except Exception as failure:  # noqa: BLE001 - ears may fail in their own way
            self._report_failure("ears", failure)

    def _note_lasting(self) -> None:
        """Report that the ears work, unless they aren't ready. Called when the ears have listened for some time without
        a failure."""
        if self._ears is not None and _is_ready(self._ears):
            self._tell(EarsReport.WORKED)

    def stop(self) -> None:
        """Close the queue of audio, so that the ears end. A restart that is planned is cancelled."""
        self.frames.close()
        for timer in (self._retry, self._sure):
            if timer is not None:
                timer.cancel()

    def commit(self, effect: fx.CommitAudio) -> None:
        self.frames.put(Commit(effect.turn))

    def discard(self, effect: fx.DiscardAudio) -> None:
        self.frames.put(Discard(effect.turn))

    def follow(self, record: StepRecord) -> None:
        """Tell the ears when the agent starts and stops speaking, because they listen differently while it speaks."""
        is_on = record.after.voice in SOUNDING
        if is_on is not (record.before.voice in SOUNDING):
            self.frames.put(Sounding(is_on))

    async def _listen(self, ears: Ears) -> None:
        self.frames.put(Sounding(self._driver.state.voice in SOUNDING))
        async with reading(ears.listen(self.frames)) as stream:
            async for heard in stream:
                self._tell(EarsReport.WORKED)
                self._note(heard)
                if isinstance(heard, Final):
                    self._failures = 0

    def _ended(self, failure: BaseException | None) -> None:
        self._task = None
        if self._sure is not None:
            self._sure.cancel()
        lasting = failure is not None and not isinstance(failure, asyncio.CancelledError)
        error = classify(failure) if lasting and failure is not None else ErrorClass.NETWORK_TIMEOUT
        self._report_failure("ears", failure or BrokenContract(error, "the ears stopped listening"))
        self._tell(EarsReport.FAILED)
        waits = self._driver.state.settings.retry_ms
        if self._failures < min(POLICIES[error].retries_max, len(waits)):
            self._retry = asyncio.get_running_loop().call_later(waits[self._failures] / 1000, self.start)
            self._failures += 1
        else:
            self._failures = 0
            self._driver.post(ev.ServiceFailed, part=FaultSource.EARS, error=error)
        self._on_stopped()


def _is_ready(ears: Ears) -> bool:
    return not isinstance(ears, NeedsLoading) or ears.is_ready
