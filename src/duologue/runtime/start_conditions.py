"""The conditions for the start of a conversation: the session is active and doesn't expire soon, and the line is ready.

A session that exists before the conversation reports here whether it is active and when it expires. Rule: the state
machine decides whether the conversation starts. This module only reports the conditions, and the reason for a refusal.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.core.settings import Settings
from duologue.ports.line import Line
from duologue.ports.session import ReportsLife, Session, SessionLife


class StartConditions:
    """The conditions under which one conversation may start. `now` returns the time on the conversation's clock, in
    milliseconds."""

    def __init__(self, session: Session | None, line: Line, settings: Settings, now: Callable[[], int]) -> None:
        self._session = session
        self._line = line
        self._now = now
        self._left_ms_min = settings.session_ms_max - settings.session_warning_ms
        self._life = SessionLife()
        self._told_at = 0
        self._unfollow: Callable[[], None] = lambda: None

    def follow(self) -> None:
        """Subscribe to the session's reports, which say whether it is active and when it expires."""
        self.unfollow()
        if isinstance(self._session, ReportsLife):
            self._unfollow = self._session.follow_life(self._note)

    def unfollow(self) -> None:
        self._unfollow()
        self._unfollow = lambda: None

    def _note(self, life: SessionLife) -> None:
        self._life, self._told_at = life, self._now()

    @property
    def left_ms(self) -> int | None:
        """Milliseconds until the session expires; None if it doesn't expire, or doesn't report when."""
        if self._life.left_ms is None:
            return None
        return max(0, self._life.left_ms - (self._now() - self._told_at))

    @property
    def is_expiring(self) -> bool:
        """Does the session expire so soon that a conversation would have to save its context right after the start?"""
        left_ms = self.left_ms
        return left_ms is not None and left_ms <= self._left_ms_min

    @property
    def session_active(self) -> bool:
        return self._is_active and not self.is_expiring

    @property
    def audio_primed(self) -> bool:
        return bool(getattr(self._line, "primed", True))

    @property
    def _is_active(self) -> bool:
        return self._life.active and bool(getattr(self._session, "active", True))

    @property
    def problem(self) -> str:
        """The reason why a start would be refused now; empty if a start is possible."""
        problems = []
        if not self._is_active:
            problems.append("the session is not active")
        elif self.is_expiring:
            problems.append(f"the session expires in {(self.left_ms or 0) // 1000} s: renew it before the start")
        if not self.audio_primed:
            problems.append("the line's audio is not ready")
        return ", and ".join(problems)
