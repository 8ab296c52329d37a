"""Whether a sound over the agent's speech is a bid for the floor, by words and by voice."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duologue.core.leaves import Overlap as Profile
from duologue.turns.echo_words import is_echo
from duologue.turns.overlap import OVERLAP_RULES, SILENCE_MS_END, UNDECIDED, Judgement, OverlapRule
from duologue.turns.voicing import FRAME_MS
from duologue.turns.words import BACKCHANNELS, FILLERS, count

CONFIRM, WORDS = OVERLAP_RULES["confirm"], OVERLAP_RULES["words"]
VOICE, NOTHING = 0.99, 0.02
PHRASES = ("got it", "Got it.", "mm-hmm", "Mm-hmm.", "uh-huh", "I see", "of course", "all right", "mm hmm", "uh huh")
judging = pytest.mark.parametrize("profile", ["confirm", "words"])


class Sound:
    """One sound, with the memory that the rule keeps of it."""

    def __init__(self, rule: OverlapRule, has_frames: bool = False) -> None:
        self.rule, self.memory = rule, rule.begin(has_frames)

    def frame(self, probability: float, frame_ms: int = FRAME_MS) -> Judgement:
        self.memory, judged = self.rule.frame(self.memory, probability, frame_ms)
        return judged

    def heard(self, text: str, confidence: float, is_final: bool, is_echo: bool) -> Judgement:
        self.memory, judged = self.rule.heard(self.memory, text, confidence, is_final, is_echo)
        return judged

    def lasted(self, voiced_ms: int, text: str, is_echo: bool) -> Judgement:
        return self.rule.lasted(self.memory, voiced_ms, text, is_echo)


def sound(over: Sound, *stretches: tuple[float, int]) -> list[Judgement]:
    """Frames of one probability after the other: (probability, how long in ms)."""
    return [over.frame(probability) for probability, ms in stretches for _ in range(ms // FRAME_MS)]


def verdicts(judged: Iterable[Judgement]) -> list[bool | None]:
    return [one.bid for one in judged]


def after_voice(profile: str, ms: int = 320) -> Sound:
    """A voice was heard over the agent, not long enough to be a bid by itself."""
    over = Sound(OVERLAP_RULES[profile])
    assert set(verdicts(sound(over, (VOICE, ms)))) == {None}
    return over


def test_every_profile_has_its_rule() -> None:
    assert set(OVERLAP_RULES) == {profile.value for profile in Profile}


# -- Words


passing = st.lists(st.sampled_from(sorted(FILLERS | BACKCHANNELS) + list(PHRASES)), min_size=1, max_size=6)


@pytest.mark.req("V-02", "M-14")
@judging
@pytest.mark.parametrize("has_frames", [True, False])
@given(words=passing, confidence=st.floats(0, 1), is_final=st.booleans())
def test_fillers_and_backchannels_are_never_a_bid_by_words(
    profile: str, has_frames: bool, words: list[str], confidence: float, is_final: bool
) -> None:
    text = " ".join(words)
    assume(count(text).substantial == 0)  # "see", "course" and the like are substantial by themselves
    over = after_voice(profile) if has_frames else Sound(OVERLAP_RULES[profile])
    told = [over.heard(text, confidence, False, False) for _ in range(3)]
    told.append(over.heard(text, confidence, is_final, False))
    assert True not in verdicts(told)
    assert told[-1].bid is (False if is_final else None)


@pytest.mark.req("V-02", "M-14")
@pytest.mark.parametrize(
    ("profile", "text", "is_bid"),
    [
        ("confirm", "stop", True),
        ("confirm", "uh stop", True),
        ("confirm", "yeah", False),
        ("words", "Boston", False),
        ("words", "uh yeah Boston", False),
        ("words", "book it", True),
        ("words", "no Boston", True),
        ("words", "got it thanks", False),
        ("words", "okay but when", True),
        ("words", "not sure", True),
        ("words", "of course not", True),
    ],
)
@pytest.mark.parametrize("has_frames", [True, False])
def test_so_many_substantial_words_are_a_bid(profile: str, text: str, is_bid: bool, has_frames: bool) -> None:
    over = after_voice(profile) if has_frames else Sound(OVERLAP_RULES[profile])
    judged = over.heard(text, 0.9, True, False)
    assert judged.bid is is_bid
    assert judged.reason == (f"words_{count(text).substantial}" if is_bid else "no_bid")


@pytest.mark.graveyard(22)
@pytest.mark.req("V-02")
@pytest.mark.parametrize("text", ["uh um er Boston", "Boston uh um er", "yeah yeah okay right Boston"])
def test_no_number_of_fillers_adds_up_to_a_second_word(text: str) -> None:
    """livekit/agents#3515: `min_words` counts words across fillers."""
    assert after_voice("words").heard(text, 0.99, True, False).bid is False


@pytest.mark.req("M-14")
def test_two_partials_must_agree_before_words_are_a_bid() -> None:
    over = after_voice("confirm")
    assert over.heard("stop", 0.9, False, False) == UNDECIDED
    assert over.heard("shop", 0.9, False, False) == UNDECIDED
    assert over.heard("hop", 0.9, False, False) == UNDECIDED
    assert over.heard("Hop on", 0.9, False, False).bid is True


@pytest.mark.req("M-14")
def test_empty_partials_agree_about_nothing() -> None:
    over = after_voice("confirm")
    assert {over.heard("", 0.9, False, False) for _ in range(3)} == {UNDECIDED}
    assert over.heard("stop", 0.9, False, False) == UNDECIDED


@pytest.mark.req("M-14")
def test_unsure_words_need_the_end_of_the_sound_or_better_ears() -> None:
    over = after_voice("confirm")
    assert over.heard("stop", 0.59, False, False) == over.heard("stop", 0.59, False, False) == UNDECIDED
    assert over.heard("stop", 0.6, False, False).bid is True
    for confidence, bid in ((0.44, False), (0.45, True)):
        over = after_voice("confirm")
        sound(over, (NOTHING, SILENCE_MS_END))
        assert over.heard("stop", confidence, True, False).bid is bid


@pytest.mark.req("M-14")
def test_words_without_a_voice_are_no_bid() -> None:
    """The STT has read words into noise."""
    over = Sound(CONFIRM)
    assert set(verdicts(sound(over, (0.6, 96)))) == {None}
    assert over.heard("stop", 0.99, False, False) == over.heard("stop it", 0.99, False, False) == UNDECIDED
    assert over.heard("stop it", 0.99, True, False).bid is False


@pytest.mark.req("V-02")
@judging
@pytest.mark.parametrize("has_frames", [True, False])
@pytest.mark.parametrize("is_final", [True, False])
def test_the_agents_own_words_are_no_bid(profile: str, has_frames: bool, is_final: bool) -> None:
    spoken = "You can come on Monday, or on Tuesday at three."
    over = after_voice(profile) if has_frames else Sound(OVERLAP_RULES[profile])
    for text in ("on Monday or", "on Monday or on Tuesday"):
        assert is_echo(text, spoken)
        assert over.heard(text, 0.99, is_final, True).bid is (False if is_final else None)
    assert over.lasted(5_000, "on Monday or on Tuesday", True) == UNDECIDED


# Mended: of ears without frames an echo is never a bid however long it lasts (`lasted`); of ears with frames it is
# one after a second: the words are known to be the agent's own, and the agent stops itself.
@pytest.mark.req("V-02")
def test_the_agents_own_words_are_no_bid_however_long_they_last() -> None:
    over = after_voice("confirm")
    over.heard("on Monday or", 0.99, False, True)
    assert True not in verdicts(sound(over, (VOICE, 3_000)))


@pytest.mark.req("V-02")
@judging
def test_garbled_text_of_ears_without_frames_is_no_bid(profile: str) -> None:
    assert Sound(OVERLAP_RULES[profile]).heard("stop it now", 0.29, True, False).bid is False
    assert Sound(OVERLAP_RULES[profile]).heard("stop it now", 0.3, True, False).bid is True


# -- The sound


@pytest.mark.req("M-14")
@judging
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.75, 0.9])
@pytest.mark.parametrize("ms", [32, 64, 96])
def test_a_short_burst_ends_as_no_bid(profile: str, probability: float, ms: int) -> None:
    over = Sound(OVERLAP_RULES[profile])
    judged = sound(over, (probability, ms), (NOTHING, SILENCE_MS_END))
    assert verdicts(judged)[:-1] == [None] * (len(judged) - 1)
    assert judged[-1] == Judgement(False, "no_voice", 0.9)


@pytest.mark.req("M-14")
def test_a_cough_that_sounds_like_a_voice_is_no_bid_when_it_has_no_words() -> None:
    over = Sound(CONFIRM)
    assert set(verdicts(sound(over, (0.99, 160), (NOTHING, 512)))) == {None}, "the words are still to come"
    assert over.heard("", 0.0, True, False).bid is False


@pytest.mark.req("M-14")
def test_a_series_of_knocks_never_adds_up_to_a_bid() -> None:
    over = Sound(CONFIRM)
    told = [one for _ in range(20) for one in sound(over, (0.9, 32), (NOTHING, 96))]
    assert True not in verdicts(told)


@pytest.mark.req("M-14")
def test_a_voice_that_lasts_is_a_bid_in_confirm() -> None:
    over = Sound(CONFIRM)
    judged = sound(over, (VOICE, 352))
    assert verdicts(judged)[:-1] == [None] * (len(judged) - 1), "10 frames are less than 336 ms"
    assert judged[-1] == Judgement(True, "voice_352ms", 0.8)


@pytest.mark.req("M-14")
@pytest.mark.parametrize(("probability", "frames"), [(0.99, 11), (0.88, 22), (0.73, 43)])
def test_the_less_sure_a_voice_the_longer_it_must_last(probability: float, frames: int) -> None:
    told = verdicts(sound(Sound(CONFIRM), (probability, 2_000)))
    assert told.index(True) + 1 == frames


@pytest.mark.req("M-14")
@pytest.mark.parametrize(("text", "is_bid"), [("M. H. M. Yuan.", False), ("M. Yuan stop", True), ("I, a plan", True)])
def test_a_text_of_single_letters_is_a_sound_that_was_spelled_out(text: str, is_bid: bool) -> None:
    assert after_voice("confirm").heard(text, 0.9, True, False).bid is is_bid


@pytest.mark.req("M-14")
@pytest.mark.parametrize("text", ["mhm", "yeah yeah", "okay"])
def test_a_voice_that_only_agrees_may_last_longer(text: str) -> None:
    over = after_voice("confirm")
    over.heard(text, 0.9, False, False)
    judged = sound(over, (VOICE, 896 - 320))
    assert verdicts(judged)[:-1] == [None] * (len(judged) - 1)
    assert judged[-1].bid is True


@pytest.mark.req("M-14")
@pytest.mark.parametrize(("confidence", "is_bid"), [(0.44, False), (0.45, True)])
def test_after_a_backchannel_only_clear_words_are_more(confidence: float, is_bid: bool) -> None:
    over = after_voice("confirm")
    over.heard("mhm", 0.7, False, False)
    sound(over, (VOICE, 96))
    over.heard("image I'm", confidence, False, False)
    assert (sound(over, (VOICE, FRAME_MS))[-1].bid is True) is is_bid


@pytest.mark.req("V-02", "M-14")
@given(
    stretches=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3_000)), max_size=8),
    text=st.sampled_from(["", "mhm", "Boston", "uh Boston", "yeah right Boston"]),
)
def test_no_voice_is_ever_a_bid_in_words_without_two_words(stretches: list[tuple[float, int]], text: str) -> None:
    over = Sound(WORDS)
    told = [over.heard(text, 0.99, False, False), *sound(over, *stretches)]
    told += [over.heard(text, 0.99, False, False), over.lasted(60_000, text, False)]
    assert True not in verdicts(told)


@pytest.mark.req("M-14")
def test_a_silence_in_mid_sentence_forgets_nothing() -> None:
    over = Sound(CONFIRM)
    judged = sound(over, (VOICE, 224), (NOTHING, 224), (VOICE, 224))
    assert judged[-1].bid is True


@pytest.mark.req("M-14")
def test_of_ears_without_frames_a_sound_that_lasts_is_a_bid_in_confirm_only() -> None:
    assert Sound(CONFIRM).lasted(799, "", False) == UNDECIDED
    assert Sound(CONFIRM).lasted(800, "", False) == Judgement(True, "sound_800ms", 0.7)
    assert Sound(CONFIRM).lasted(800, "mhm", False).reason == "words_and_sound"
    assert Sound(WORDS).lasted(60_000, "", False) == UNDECIDED


@pytest.mark.req("M-14")
def test_of_ears_with_frames_the_clock_decides_nothing() -> None:
    over = Sound(CONFIRM)
    sound(over, (NOTHING, 32))
    assert over.lasted(60_000, "", False) == UNDECIDED


# -- Whatever is heard, it ends decided


probabilities = st.floats(0, 1) | st.sampled_from([0.0, 0.35, 0.49, 0.5, 0.51, 1.0])


@pytest.mark.req("M-14")
@pytest.mark.parametrize("profile", sorted(OVERLAP_RULES))
@given(
    frames=st.lists(st.tuples(probabilities, st.integers(1, 60)), max_size=80),
    partials=st.lists(st.tuples(st.text(max_size=20), st.floats(0, 1), st.booleans()), max_size=4),
    final=st.text(max_size=30) | st.sampled_from(["", "stop", "stop it please", "yeah"]),
    confidence=st.floats(0, 1),
    echo=st.booleans(),
)
def test_every_sound_that_ends_with_its_text_is_decided(
    profile: str,
    frames: list[tuple[float, int]],
    partials: list[tuple[str, float, bool]],
    final: str,
    confidence: float,
    echo: bool,
) -> None:
    over = Sound(OVERLAP_RULES[profile])
    told = [over.frame(probability, ms) for probability, ms in frames]
    told += [over.heard(text, sure, False, mine) for text, sure, mine in partials]
    told += sound(over, (0.0, 320))
    last = over.heard(final, confidence, True, echo)
    assert last.bid is not None
    for judged in (*told, last):
        assert 0 <= judged.confidence <= 1
        assert (judged.bid is None) or judged.reason


@pytest.mark.req("M-14")
@given(frames=st.lists(probabilities, max_size=60))
def test_a_sound_that_is_over_without_a_voice_is_decided_without_its_text(frames: list[float]) -> None:
    """A decision must not wait for text that never comes."""
    over = Sound(CONFIRM)
    told = [over.frame(probability) for probability in (0.6, *frames)]  # an onset is a voice, at first
    if True in verdicts(told) or sum(probability > 0.5 for probability in frames):
        return
    assert sound(over, (0.0, 320))[-1] == Judgement(False, "no_voice", 0.9)


def test_a_probability_that_is_no_number_is_no_voice() -> None:
    over = Sound(CONFIRM)
    assert True not in verdicts(sound(over, (float("nan"), 2_000)))


@pytest.mark.req("V-02")
@pytest.mark.parametrize("text", [*sorted(BACKCHANNELS), *sorted(FILLERS), *PHRASES])
def test_each_of_them_alone_counts_for_nothing(text: str) -> None:
    assert count(text).substantial == 0
