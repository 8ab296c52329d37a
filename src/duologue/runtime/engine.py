"""How the parts of a conversation are connected: which part performs each effect, and which parts follow steps.

Rule: data flows in one direction. The parts post events. The state machine's effects reach the parts through one table.
The parts that follow steps (such as transcript, playback, ears and signals) read each step in a fixed order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import SOUNDING, Ask, Cue, ErrorClass, Link, User
from duologue.core.step_record import StepRecord
from duologue.hearing.inputs import Input
from duologue.observe import signals as sg
from duologue.observe.bus import Bus
from duologue.observe.diagnostics import correlation_id
from duologue.observe.hearing_fact import HearingFact, HearingStatus
from duologue.observe.labels import WAITS, label
from duologue.observe.newest import Newest
from duologue.observe.recorder import Recorder
from duologue.observe.tracebacks import traceback_of
from duologue.ports.brain import Brain, Remembers, Request, Summarises
from duologue.ports.context import CallInfo, Context
from duologue.ports.ears import Frame, Heard
from duologue.ports.failure import BrokenContract
from duologue.ports.line import Closed, Finished, Healed, Line, LineEvent, Played, Stopped, Unplayable, Wobbled
from duologue.ports.switches import ReportsSwitches, Switch

from .agent import Agent, Phrase
from .agent_changes import AgentChanges, Greeting
from .announcements import Announcer
from .call_data import SavedData, info_to_json
from .checkpoint import CONTEXT_PART, Checkpoint, journal_line, machine_part, read_data, words_part
from .checkpoint_writer import CheckpointWriter
from .cues import Cues
from .cut_answers import CutAnswers
from .driver import Driver, RaisedFailure, failure_text
from .ears_task import EarsTask
from .effect_performers import PERFORMERS
from .guarded_line import GuardedLine
from .hearing import Hearing
from .own_phrases import own_phrase
from .playback import Playback
from .policy_choice import CHOOSER, PolicyChoice, choose_policies
from .program_speech import ProgramSpeech
from .receipts import AnswerReceipt, ToldBrain
from .replies import Replies
from .requests import Requests, StuckBrain, WordFacts
from .session_summary import SessionSummary
from .sessions import Sessions
from .snapshot import context_of
from .sound_recording import SoundRecording
from .speech import Speech
from .step_followers import StepFollowers
from .tasks import Tasks
from .text_judge import TextJudge
from .tool_calls import ToolCalls
from .transcript import Transcript
from .transcript_pages import page_name
from .unsaved_answers import UnsavedAnswers
from .usage_meter import UsageMeter

LOG = logging.getLogger("duologue")
LOG.addHandler(logging.NullHandler())
FAILURES_MAX = 20
DEADLINES_MAX = 10  # deadlines that may come before the first attempt to reconnect


class Engine:
    """Everything that runs in one conversation."""

    def __init__(
        self,
        agent: Agent,
        line: Line,
        followed: Callable[[StepRecord], None],
        conversation: str,
        checkpoint: Checkpoint | None = None,
        context: Context[Any] | None = None,
    ) -> None:
        self.root = agent
        self.line = line
        self._followed = followed
        self._correlation = correlation_id(conversation)
        self.tasks = Tasks(conversation)
        self.transcript = Transcript()
        self.bus = Bus(self.report_failure)
        start = checkpoint.state if checkpoint is not None else None
        self.driver = Driver(agent.settings, self._perform, self.report_failure, start=start)
        self.announcer = Announcer(
            self.bus, self.driver.state, self.transcript, lambda: context_of(self), agent.language, agent.phrases
        )
        self.watchers: list[Callable[[StepRecord], object]] = []
        self.taps: list[Callable[[Heard], object]] = []  # called with everything that the ears report
        self.recorder: Recorder | None = None
        self.changes = AgentChanges(agent, self.driver, self.transcript)
        self.context = context if context is not None else Context(CallInfo(conversation))
        saved = checkpoint.context if checkpoint is not None else {}
        if saved:
            self.context.data = read_data(saved, self.context.data)
            self.changes.load(saved["agents"])
        self.policies = PolicyChoice(saved.get("policies"))
        self.agent = agent = self.changes.voiced(self.changes.current)
        self.transcript.speaker = self.changes.speaker
        self._listening_agent = agent  # whose ears listen
        self.saved_data = SavedData(self.report_failure)
        self.requests = Requests(self.transcript, agent.instructions, agent.tool_rounds_max, conversation)
        self.requests.history = self.changes.history
        self.requests.context = self.context
        self.program = ProgramSpeech(self.driver, self.transcript)
        if saved:
            self.program.load(saved["says"])
        self.failures = Newest[RaisedFailure](FAILURES_MAX)
        self.failure_watchers: list[Callable[[RaisedFailure], object]] = []  # see messages, which no signal contains
        self.checkpoint_writer: CheckpointWriter | None = None
        self.events = checkpoint.events if checkpoint is not None else 0
        if checkpoint is not None:  # loaded here, so that bad data raises NotRestorable before anything starts
            self.transcript.load(checkpoint.transcript, checkpoint.state.answered)
        self._join_parts(agent)
        self._order_followers()
        self._unfollow = self._follow_switches()
        self._unrestored = checkpoint  # None once `restore` was called
        self._speech: Speech | None = None
        if checkpoint is not None:
            self.requests.load(checkpoint.requests)
            self.summary.load(*checkpoint.summary)
            self.unsaved_answers.heard = checkpoint.heard
            if checkpoint.metrics is not None:
                self.announcer.meter.load(checkpoint.metrics)
            self._speech = Speech.load(checkpoint.speech) if checkpoint.speech is not None else None

    def _join_parts(self, agent: Agent) -> None:
        driver, tasks, transcript, line = self.driver, self.tasks, self.transcript, self.line
        report_failure, brain = self.report_failure, agent.thinker
        summarise = brain.summarise if isinstance(brain, Summarises) else None
        self.session = agent.session() if agent.session is not None else None
        self.tool_calls = ToolCalls(
            driver, tasks, transcript, report_failure, list(agent.workers), self.bus.send, summarise, self._wait_label
        )
        self.judge = TextJudge(report_failure, tasks.conversation, brain)
        self.hearing = Hearing(
            driver, transcript, agent.hearing, self.announcer.caption_user, self._decided, transcript.words, self.judge
        )
        self.hearing_fact = HearingFact(agent.ears is not None, self._tell_hearing)
        self.attention: bool | None = None  # is the user at the screen? None: the line can't tell
        self._speaks = True
        self.ears_task = EarsTask(
            driver, tasks, report_failure, agent.ears, self.note_heard, self.hearing.forget, self.hearing_fact.note_ears
        )
        guarded = GuardedLine(line, driver, report_failure)
        self.sound_recording = SoundRecording(driver, guarded, report_failure, agent.private, self.program.hears_secret)
        self.usage = UsageMeter(driver, self.bus, agent)
        self.cues = Cues(agent, driver, tasks, guarded, report_failure, self.bus.send)
        sorry = agent.says("broken_off", 0)
        self.replies = Replies(
            driver, tasks, report_failure, brain, agent.voice, guarded, self.tool_calls.make, sorry, agent.spoken
        )
        self.replies.report_usage = self.usage.report
        self.tool_calls.has_words = self.replies.has_words
        self.tool_calls.context = self.context
        self.playback = Playback(
            driver, transcript, self.replies, guarded, report_failure, self.announcer.caption_agent, tasks, brain
        )
        self.unsaved_answers = UnsavedAnswers(driver, transcript, self.hearing)
        self.playback.before_sound = self.unsaved_answers.give_receipt
        self.playback.on_progress = self.hearing.note_agent
        self.replies.on_question = self._note_question
        self.replies.on_question_heard = self.hearing.note_heard_late
        self.program.answers = self.hearing.answers_question
        self.tool_calls.may_answer = self.hearing.may_answer_job
        self.playback.on_heard_late = self._note_heard_late
        self.playback.on_unheard = lambda speech: self._note_question(speech.reply)
        self.cut_answers = CutAnswers(driver, self.playback, self.hearing)
        self.summary = SessionSummary(transcript, summarise)
        self.sessions = Sessions(
            driver,
            tasks,
            transcript,
            report_failure,
            line,
            self.session,
            self.note_line,
            self.summary,
            agent.notes,
            self.ears_task.prepare,
        )

    def _order_followers(self) -> None:
        """Register the parts that are told about each step: some before its effects are performed, the others after."""
        report, followed = self.report_failure, self._followed
        self._before_effects = StepFollowers(
            report, transcript=self.transcript.follow, playback=self.playback.follow, requests=self.requests.follow
        )
        first = {"program": self._follow_program, "cues": self.cues.follow, "ears": self.ears_task.follow}
        then = {"hearing": self.hearing.follow, "conversation": followed, "signals": self.announcer.follow}
        self._after_effects = StepFollowers(report, **first, **then, usage=self.usage.follow)
        progress = {"program": self.program.follow, "hearing": self.hearing.follow, "signals": self.announcer.follow}
        self._after_progress = StepFollowers(report, **progress)  # the other parts don't follow how much was heard

    def _follow_switches(self) -> list[Callable[[], None]]:
        """From now on, send a signal when the ears, voice or brain switch to another service. For each part that can
        switch, the result has a function that ends its signals."""

        def tell(switch: Switch) -> None:
            self.announcer.meter.note_switch()
            self.bus.send(sg.ServiceSwitched(self.driver.now(), switch.part, switch.source, switch.target, switch.why))

        parts: list[object] = [self.agent.ears, self.agent.voice, self.agent.thinker]
        return [part.follow_switches(tell) for part in parts if isinstance(part, ReportsSwitches)]

    def _change_agent(self, effect: fx.ChangeAgent) -> None:
        """Apply the oldest waiting change to the agent. If the changed agent has other ears, these begin to listen when
        the user is quiet."""
        agent = self.changes.apply()
        if agent is None:
            return
        before, self.agent = self.agent, self.changes.voiced(agent)
        for unfollow in self._unfollow:
            unfollow()
        self._unfollow = self._follow_switches()
        agent, brain = self.agent, self.agent.thinker
        self.transcript.speaker = self.changes.speaker
        summarise = brain.summarise if isinstance(brain, Summarises) else None
        self.requests.instructions, self.requests.rounds_max = agent.instructions, agent.tool_rounds_max
        self.tool_calls.use_workers([*agent.workers, *(one for source in agent.sources for one in source.workers())])
        self.tool_calls.use_brain(summarise)
        self.summary.use_brain(summarise)
        self._use_voice()
        self.playback.use_brain(brain)
        self.judge.use_brain(brain)
        self.cues.agent = agent
        self.announcer.use_language(agent.language, agent.phrases)
        if agent.name != before.name or agent.hearing != before.hearing:
            self.attempt(CHOOSER, lambda: choose_policies(self))
        if effect.speaks and agent.name != before.name:
            self.bus.send(sg.AgentChanged(self.driver.now(), agent.name))

    def speak(self, is_on: bool) -> None:
        """From the next reply on, speak the agent's words if `is_on`. Otherwise only show them."""
        self._speaks = is_on
        self._use_voice()

    def _use_voice(self) -> None:
        agent, voice = self.agent, self.agent.voice if self._speaks else None
        self.replies.use(agent.thinker, voice, agent.says("broken_off", 0), agent.spoken)

    def _follow_program(self, record: StepRecord) -> None:
        self.program.follow(record)
        self.changes.follow(record)
        if self.agent is not self._listening_agent and record.after.user is User.QUIET:
            self._listening_agent = self.agent
            self.ears_task.change(self.agent.ears)
            self.usage.use_ears(self.agent)

    def record(self, path: Path, seed: int) -> None:
        """Record the conversation in a journal at this path from now on. Everything that is said is written to another
        file, unless the agent is private."""
        self.recorder = Recorder(path, self.driver.state, self.agent.private, seed)
        self.bus.on(sg.Caption, self.recorder.add_words)
        about_ears = getattr(self.agent.ears, "settings", {})
        ears = about_ears if isinstance(about_ears, dict) else {}
        self.recorder.open_ears(self.hearing.policy, self.transcript.words, self.agent.name, ears)
        self.hearing.on_input = self._add_to_ear_journal

    # -- Saving and restoring

    def save_with(self, writer: CheckpointWriter) -> None:
        """Save this conversation with `writer` whenever it changes. The words and tool results of a private
        conversation aren't saved."""
        if self.checkpoint_writer is not None:
            self.transcript.pages.touch_all()  # the earlier writer may not have saved the pages that it took
        self.checkpoint_writer = writer
        self.tool_calls.checkpoint_writer = None if self.agent.private else writer
        self.playback.wait_until_saved = None if self.agent.private else writer.wait_until_saved
        self.unsaved_answers.writer = None if self.agent.private else writer
        self.replies.on_sound_added = lambda: writer.mark("words")
        self.sessions.on_summary = lambda: writer.mark("words")
        meter = self.announcer.meter
        writer.add_part("machine", lambda: machine_part(self.driver.state, self.events, meter.dump()))
        writer.add_part("words", lambda: None if self.agent.private else self._words(), self._pages)
        writer.add_part(CONTEXT_PART, lambda: None if self.agent.private else self.context_part())
        writer.mark(CONTEXT_PART)

    def _words(self) -> dict[str, Any]:
        earlier, summary = self._unrestored, self.summary.dump()
        rest, asking, heard = self.transcript.rest(), self.requests.dump(), self.unsaved_answers.heard
        if earlier is not None:  # not restored yet, so the open calls and the speech are those of the checkpoint
            return words_part(
                rest, asking, earlier.calls, earlier.speech, earlier.cut, summary, heard, earlier.cut_by_line
            )
        opened, cut = (one.dump() if one is not None else None for one in (self.playback.speech, self.playback.cut))
        by_line = self.playback.cut_by_line
        return words_part(rest, asking, self.tool_calls.dump(), opened, cut, summary, heard, by_line)

    def context_part(self) -> dict[str, Any]:
        """What is saved about the call besides its words and state: its facts, the program's data, the agents and the
        waiting texts. Data that can't be saved is reported and left out."""
        data = self.saved_data.of(self.context.data)
        parts = {"agents": self.changes.dump(), "policies": self.policies.dump(), "says": self.program.dump()}
        return {"info": info_to_json(self.context.info), "data": data, **parts}

    def mark_context(self) -> None:
        """Save the call's data soon, because the program may have changed it."""
        if self.checkpoint_writer is not None and not self.agent.private:
            self.checkpoint_writer.mark(CONTEXT_PART)

    def _pages(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """The pages of the transcript that have changed: for each, its name, and a function that returns its data."""
        for page in () if self.agent.private else self.transcript.pages.take():
            yield page_name("words", page), partial(self.transcript.page, page)

    def restore(self, played: Played | None, has_more: bool, receipts: tuple[AnswerReceipt, ...] = ()) -> None:
        """Continue from the checkpoint. The line counts as lost, because the earlier process has ended, but the first
        attempt to reconnect starts without the usual wait. `played` says how much of the newest sound the client has
        played. `has_more` means that the brain was in the middle of an answer: the brain is asked again, and sentences
        that were heard aren't said again. `receipts` are the records that the client has kept of the answers it was
        playing."""
        assert self._unrestored is not None
        earlier, self._unrestored = self._unrestored, None
        saved_voice = self.driver.state.voice_id
        if self._speech is not None:
            self.unsaved_answers.learn(self._speech, receipts)
        is_newer = played is not None and played.voice > self.driver.state.voice_id
        if played is not None and is_newer:  # this voice was played, but not saved: its number must not be used again
            self.driver.post(ev.VoicesPlayed, played=played.voice)
        if (speech := self._speech) is not None and self.driver.state.voice in SOUNDING:
            if is_newer:  # the saved speech ended before this voice began
                speech.voice = self.driver.state.voice_id
                speech.complete = True
                speech.note_heard(speech.ledger.total_ms)
            elif played is not None:
                speech.ledger.assume(played.heard_ms)
                played = Played(played.voice, min(played.heard_ms, speech.ledger.total_ms))
            self.playback.adopt(speech)
            if played is not None and has_more:
                self.unsaved_answers.note_begun(speech, played.heard_ms)
            elif played is not None and speech.ledger.counts_as_heard(played.heard_ms):
                self.playback.note(played)
            self.hearing.note_open_speech(speech)
        if earlier.cut is not None:
            self.playback.cut, self.playback.cut_by_line = Speech.load(earlier.cut), earlier.cut_by_line
            if played is not None and not has_more:
                self.playback.note(Stopped(played.voice, played.heard_ms))
        self.driver.post(ev.LinkClosed)
        if played is not None and (cut := self.playback.cut) is not None and cut.voice == played.voice:
            self.playback.is_cut_exact = True  # the client has just reported this
        for _ in range(DEADLINES_MAX):
            if self.driver.state.link is not Link.BACKING_OFF:
                break
            self.driver.skip_to_deadline()
        self.tool_calls.adopt(earlier.calls)
        self.unsaved_answers.note_receipts(receipts, played, saved_voice)

    def note_arrival(self, played: Played, receipts: tuple[AnswerReceipt, ...]) -> None:
        """Note what a client that has just connected has played. If it has played voices (the sounds of replies) that
        were never saved, their numbers aren't used again, and what the client has heard isn't said again."""
        state = self.driver.state
        if played.voice > state.voice_id and state.voice not in SOUNDING:
            self.driver.post(ev.VoicesPlayed, played=played.voice)
            self.unsaved_answers.note_receipts(receipts, played, state.voice_id)

    def _mark(self, record: StepRecord, writer: CheckpointWriter) -> None:
        writer.log(partial(journal_line, self.events, record.event))
        if type(record.event) is not ev.PlaybackProgressed:  # a client that reconnects repeats this report
            writer.mark("machine", "words")
            if self.context.data is not None or self.changes.is_changed or self.driver.state.says:
                self.mark_context()

    # -- One step

    def _perform(self, record: StepRecord) -> None:
        if self.recorder is not None:
            self._write("journal", partial(self.recorder.add, record))
        self._try("hearing", self.hearing.see, record)
        if record.is_only_progress:
            self._after_progress.tell(record)
            self._note_step(record)
        elif record.after is not record.before:
            self._before_effects.tell(record)
            for effect in record.effects:
                do = PERFORMERS.get(type(effect))
                if do is not None:  # effects that aren't in the table only become signals
                    self._try(type(effect).__name__, do(self), effect)
            self._after_effects.tell(record)
            self._note_step(record)
        for watch in tuple(self.watchers):
            self._try("watcher", watch, record)

    def _note_step(self, record: StepRecord) -> None:
        self.events += 1  # counted even if the conversation isn't saved
        if self.checkpoint_writer is not None:
            self._mark(record, self.checkpoint_writer)

    def _try(self, where: str, do: Callable[[Any], object], what: object) -> None:
        """Call `do(what)`. If it fails, report the failure instead of raising it, so that the conversation and its
        other parts continue."""
        try:
            do(what)
        except (Exception, asyncio.CancelledError) as failure:  # noqa: BLE001
            self.report_failure(where, failure)

    def attempt(self, where: str, do: Callable[[], object]) -> None:
        """Call `do`. If it fails, report the failure instead of raising it."""
        self._try(where, lambda _: do(), None)

    def _add_to_ear_journal(self, i: Input) -> None:
        if (recorder := self.recorder) is not None:
            self._write("ear journal", lambda: recorder.add_input(i))

    def _write(self, where: str, add: Callable[[], None]) -> None:
        """Write to a journal. If that fails, such as on a full disk, the recording ends; the conversation goes on."""
        try:
            add()
        except OSError as failure:
            self.recorder = None
            self.report_failure(where, failure)

    def _guess_reply(self, effect: fx.GuessReply) -> None:
        if self.program.listens or self.changes.greets:
            return  # the turn answers the program, or another agent speaks first: the brain isn't asked early
        request = self.requests.guess(effect, self.tool_calls.tools, self._word_facts(effect))
        self.tool_calls.note_request(effect.reply)
        self.replies.guess(request)

    def _word_facts(self, effect: fx.StartReply | fx.GuessReply) -> WordFacts:
        first, last = effect.first, effect.last
        return WordFacts(self.hearing.is_premature(first, last), self.hearing.are_typed(first, last))

    def _note_question(self, reply: int) -> None:
        """Note that this reply asks a question. If jobs were waiting for answers from the user, and the brain knew this
        when it made the reply, the reply may be asking their questions."""
        self.hearing.note_question(reply, self.tool_calls.asked_in(reply), reply == self.cut_answers.aside)

    def _start_reply(self, effect: fx.StartReply) -> None:
        if effect.ask is Ask.SAY:
            self.replies.start(Request(effect.reply, "", ask=effect.ask), self.program.brain(effect))
            return
        if self.program.takes(effect):
            return  # the program takes the turn after this step
        if self.replies.confirm(effect.reply):
            self.requests.confirm(effect)
            return
        request = self.requests.make(effect, self.tool_calls.tools, self._word_facts(effect))
        if effect.ask is Ask.ANSWER:
            self.tool_calls.note_request(effect.reply)
        if (request.outputs or request.news) and self.tool_calls.asked_in(effect.reply):
            self._note_question(effect.reply)  # this reply asks the user what a job wants to know
        takes_over = self.changes.greeting(effect.reply, effect.ask)
        may_greet = effect.ask is Ask.ANSWER and not self.changes.is_open(request)
        is_greeting = may_greet and (takes_over or not self.changes.history())
        is_heard = self.requests.is_heard(effect, request)
        if is_heard or effect.ask is Ask.OFFER:
            self._continue_cut(effect, request, is_heard)
            return
        own = own_phrase(self.agent, effect, is_greeting, self.driver.state.check_ins)
        self.cut_answers.aside = effect.reply if own.is_aside else 0
        told = self.unsaved_answers.heard_for(effect.first, effect.last) if effect.ask is Ask.ANSWER else None
        if told is not None and not isinstance(self.agent.thinker, Remembers) and told.turn == effect.last:
            self.replies.start(request, ToldBrain(told.text), told.heard)
            return
        if told is not None:
            request = replace(request, heard_turn=told.turn_before(effect.last))
        brain: Brain | None = StuckBrain() if self.requests.is_stuck else Phrase(own.text) if own.text else None
        if takes_over and brain is None and (greeting := self.agent.phrase(Ask.ANSWER, True, 0)):
            brain = Greeting(greeting, self.agent.thinker)
        self.replies.start(request, brain, told.heard if told is not None else "")

    def _continue_cut(self, effect: fx.StartReply, request: Request, is_heard: bool) -> None:
        """Go on after an answer was cut off, or offer to go on."""
        find = self.cut_answers.rest if is_heard else self.cut_answers.next
        found = find(self.agent, effect.reply)
        self.cut_answers.aside = effect.reply if found.is_aside else 0
        if found.repeats and self.playback.cut is not None:
            self.program.move_question(self.playback.cut.reply, effect.reply)
        brain = StuckBrain() if found.brain is None and self.requests.is_stuck else found.brain
        self.replies.start(request, brain, "" if is_heard else self.cut_answers.heard)

    def _play_cue(self, effect: fx.PlayCue) -> None:
        """Play a cue. A cue that tells the user to wait isn't played while the program waits for the user's answer."""
        if not (self.program.listens and effect.cue in (Cue.SOUND, Cue.WORDS)):
            self.cues.play(effect)

    def _note_heard_late(self, speech: Speech) -> None:
        """Called when a late report shows that enough of this interrupted reply was heard. Marks what the reply
        answered as handled, so that the brain isn't asked for it again. Exception: if the brain had not written the
        whole reply, and implements `Remembers`, nothing is marked. Such a brain is asked again, and says only the
        rest."""
        if speech.complete or not isinstance(self.agent.thinker, Remembers):
            self.hearing.note_heard_late(speech.reply)
            self.requests.note_heard_late(speech.reply)

    # -- Reports from ears, line and parts

    def note_heard(self, heard: Heard) -> None:
        """Process a report from the ears. A report that arrives during a step or from another thread is processed after
        the current step."""
        if self.driver.is_busy or self.driver.is_other_thread:
            self.driver.call_soon(lambda: self.note_heard(heard))
            return
        heard = self.program.hide(heard)
        for tap in self.taps:
            tap(heard)
        if (speech := self.playback.speech) is not None:
            self.hearing.note_agent(speech)
        self.hearing.note(heard)

    def note_line(self, event: LineEvent) -> None:
        if self.driver.is_other_thread:
            self.driver.call_soon(lambda: self.note_line(event))
            return
        self.sound_recording.note(event)
        match event:
            case Frame():
                if self.driver.state.link is not Link.SUSPENDED:  # the ears hear nothing during a pause
                    self.ears_task.frames.put(event)
                    self.usage.hear(event)
            case Played() | Finished() | Stopped() | Unplayable():
                self.playback.note(event)
            case Wobbled() | Healed() | Closed():
                self.sessions.note(event)
            case _:
                self.report_failure(
                    "line",
                    BrokenContract(
                        ErrorClass.SERVER_ERROR, f"the line reported {type(event).__name__}, not a line event"
                    ),
                )

    def report_failure(self, where: str, failure: BaseException) -> None:
        """Log a failure that doesn't end the conversation, and send it as a signal, with its traceback. Only Duologue's
        own messages are logged, because messages from services may contain words or secrets. The exception itself is
        kept in `failures`."""
        at, what = self.driver.now(), failure_text(failure)
        self.failures.append(RaisedFailure(at, where, failure))
        LOG.warning("%s: %s: %s", self._correlation, where, what)
        if not self.agent.private:
            LOG.debug("%s: %s", self._correlation, where, exc_info=failure)
        self.bus.send(sg.Problem(at, where, what))
        if self.bus.wants(sg.Raised) and (failure.__traceback__ is not None or failure.__cause__ is not None):
            raised = traceback_of(failure)
            self.bus.send(sg.Raised(at, where, raised.error, raised.frames))
        for watch in tuple(self.failure_watchers):
            watch(self.failures[-1])

    def _tell_hearing(self, hearing: HearingStatus) -> None:
        self.bus.send(sg.HearingChanged(self.driver.now(), hearing))

    def note_attention(self, here: bool) -> None:
        """Record whether the user is at the screen. Call this again every minute while the user is there."""
        if here:
            self.driver.post(ev.PersonSeen)
        if here is not self.attention:
            self.attention = here
            self.bus.send(sg.AttentionChanged(self.driver.now(), here))

    def _decided(self, kind: str, reasons: tuple[str, ...], confidence: float) -> None:
        self.bus.send(sg.Decided(self.driver.now(), kind, reasons, round(confidence, 3)))

    def _wait_label(self, stage: int) -> str:
        return label(WAITS[min(stage, len(WAITS) - 1)], self.agent.language, self.agent.phrases)

    def end_journal(self) -> None:
        """Mark the journal as complete, and close the journal and the recording."""
        self.sound_recording.close()
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            try:
                recorder.close()
            except OSError as failure:
                self.report_failure("journal", failure)

    def crash(self) -> None:
        """For tests: stop as a killed process would. The line stays open, and nothing more is saved or reported."""
        self.driver.close()
        self.tasks.crash()
        if self.checkpoint_writer is not None:
            self.checkpoint_writer.crash()

    async def close(self) -> None:
        """End everything that runs, and report tasks that don't end in time."""
        self.ears_task.stop()
        for unfollow in self._unfollow:
            unfollow()
        for name in await self.tasks.close():
            self.report_failure(name, TimeoutError())
        self.driver.close()
