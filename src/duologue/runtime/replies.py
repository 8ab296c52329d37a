"""Makes replies: sends a request to the brain, splits its text into sentences, and has the voice (TTS) speak them.

The brain and the voice run at the same time, with a bounded queue of sentences between them. Rule: cancelling the
task of a reply immediately closes the streams of the brain and the voice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ending, ErrorClass, FaultSource
from duologue.ports.answering import begin_answering
from duologue.ports.brain import Brain, Firm, LastWords, OpenQuestion, Request, Show, Working
from duologue.ports.encodable_text import encodable
from duologue.ports.failure import BrokenContract, classify
from duologue.ports.failure_report import report_failures_to
from duologue.ports.markup import SpeechTag, TaggedText, speak_tagged
from duologue.ports.playback_lead import tell_playback_lead
from duologue.ports.sound import Sound
from duologue.ports.streams import in_time, reading
from duologue.ports.tool_call import ToolCall
from duologue.ports.usage_report import UsageReport, provider_of, report_usage_to
from duologue.ports.voice import Voice, joins_words
from duologue.spoken.alignment import SpokenForm
from duologue.spoken.forms import SpokenForms
from duologue.spoken.speech_tags import without_tags
from duologue.voice.ledger import is_question
from duologue.voice.sentences import Sentences

from .driver import Driver, ReportFailure
from .guarded_line import GuardedLine
from .handover_queue import HandoverQueue
from .receipts import HeardText
from .speech import Speech
from .tasks import Tasks

SENTENCES_AHEAD_MAX = 8
APOLOGY_S_MAX = 3.0
SENTENCE_MS_MAX = 2_500  # how long words of a slow brain wait for the end of their sentence


@dataclass(frozen=True, slots=True)
class _Part:
    """The first words of a sentence whose end hasn't arrived yet."""

    text: str


_Spoken: TypeAlias = str | _Part | OpenQuestion | Sound | Working


class VoiceFailed(BrokenContract):
    """The reply failed because of the voice, not because of the brain."""


class Replies:
    """Makes the replies of one conversation, one at a time."""

    def __init__(
        self,
        driver: Driver,
        tasks: Tasks,
        report_failure: ReportFailure,
        brain: Brain,
        voice: Voice | None,
        line: GuardedLine,
        call: Callable[[int, ToolCall], None],
        apology: str,
        forms: SpokenForms,
    ) -> None:
        self._driver = driver
        self._tasks = tasks
        self._report_failure = report_failure
        self._brain = brain
        self._voice = voice
        self._line = line
        self._call = call
        self._apology = apology
        self._forms = forms
        self.current: Speech | None = None
        self.report_usage: UsageReport | None = None
        self._early: Speech | None = None  # the reply to a turn that may go on
        self.on_sound_added: Callable[[], None] = lambda: None  # called when a speech gets more sound, or is complete
        self.on_shown: Callable[[], None] = lambda: None  # called when a speech gets more text that is only shown
        self.on_question: Callable[[int], None] = lambda _: None  # called with a reply that holds a question
        self.on_question_heard: Callable[[int], None] = lambda _: None  # called with a reply whose question was heard

    def start(self, request: Request, brain: Brain | None = None, heard: str = "") -> None:
        """Start the reply to a request. If `brain` is given, it answers instead of the agent's own brain. `heard`
        contains the sentences of this answer that the user has already heard. They aren't said again."""
        self.current = speech = Speech(request.reply, is_awaited=bool(request.text or request.outputs))
        speech.heard_before = HeardText(heard)
        speech.counts.set()
        self._start(speech, request, brain or self._brain)

    def guess(self, request: Request) -> None:
        """Start the reply early, while the turn that it answers may still go on. Its sound and its actions, such as
        tool calls, wait until `confirm` is called."""
        self._early = speech = Speech(request.reply, is_awaited=bool(request.text))
        self._start(speech, replace(request, confirmed=speech.counts.wait), self._brain)

    def confirm(self, reply: int) -> bool:
        """Use the reply that was started early, because the turn has ended. Returns False if the reply with this number
        wasn't started early."""
        speech = self._early
        if speech is None or speech.reply != reply:
            return False
        self.current, self._early = speech, None
        speech.counts.set()
        if speech.asks:
            self.on_question(speech.reply)
        return True

    def _start(self, speech: Speech, request: Request, brain: Brain) -> None:
        work = self._make(speech, request, brain)
        speech.task = self._tasks.start(work, f"reply {request.reply}", lambda failure: self._ended(speech, failure))

    def use(self, brain: Brain, voice: Voice | None, apology: str, forms: SpokenForms) -> None:
        """From the next reply on, use this brain and voice, because the agent has changed."""
        self._brain, self._voice, self._apology, self._forms = brain, voice, apology, forms

    def has_words(self, reply: int) -> bool:
        """Has this reply said or shown anything?"""
        speech = self.current
        return speech is not None and speech.reply == reply and bool(speech.ledger.text or speech.ledger.shown.strip())

    def cancel(self, effect: fx.CancelReply) -> None:
        """Stop making this reply, if it is the current one."""
        for speech in (self.current, self._early):
            if speech is not None and speech.reply == effect.reply:
                speech.drop()
                if speech.task is not None:
                    self._tasks.cancel(speech.task)
        if self._early is not None and self._early.reply == effect.reply:
            self._early = None

    # -- Making one reply

    async def _make(self, speech: Speech, request: Request, brain: Brain) -> None:
        report_failures_to(self._report_failure)  # for what the brain runs, such as actions
        if self.report_usage is not None:
            report_usage_to(self.report_usage)
        tell_playback_lead(lambda: speech.ledger.total_ms - speech.ledger.heard_ms)
        self._driver.post(ev.ReplyAccepted, reply=speech.reply)
        sentences = HandoverQueue[_Spoken | None](SENTENCES_AHEAD_MAX)
        try:
            async with asyncio.TaskGroup() as both:
                work = self._speak(speech, sentences, self._voice, self._forms)
                speaking = both.create_task(work, name=f"voice {speech.reply}")
                await self._think(speech, request, brain, sentences)
            if not speech.ledger.chunks:  # nothing is heard of it: its end is reported once the reply is confirmed
                await speech.counts.wait()
        except BaseExceptionGroup as failures:
            raise _first(failures) from None
        if speaking.cancelled():  # cancelled from outside, which the task group treats as a normal end
            raise VoiceFailed(ErrorClass.SERVER_ERROR, "the voice was cancelled")

    async def _think(
        self, speech: Speech, request: Request, brain: Brain, sentences: HandoverQueue[_Spoken | None]
    ) -> None:
        """Read the parts of the brain's reply, and queue them for the voice."""
        begin_answering()
        splitter = Sentences(self._forms.language)
        is_first = True
        is_opening = self._voice is not None  # nothing was given to the voice yet
        joins = joins_words(self._voice)
        waiting_since = 0  # the time at which the text arrived that waits for the end of its sentence
        async with reading(brain.reply(request)) as parts:
            async for part in in_time(parts, self._driver.state.settings.attempt_ms_max):
                if is_first:
                    is_first = False
                    self._driver.post(ev.TokenArrived, reply=speech.reply)
                if isinstance(part, LastWords | Show | ToolCall):  # these can't be undone
                    await speech.counts.wait()
                match part:
                    case str():
                        found: list[str | _Part] = list(splitter.feed(part))
                        waiting_since = waiting_since if waiting_since and not found else self._driver.now()
                        is_slow = self._driver.now() > waiting_since  # a sentence that arrives at once isn't split
                        if is_opening and is_slow and not found and (words := splitter.opening(joins)):
                            found = [_Part(words)]
                        if self._driver.now() - waiting_since >= SENTENCE_MS_MAX and (words := splitter.whole_words()):
                            found, waiting_since = [*found, _Part(words)], self._driver.now()
                        for sentence in found:
                            self._note_question(speech, sentence)
                            await sentences.put(sentence)
                            if is_opening:
                                is_opening = False
                                await asyncio.sleep(0)  # the voice begins before the rest of the text is split
                    case Firm():
                        self._driver.post(ev.ReplyBecameFirm, reply=speech.reply)
                        for sentence in splitter.feed(part.text):
                            await sentences.put(sentence)
                    case LastWords():
                        self._driver.post(ev.EndAfterSpeaking, withdrawable=True)
                        for sentence in splitter.feed(part.text):
                            await sentences.put(sentence)
                    case OpenQuestion():
                        self._note_question(speech, part)
                        if part.firm:
                            self._driver.post(ev.ReplyBecameFirm, reply=speech.reply)
                        if rest := splitter.rest():
                            await sentences.put(rest)
                        for sentence in (*splitter.feed(part.text), splitter.rest()):
                            await sentences.put(replace(part, text=sentence))
                    case ToolCall():
                        speech.is_awaited = False  # the output of the call will continue the answer
                        self._call(speech.reply, part)
                        if rest := splitter.rest():
                            await sentences.put(rest)
                    case Show():
                        speech.ledger.shown += part.text
                        self.on_shown()
                    case Sound():
                        await sentences.put(part)
                    case Working():
                        if rest := splitter.rest():
                            await sentences.put(rest)
                        await sentences.put(part)
                    case _:
                        raise BrokenContract(
                            ErrorClass.SERVER_ERROR, f"the brain yielded {type(part).__name__}, not a part of a reply"
                        )
        if rest := splitter.rest():
            self._note_question(speech, rest)
            await sentences.put(rest)
        await sentences.put(None)

    def _note_question(self, speech: Speech, part: str | _Part | OpenQuestion) -> None:
        """If this part of the reply is a question, record that the reply asks something, and call `on_question`. For a
        reply that was started early, `confirm` calls `on_question` later."""
        if isinstance(part, _Part) or (isinstance(part, str) and not is_question(part)):
            return
        speech.asks = True
        if speech.counts.is_set():
            self.on_question(speech.reply)

    async def _speak(
        self, speech: Speech, sentences: HandoverQueue[_Spoken | None], voice: Voice | None, forms: SpokenForms
    ) -> None:
        """Turn sentences into sound, one after another."""
        has_words = False
        while (item := await sentences.get()) is not None:
            if isinstance(item, Sound):
                await self._emit(speech, item)
                continue
            if isinstance(item, Working):
                if speech.ledger.chunks:  # the speech has started: fill the wait with silence
                    await self._emit(speech, Sound(item.ms))
                continue
            values = item.values if isinstance(item, OpenQuestion) else None
            sentence = item if isinstance(item, str) else item.text
            if voice is None:
                shown = without_tags(sentence)
                speech.ledger.shown += f" {shown}" if speech.ledger.shown else shown
                self.on_shown()
            elif sentence:
                spoken, goes_on = forms.of(encodable(sentence)), isinstance(item, _Part)
                is_said = await self._say(speech, spoken, voice, values, goes_on)
                has_words = has_words or is_said
        if has_words and not speech.ledger.chunks:
            raise VoiceFailed(ErrorClass.SERVER_ERROR, "the voice made no sound")

    async def _say(
        self,
        speech: Speech,
        spoken: SpokenForm,
        voice: Voice,
        values: tuple[str, ...] | None = None,
        goes_on: bool = False,
    ) -> bool:
        """Say a sentence, or with `goes_on` a part of a sentence. `values` are the values of an open question; None if
        the sentence isn't marked as an open question. Returns False if nothing is spoken, because the sentence was
        heard before or can't be spoken (such as an emoji)."""
        sentence = spoken.written
        if not sentence.strip():
            return False
        if spoken.is_silent:
            if speech.ledger.chunks:
                speech.ledger.begin(sentence, values, spoken)
                speech.ledger.end()
            return False
        asks = values is not None or is_question(sentence)
        if speech.heard_before.has(sentence):
            speech.is_question_heard = speech.is_question_heard or asks
            speech.ledger.earlier = f"{speech.ledger.earlier} {sentence.strip()}".strip()
            return False
        speech.is_question_heard = speech.is_question_heard and not asks
        speech.ledger.begin(sentence, values, spoken, goes_on)
        began_at, spoken_ms = self._driver.now(), 0
        try:
            async with reading(speak_tagged(voice, _tagged(spoken))) as sounds:
                async for sound in in_time(sounds, self._driver.state.settings.attempt_ms_max):
                    if not isinstance(sound, Sound):
                        raise VoiceFailed(
                            ErrorClass.SERVER_ERROR, f"the voice yielded {type(sound).__name__}, not Sound"
                        )
                    spoken_ms += sound.ms
                    await self._emit(speech, sound)
        except (VoiceFailed, asyncio.CancelledError):
            raise
        except Exception as failure:
            own = str(failure) if getattr(failure, "is_own", False) else ""  # it names the setting to change
            raise VoiceFailed(classify(failure), own) from failure
        finally:  # text that was sent to the voice counts as used, even if it is never heard
            if self.report_usage is not None:
                provider, model = provider_of(voice)
                self.report_usage("tts", provider, model, began_at, characters=len(spoken.text), spoken_ms=spoken_ms)
        speech.ledger.end()
        return True

    async def _emit(self, speech: Speech, sound: Sound) -> None:
        await speech.has_room()
        is_first = speech.ledger.chunks == 0
        speech.add(sound, self._line)
        self.on_sound_added()
        if is_first:
            self._driver.post(ev.AudioBuffered, reply=speech.reply)

    # -- The end of a reply

    def _ended(self, speech: Speech, failure: BaseException | None) -> None:
        if failure is None:
            self._complete(speech)
            return
        # A reply that was cancelled from outside counts as failed, because the user still needs an answer.
        cancelled = isinstance(failure, asyncio.CancelledError)
        error = ErrorClass.SERVER_ERROR if cancelled else classify(failure)
        part = FaultSource.VOICE if isinstance(failure, VoiceFailed) else FaultSource.BRAIN
        self._report_failure(part.value, failure)
        self._driver.post(ev.ReplyFailed, reply=speech.reply, error=error, part=part)
        if speech.voice and not speech.dropped:
            self._apologise(speech)

    def _apologise(self, speech: Speech) -> None:
        """End a failed reply, with an apology if the agent has one. The reply isn't retried, because it is already
        being played."""
        if self._voice is None or not self._apology:
            self._complete(speech)
            return
        work = self._say_last(speech, self._voice)
        speech.task = self._tasks.start(work, f"apology {speech.reply}", lambda failure: self._complete(speech))  # noqa: ARG005

    async def _say_last(self, speech: Speech, voice: Voice) -> None:
        async with asyncio.timeout(APOLOGY_S_MAX):
            await self._say(speech, self._forms.of(self._apology), voice)

    def _complete(self, speech: Speech) -> None:
        if speech.is_question_heard:
            self.on_question_heard(speech.reply)
        if speech.ledger.chunks:
            speech.end(self._line)
            speech.save_end(self.on_sound_added)
        elif speech.is_awaited and not speech.ledger.known().heard and self._driver.state.ending is Ending.NO:
            self._driver.post(ev.ReplyWasEmpty, reply=speech.reply)
        else:
            self._driver.post(ev.ReplyFinished, reply=speech.reply)


def _tagged(spoken: SpokenForm) -> TaggedText:
    return TaggedText(spoken.text, tuple(SpeechTag(*tag) for tag in spoken.tags))


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception in the group. If the first element is itself a group, its first exception is returned, and so
    on."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
