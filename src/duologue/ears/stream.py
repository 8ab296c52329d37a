"""The state machine inside local ears. Its inputs are the frames of one stream and the answers of models.

It decides when utterances begin and end, when models should run, and what is reported. It counts time in frames. Rule:
`step` is a pure function. An onset is reported before any word of its utterance, and every onset gets exactly one final
text, unless its audio is discarded or the stream breaks. If a model fails or never answers, only that one result of the
model is lost.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import assert_never

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import (
    Commit,
    Discard,
    Partial,
    Pause,
    Sounding,
    SpeechBegan,
    SpeechEnded,
    VoiceFrame,
)
from duologue.turns.features import DOUBT_MS, PauseFeatures, is_weak, shape_of
from duologue.turns.speech_evidence import PITCHED_MS_CLEAR, is_clear, is_doubtful

from .speech_gate import FRAME_MS, Change
from .stream_rules import extended, joined, measured, next_text, plausible_pause, plausible_text, refine_ms, report_of
from .stream_state import (
    AudioEnded,
    BadFrame,
    EarsWarning,
    FinalModelOffer,
    FinalText,
    Hypothesis,
    JudgePause,
    ModelFailed,
    PauseJudged,
    RefineText,
    RequestText,
    ResetVad,
    SilentFrame,
    SoundFrame,
    StreamBroken,
    StreamInput,
    StreamOutput,
    StreamSettings,
    StreamState,
    TextRefined,
    TextWork,
    TextWritten,
    Utterance,
    WithdrawText,
)

ASK_MS = 64  # the end-of-turn model runs after this much silence; waiting longer hardly improves its answer
FINAL_ATTEMPTS_MAX = 2
_SILENCE = SoundFrame(0.0, 0.0, -120.0, math.inf)


def step(
    settings: StreamSettings, state: StreamState, given: StreamInput
) -> tuple[StreamState, tuple[StreamOutput, ...]]:
    """Return the state after this input, and the reports and requests to carry out, in order."""
    if state.is_broken:
        return state, ()
    draft = _Draft(settings, state)
    draft.take(given)
    if not draft.state.is_broken:
        draft.ask_for_text()
    return draft.state, tuple(draft.out)


class _Draft:
    """The state and the outputs of a step while it is computed."""

    def __init__(self, settings: StreamSettings, state: StreamState) -> None:
        self.settings = settings
        self.state = state
        self.out: list[StreamOutput] = []

    def take(self, given: StreamInput) -> None:
        match given:
            case SoundFrame():
                self._hear(given)
            case SilentFrame():
                if self.state.turn.is_on and not self.state.is_over:
                    self._follow(_SILENCE, 0.0)
            case BadFrame():
                self._refuse(given)
            case Commit() | Discard():
                self._cut(is_forgotten=isinstance(given, Discard))
            case Sounding():
                self.state = self.state._replace(is_sounding=given.is_on)
            case TextWritten():
                self._note_text(given)
            case TextRefined():
                self._note_refined(given)
            case FinalModelOffer():
                self.state = self.state._replace(offer=given)
            case PauseJudged():
                self._note_judgement(given.pause, given.features)
            case ModelFailed():
                self._note_failure(given)
            case AudioEnded():
                self._end_audio()
            case _:
                assert_never(given)

    # -- Frames

    def _hear(self, frame: SoundFrame) -> None:
        """Handle a frame. It can be speech only if it is clearly louder than the agent's echo could be."""
        probability, deaf_frames = frame.probability, 0
        if not 0 <= probability <= 1:
            probability, deaf_frames = 0.0, self.state.deaf_frames + 1
            self._go_deaf(deaf_frames, frame.fault or "its answer isn't a probability")
        if self.state.bad_frames or deaf_frames != self.state.deaf_frames:
            self.state = self.state._replace(bad_frames=0, deaf_frames=deaf_frames)
        margin_db = self.settings.margin_db if self.state.open is None else self.settings.margin_held_db
        self._follow(frame, probability if frame.excess_db > margin_db else 0.0)

    def _go_deaf(self, frames: int, why: str) -> None:
        self.out.append(ResetVad())
        if frames == 1:
            self.out.append(EarsWarning(f"the voice detector failed ({why}): it is reset and goes on"))
        if frames > self.settings.deaf_frames_max:
            self._break(f"the voice detector failed for {frames} frames in a row ({why}): listening stops")

    def _refuse(self, frame: BadFrame) -> None:
        bad_frames = self.state.bad_frames + 1
        self.state = self.state._replace(bad_frames=bad_frames)
        if bad_frames == 1:
            self.out.append(EarsWarning(f"a frame of audio was dropped: {frame.why}"))
        if bad_frames > self.settings.bad_frames_max:
            self._break(frame.why, ErrorClass.INVALID_ARGS)

    def _follow(self, frame: SoundFrame, probability: float) -> None:
        before, spoken = self.state, self.state.open
        gate, change = before.gate.heard(self.settings.rule, probability, before.is_sounding)
        self.state = before.heard(
            min(before.kept + 1, self.settings.kept_max),
            gate,
            measured(before, probability, frame.level_db),
            before.utterances if spoken is None else extended(before, change is Change.PAUSED),
        )
        if change is Change.BEGAN:
            self._begin()
        elif change is Change.ENDED:
            self._end()
        elif spoken is not None and self.state.length_ms(spoken) >= self.settings.utterance_ms_max:
            self._split()
        turn = self.state.turn
        if turn.voicing.voiced and self.state.finals:
            self._report_finals()
        if turn.is_on:
            quiet_ms = turn.voicing.silence_ms
            self.out.append(VoiceFrame(probability, frame.energy, FRAME_MS, quiet_ms, self.state.number))
            if quiet_ms:
                self._ask_about_pause()

    def _begin(self) -> None:
        state = self.state
        if len(state.utterances) >= self.settings.waiting_max:
            self._break(f"the STT model can't keep up: {len(state.utterances)} utterances wait for their text")
            return
        pace = self.settings.overlap if state.is_sounding else self.settings.pace
        number, first = state.number + 1, state.frames - state.kept
        due_ms = state.kept * FRAME_MS + pace.first_ms
        begun = Utterance(number, first, state.kept, due_ms, pace.every_ms)
        turn = state.turn._replace(is_on=True)
        self.state = state._replace(number=number, turn=turn, utterances=(*state.utterances, begun))
        self.out.append(SpeechBegan(number))

    def _end(self) -> None:
        """End the current utterance, because a silence has followed it. Most of this silence isn't transcribed."""
        quiet = self.state.gate.quiet
        self.out.append(SpeechEnded(self.state.number, quiet * FRAME_MS))
        if (spoken := self.state.open) is not None:
            self._close(spoken, self.state.frames - quiet + self.settings.after_ms // FRAME_MS)
        # The next onset may come soon, and the audio kept for it must not contain the last word of this utterance.
        self.state = self.state._replace(kept=min(self.state.kept, quiet // 2))

    def _split(self) -> None:
        """End the current utterance while speech may still go on. Further speech becomes a new utterance."""
        if (spoken := self.state.open) is not None:
            self.state = self.state._replace(gate=self.state.gate.cut(), kept=0)
            self._close(spoken, self.state.frames)

    def _close(self, spoken: Utterance, voiced_end: int) -> None:
        turn, end = self.state.turn, self.state.frames
        self._change(
            spoken._replace(is_over=True, end=end, voiced_end=voiced_end, sound=turn.measured, pause=turn.pause),
        )

    def _change(self, utterance: Utterance) -> None:
        self.state = self.state._replace(
            utterances=tuple(
                utterance if known.number == utterance.number else known for known in self.state.utterances
            ),
        )

    # -- Ends of turns

    def _cut(self, is_forgotten: bool) -> None:
        """End the turn. If speech goes on, it becomes a new utterance. An utterance that has only just begun belongs to
        the next turn, because the code that ended this turn didn't know about it yet. If `is_forgotten` is set, the
        speech of the turn is discarded instead of transcribed."""
        spoken = self.state.open
        new_ms = self.settings.new_ms
        is_new = spoken is not None and self.state.length_ms(spoken) < spoken.run_up * FRAME_MS + new_ms
        if not is_new:
            self._split()
        kept = self.state.utterances[-1:] if is_new else ()
        ended = self.state.utterances[: len(self.state.utterances) - len(kept)]
        if is_forgotten:
            self.state = self.state._replace(utterances=kept, finals=())
        else:
            committed = tuple(utterance._replace(is_committed=True) for utterance in ended)
            finals = tuple(replace(final, is_committed=True) for final in self.state.finals)
            self.state = self.state._replace(utterances=committed + kept, finals=finals)
            self._report_finals()
        turn = self.state.turn
        self.state = self.state._replace(turn=turn._replace(voicing=turn.voicing.forgotten(), is_on=is_new))
        self._forget_pause()

    def _end_audio(self) -> None:
        if (spoken := self.state.open) is not None:
            self.out.append(SpeechEnded(spoken.number))
            self._close(spoken, self.state.frames)
        self.state = self.state._replace(is_over=True)
        self._report_finals()

    # -- Pauses

    def _ask_about_pause(self) -> None:
        """Ask a model to judge this pause, if the pause is now exactly ASK_MS or DOUBT_MS long. After ASK_MS, the model
        is asked whether the turn is over, and the pause is reported before the model has answered. After DOUBT_MS, the
        question is whether the sound before the pause was speech; it is asked only if that is doubtful."""
        turn, end = self.state.turn, self.state.frames
        if turn.voicing.silence_ms == ASK_MS:
            known = replace(turn.measured, shape=shape_of(turn.voicing.levels_db, FRAME_MS))
            self._report_pause(known)
            self.out.append(JudgePause(turn.pause, known, turn.first, end))
        elif turn.voicing.silence_ms == DOUBT_MS and is_doubtful(turn.measured):
            self.out.append(JudgePause(turn.pause, turn.measured, turn.first, end, is_doubt=True))

    def _note_judgement(self, pause: int, features: PauseFeatures) -> None:
        turn = self.state.turn
        if pause != turn.pause:
            return
        known = joined(turn.known, plausible_pause(features))
        self.state = self.state._replace(turn=turn._replace(known=known))
        self._report_pause(known)
        self._report_finals()

    def _report_pause(self, features: PauseFeatures) -> None:
        self.out.append(Pause(features, self.state.turn.voicing.silence_ms, self.state.number))

    def _forget_pause(self) -> None:
        turn = self.state.turn
        self.state = self.state._replace(turn=turn._replace(pause=turn.pause + 1, known=None))

    # -- Text

    def ask_for_text(self) -> None:
        """Request the next transcript, unless it was already requested. If no transcript is needed any more, withdraw
        the request."""
        wanted = next_text(self.state)
        if wanted != self.state.asked:
            self.state = self.state._replace(asked=wanted)
            self.out.append(wanted or WithdrawText())

    def _note_text(self, given: TextWritten) -> None:
        asked = self.state.asked
        if asked is not None and (asked.utterance, asked.work) == (given.utterance, given.work):
            self.state = self.state._replace(asked=None)
        utterance = self._waiting(given.utterance)
        if utterance is None:
            return  # the answer is late: its utterance was discarded, or has its text
        said = plausible_text(given.text or Hypothesis())
        match given.work:
            case TextWork.FINAL if utterance.is_over:
                self._finish(utterance, said)
            case TextWork.PARTIAL:
                self._change(utterance._replace(covered=given.covers, is_long=given.is_long, latest=said))
                if said.text and not is_weak(self.state.turn.measured):
                    self.out.append(Partial(said.text, said.confidence, utterance.number, said.stability))
            case TextWork.SETTLE:
                self._change(utterance._replace(is_long=False))

    def _finish(self, utterance: Utterance, said: Hypothesis) -> None:
        ms_max = refine_ms(self.settings, self.state, utterance, said)
        if ms_max:
            end = min(utterance.voiced_end, utterance.end)
            self.out.append(RefineText(utterance.number, utterance.first, end, ms_max, said.tokens))
        final = FinalText(
            utterance.number,
            said,
            utterance.is_committed,
            is_refining=ms_max > 0,
            sound=utterance.sound,
            pause=utterance.pause,
        )
        waiting = tuple(other for other in self.state.utterances if other.number != utterance.number)
        self.state = self.state._replace(utterances=waiting, finals=(*self.state.finals, final))
        self._report_finals()

    def _note_refined(self, given: TextRefined) -> None:
        """Store the better model's text of an utterance. If that model found no word, the text is empty."""
        refined = plausible_text(given.text) if given.text is not None else None
        self.state = self.state._replace(
            finals=tuple(
                replace(final, is_refining=False, refined=refined)
                if final.is_refining and final.number == given.utterance
                else final
                for final in self.state.finals
            ),
        )
        self._report_finals()

    def _report_finals(self) -> None:
        """Report the final texts in order. Stop at the first text that still has to wait."""
        while self.state.finals:
            report = report_of(self.settings, self.state, self.state.finals[0])
            if report is None:
                return
            self.state = self.state._replace(finals=self.state.finals[1:])
            self.out.append(report)

    def _waiting(self, number: int) -> Utterance | None:
        return next((utterance for utterance in self.state.utterances if utterance.number == number), None)

    # -- Failures

    def _note_failure(self, failed: ModelFailed) -> None:
        match failed.request:
            case JudgePause():
                self._go_without_judgement(failed.request, failed.why)
            case RefineText():
                self.out.append(
                    EarsWarning(f"the better STT model failed ({failed.why}): the other one's text is used")
                )
                self._note_refined(TextRefined(failed.request.utterance))
            case _:
                self._go_without_text(failed.request, failed.why)

    def _go_without_judgement(self, request: JudgePause, why: str) -> None:
        """Go on after a model has failed to judge a pause. If the question was whether the sound was speech, the pitch
        of the sound stays unknown. A clear voice is then treated as speech, and a faint voice is judged by its
        words."""
        self.out.append(EarsWarning(f"the model that judges pauses failed ({why}): this pause isn't judged"))
        if request.is_doubt:
            pitched_ms = PITCHED_MS_CLEAR if is_clear(request.known) else 0
            self._note_judgement(request.pause, replace(request.known, pitched_ms=pitched_ms))

    def _go_without_text(self, request: RequestText, why: str) -> None:
        """Go on after a failed transcription. A partial transcript is skipped. A final transcript is tried again. If
        that fails too, the latest partial transcript is used instead. If there isn't any, the words would be lost, so
        the stream ends with an error."""
        if self.state.asked == request:
            self.state = self.state._replace(asked=None)
        utterance = self._waiting(request.utterance)
        if utterance is None:
            return
        number, failures = utterance.number, utterance.failures + 1
        if request.work is not TextWork.FINAL:
            self._change(utterance._replace(covered=self.state.end_of(utterance), is_long=False))
            self.out.append(
                EarsWarning(f"the STT model failed ({why}): a partial text of utterance {number} is skipped")
            )
        elif failures < FINAL_ATTEMPTS_MAX:
            self._change(utterance._replace(failures=failures))
            self.out.append(EarsWarning(f"the STT model failed ({why}): utterance {number} is transcribed again"))
        elif utterance.latest.text:
            self.out.append(EarsWarning(f"the STT model failed ({why}): utterance {number} keeps its partial text"))
            self._finish(utterance, utterance.latest)
        else:
            self._break(f"the STT model failed {failures} times ({why}): utterance {number} has no text")

    def _break(self, line: str, error: ErrorClass = ErrorClass.SERVER_ERROR) -> None:
        self.state = self.state._replace(is_broken=True)
        self.out.append(StreamBroken(line, error))
