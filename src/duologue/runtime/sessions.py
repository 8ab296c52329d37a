"""Opens, renews and closes the session and the line (the connection to the user).

This module also passes the context of the conversation to the next session. Rule: events of an earlier session, or of
an earlier connection of the line, are ignored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.ports.failure import classify
from duologue.ports.line import Closed, Healed, Line, LineEvent, Wobbled
from duologue.ports.session import Session, SessionContext

from .driver import Driver, ReportFailure
from .session_summary import RECENT_TURNS, SessionSummary
from .tasks import Tasks
from .transcript import Transcript

CLOSE_S_MAX = 0.4


class Sessions:
    """The sessions of one conversation, one after another."""

    def __init__(
        self,
        driver: Driver,
        tasks: Tasks,
        transcript: Transcript,
        report_failure: ReportFailure,
        line: Line,
        session: Session | None,
        notify: Callable[[LineEvent], None],
        summary: SessionSummary,
        notes: Callable[[], tuple[str, ...]],
        prepare_ears: Callable[[], Awaitable[None]],
    ) -> None:
        self._driver = driver
        self._tasks = tasks
        self._transcript = transcript
        self._report_failure = report_failure
        self._line = line
        self._session = session
        self._notify = notify
        self._summary = summary
        self._notes = notes
        self._prepare_ears = prepare_ears
        self._attempt: asyncio.Task[Any] | None = None
        self._line_number = 0  # events under an older number are ignored
        self._session_number = 0
        self._renewing = 0  # the number of a session whose successor is being opened; 0: none
        self._successor = 0  # the state machine's number of that successor
        self.on_summary: Callable[[], object] = lambda: None  # called when the brain has written a summary
        self.context: SessionContext | None = None
        self.started_at = 0

    # -- Effects

    def open(self, effect: fx.OpenSession) -> None:
        self._line_number += 1
        self._renewing = 0
        self._refresh()
        notify_line, notify = self._hear_line(), self._hear_session()
        self._start(lambda: self._open(notify_line, notify), effect.session)

    def renew(self, effect: fx.RenewSession) -> None:
        """Open the next session while the current one is still in use. The switch happens when the next session is
        ready."""
        self._refresh()
        self._renewing = self._session_number
        self._successor = effect.session
        notify = self._hear_session()
        self._start(lambda: self._renew(notify), effect.session)

    def close(self, effect: fx.CloseSession) -> None:
        self._line_number += 1
        self._session_number += 1
        self._start(self._close, effect.session, closes=True)

    def save(self, effect: fx.SaveContext) -> None:  # noqa: ARG002
        """Save the context for the next session, and let the brain improve its summary. A brain without a session isn't
        asked for a summary, because each of its requests contains the history."""
        self.context = SessionContext(self._summary.text, self._transcript.recent(RECENT_TURNS), self._noted())
        if self._session is not None and self._summary.can_improve:
            self._tasks.start(self._summary.improve(), "summary", self._summary_ended)

    def _refresh(self) -> None:
        """Bring the saved context up to date. Since it was saved, the brain may have written a better summary, and
        reports may have come about what the user heard."""
        if self.context is not None:
            recent = self._transcript.recent(RECENT_TURNS)
            self.context = SessionContext(self._summary.text, recent, self.context.notes)

    def _noted(self) -> tuple[str, ...]:
        try:
            return tuple(self._notes())
        except Exception as failure:  # noqa: BLE001 - save the rest of the context
            self._report_failure("notes", failure)
            return ()

    def _summary_ended(self, failure: BaseException | None) -> None:
        if failure is not None:
            self._report_failure("summary", failure)
            return
        self._refresh()
        self.on_summary()

    # -- Attempts

    def _start(self, work: Callable[[], Coroutine[Any, Any, None]], number: int, closes: bool = False) -> None:
        earlier = self._attempt
        if earlier is not None:
            self._tasks.cancel(earlier)

        def ended(failure: BaseException | None) -> None:
            if failure is not None:
                self._report_failure("session", failure)
            if not closes:
                self._renewing = 0
            if closes:
                self._driver.post(ev.SessionClosed, session=number)
            elif failure is not None:
                self._driver.post(ev.SessionFailed, session=number, error=classify(failure))
            else:
                self.started_at = self._driver.now()
                self._driver.post(ev.SessionReady, session=number)

        self._attempt = self._tasks.start(_after(earlier, work), f"session {number}", ended)

    def _hear_line(self) -> Callable[[LineEvent], None]:
        """Make a callback for the events of a new connection of the line. Once a newer connection exists, the callback
        ignores every event except the user's hang-up, because after a hang-up nothing should reconnect."""
        number = self._line_number

        def hear(event: LineEvent) -> None:
            if number == self._line_number or (isinstance(event, Closed) and event.hung_up):
                self._notify(event)

        return hear

    def _hear_session(self) -> Callable[[Wobbled | Healed | Closed], None]:
        """Make a callback for the events of a new session. From now on, events of the old session are ignored, except
        one: if the old session ends before the new one is ready, the state machine is told."""
        self._session_number += 1
        number = self._session_number

        def hear(event: Wobbled | Healed | Closed) -> None:
            if number == self._session_number and not self._renewing:
                self._notify(event)
            elif number == self._renewing and isinstance(event, Closed):
                self._renewing = 0
                self._driver.post(ev.SessionEnded, session=self._successor)

        return hear

    async def _open(
        self, notify_line: Callable[[LineEvent], None], notify: Callable[[Wobbled | Healed | Closed], None]
    ) -> None:
        await self._line.open(notify_line)
        if self._session is not None:
            await self._session.open(self.context, notify)
        await self._prepare_ears()

    async def _renew(self, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        if self._session is not None:
            await self._session.renew(self.context, notify)

    async def _close(self) -> None:
        """Close the line and the session at the same time, within CLOSE_S_MAX."""
        closing = [self._line.close(), *([self._session.close()] if self._session is not None else [])]
        async with asyncio.timeout(CLOSE_S_MAX):
            for failure in await asyncio.gather(*closing, return_exceptions=True):
                if isinstance(failure, BaseException):
                    self._report_failure("close", failure)

    def note(self, event: Wobbled | Healed | Closed) -> None:
        """Post the event that tells the state machine about this change of the connection."""
        match event:
            case Wobbled():
                self._driver.post(ev.LinkWobbled)
            case Healed():
                self._driver.post(ev.LinkHealed)
            case Closed():
                self._driver.post(ev.EndRequested if event.hung_up else ev.LinkClosed)


async def _after(earlier: asyncio.Task[Any] | None, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do `work`, after the earlier attempt to connect has ended, or after CLOSE_S_MAX if it hasn't. Two attempts on one
    line at the same time would collide."""
    if earlier is not None and not earlier.done():
        await asyncio.wait([earlier], timeout=CLOSE_S_MAX)
    await work()
