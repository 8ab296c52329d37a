"""Plays cues: sounds and short sentences that the person hears while they wait, or when an answer fails.

The state machine decides when a cue is played and what it is about. This module chooses the words, in the agent's
language. After words that were heard, the next cue is only a sound, so that a long wait isn't filled with sentences. A
cue isn't part of a reply. Rule: a cue never fails. If its words can't be spoken, the built-in sound is played instead,
and a screen shows the words.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Cue, ErrorClass, Link
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.observe.wait_reason import wait_reason
from duologue.ports.encodable_text import encodable
from duologue.ports.sound import Sound
from duologue.ports.streams import reading
from duologue.ports.voice import Voice
from duologue.voice.built_in_sounds import thinking_sound

from .agent import Agent
from .driver import Driver, ReportFailure
from .guarded_line import GuardedLine
from .tasks import Tasks

SIGN_S_MAX = 0.4  # for the voice to begin; after it, the built-in sound is heard first
FIRST_SOUND_S_MAX = 1.4  # for the voice to begin; after it, the built-in sound replaces the words
CUE_S_MAX = 8.0  # for the voice to make all of it

_CODES = {
    Cue.PRESENCE: "sign_of_life",
    Cue.APOLOGY: "apology",
    Cue.EMPTY: "empty_answer",
    Cue.BROKEN_OFF: "broken_off",
    Cue.CALL_MADE: "call_made",
    Cue.ENDED: "ended",
}


class Cues:
    """The cues of one conversation, and its ambient sound."""

    def __init__(
        self,
        agent: Agent,
        driver: Driver,
        tasks: Tasks,
        line: GuardedLine,
        report_failure: ReportFailure,
        send: Callable[[sg.Signal], None],
    ) -> None:
        self.agent = agent
        self._driver = driver
        self._tasks = tasks
        self._line = line
        self._report_failure = report_failure
        self._send = send
        self._number = 0
        self._said: Counter[str] = Counter()  # how often each text was said
        self._error = ErrorClass.NETWORK_TIMEOUT  # why the newest attempt at an answer failed
        self._has_explained = False  # words in this wait have said what is going on
        self._explained_last = False  # they were the newest cue, and nothing has happened since
        self._task: asyncio.Task[object] | None = None

    # -- Effects

    def play(self, effect: fx.PlayCue) -> None:
        self._number += 1
        self._cancel()
        if effect.cue is Cue.SOUND:  # the first one of a wait
            self._has_explained = False
        is_sound = effect.cue is Cue.SOUND or (effect.cue is Cue.WORDS and self._explained_last)
        sound = self.agent.sounds.thinking_sound if is_sound else None
        self._explained_last = False
        text = "" if sound is not None else self._text_of(effect.cue)
        self._send(sg.CueGiven(self._driver.now(), effect.cue.value, text))
        if sound is not None:
            self._line.play_cue(self._number, sound)
            return
        work = self._say(self._number, text, effect.cue)
        self._task = self._tasks.start(work, f"cue {self._number}")

    def stop(self, effect: fx.StopCue) -> None:  # noqa: ARG002
        self._explained_last = False
        if self._number:
            self._cancel()
            self._line.stop_cue()

    def follow(self, record: StepRecord) -> None:
        """Process a step. If an attempt to get a reply failed, remember the reason. If the line has just been opened,
        start the ambient sound. If this is also the beginning of the call, play the agent's `connected_sound`."""
        before, after = record.before, record.after
        if after.link is not before.link:
            self._explained_last = False  # the person may not have heard the words
        if after.retries > before.retries:
            failed = record.event
            self._error = failed.error if isinstance(failed, ev.ReplyFailed) else ErrorClass.NETWORK_TIMEOUT
        if before.link in (Link.PREPARING, Link.RECONNECTING) and after.link is Link.UP:
            if (ambient := self.agent.sounds.ambient_sound) is not None:
                self._line.set_ambient(ambient)
            if before.session_id == 1 and (connected := self.agent.sounds.connected_sound) is not None:
                self._number += 1
                self._line.play_cue(self._number, connected)

    # -- Words

    def _text_of(self, cue: Cue) -> str:
        code = _CODES.get(cue) or wait_reason(self._driver.state, self._error, not self._has_explained)
        self._has_explained = cue is Cue.WORDS
        self._said[code] += 1  # so that each text varies, whatever was said between two of its kind
        return self.agent.says(code, self._said[code])

    async def _say(self, number: int, text: str, cue: Cue) -> None:
        """Say the words of a cue. If they are the last words of the conversation, wait until they were heard, and
        report that."""
        heard_ms = 0
        if text and self.agent.voice is not None:
            sign = asyncio.get_running_loop().call_later(SIGN_S_MAX, self._line.play_cue, number, thinking_sound())
            try:
                said = self.agent.spoken.of(encodable(text)).text
                heard_ms = await self._speak(number, said, self.agent.voice, sign)
            except Exception as failure:  # noqa: BLE001 - a cue never fails
                self._report_failure("cue", failure)
            finally:
                sign.cancel()
            self._explained_last = cue is Cue.WORDS and heard_ms > 0
            if not heard_ms:
                self._line.play_cue(number, thinking_sound())
                heard_ms = thinking_sound().ms
        if cue is Cue.ENDED:
            await asyncio.sleep(heard_ms / 1000)
            self._driver.post(ev.LastWordsHeard)

    async def _speak(self, number: int, text: str, voice: Voice, sign: asyncio.TimerHandle) -> int:
        """Play the words. `sign` is the timer that would play the built-in sound instead; it is cancelled when the
        words begin to sound. Returns the length of the words in milliseconds."""
        spoken_ms = 0
        async with asyncio.timeout(FIRST_SOUND_S_MAX) as limit, reading(voice.speak(text)) as sounds:
            async for sound in sounds:
                if not spoken_ms:
                    sign.cancel()
                    limit.reschedule(asyncio.get_running_loop().time() + CUE_S_MAX)
                if isinstance(sound, Sound) and sound.ms:
                    self._line.play_cue(number, sound)
                    spoken_ms += sound.ms
        return spoken_ms

    def _cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._tasks.cancel(self._task)
        self._task = None
