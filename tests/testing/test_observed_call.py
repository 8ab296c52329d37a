"""What a test sees of a call."""

from __future__ import annotations

from duologue.testing import Call, ScriptedBrain, SoundedWord


def test_the_words_that_sounded_have_their_reply_and_their_time() -> None:
    with Call(ScriptedBrain(["One two three.", "Four."])) as call:
        call.user("count").settles()
        call.user("go on").settles()
        words = call.sounded_words
    assert [word.text for word in words] == ["One", "two", "three.", "Four."]
    assert words[0].reply < words[3].reply
    assert [word.end_ms for word in words] == sorted(word.end_ms for word in words)


def test_words_that_were_cut_off_did_not_sound() -> None:
    with Call(ScriptedBrain(["One two three four five six seven eight nine ten.", "Yes?"])) as call:
        call.user("count").interrupts("no wait stop", after_ms=900)
        call.expect_heard("Yes?")
        texts = [word.text for word in call.sounded_words]
    assert "ten." not in texts
    assert texts[0] == "One"
    assert isinstance(call.sounded_words[0], SoundedWord)
