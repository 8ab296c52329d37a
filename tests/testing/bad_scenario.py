"""A scenario file in which nearly everything is wrong, and the problems that must be reported."""

from __future__ import annotations

from duologue.testing.scenario_steps import STEPS

BAD = """nam: A caller
profile: confirmed
brain:
  - sai: There are two flights.
  - - say: Let me check.
      call: lookup
    - call: lookup
      wiht: {city: Rome}
  - fail: rate_limits
  - hang
  - [[nested]]
  -
  - hang: false
tools:
  lookup:
    - pause_ms: 0.9
    - progrss: halfway
    - result: [two, flights]
  book: {mode: tol, doess: [x]}
pace:
  word_ms: -250
  speed: 3
  confidence: 2
call:
  - user
  - user: {say: hi}
  - interrupts: no wait
    after: 700
  - coughs: short
  - hangs_up: now
  - expect_phase: listning
  - book a flight
  - expect_heard_matching: "(("
  - user: one
    says: two
  -
  - []
  - {}
  - expect_called: x
    with: 5
  - waits: 999999999
  - says: ""
  - user: one
    user: two
"""


TOLD = [
    (1, "unknown key 'nam' in a scenario; did you mean name?"),
    (2, "profile: 'confirmed' is not a profile; did you mean confirm?"),
    (4, "unknown line 'sai'; did you mean say?"),
    (6, "say and call are two lines: write each as its own list item"),
    (8, "call: unknown key 'wiht'; did you mean with?"),
    (9, "fail: 'rate_limits' is not a class of errors; did you mean RATE_LIMIT?"),
    (10, "'hang' is also the name of an act: write {hang: ...} or {say: hang}"),
    (11, "expected a line, not a list"),
    (12, "expected a line, not nothing"),
    (13, "hang must be true, not 'false'"),
    (16, "pause_ms must be whole milliseconds from 0 to 86400000, not '0.9'"),
    (17, "unknown step 'progrss'; did you mean progress?"),
    (18, "result must be text, not a list"),
    (19, "mode: 'tol' is not a mode; did you mean tool?"),
    (19, "the tool book: unknown key 'doess'; did you mean does?"),
    (21, "word_ms must be whole milliseconds from 0 to 86400000, not '-250'"),
    (22, "pace: unknown key 'speed'; use one of word_ms, partial_lag_ms, final_lag_ms, confidence"),
    (23, "confidence must be a number from 0 to 1, not '2'"),
    (25, "user needs text"),
    (26, "user must be text, not a mapping"),
    (28, "interrupts: unknown key 'after'; did you mean after_ms?"),
    (29, "coughs must be whole milliseconds from 0 to 86400000, not 'short'"),
    (30, "hangs_up takes no value"),
    (31, "expect_phase: 'listning' is not a phase; did you mean listening?"),
    (32, f"unknown step 'book a flight'; use one of {', '.join(STEPS)}"),
    (33, "expect_heard_matching: '((' is no valid regular expression: missing ), unterminated subpattern"),
    (35, "user and says are two steps: write each as its own list item"),
    (36, "expected a step, not nothing"),
    (37, "expected a step, not a list"),
    (38, "expected a step, not nothing"),
    (40, "with must be a mapping of arguments, not '5'"),
    (41, "waits must be whole milliseconds from 0 to 86400000, not '999999999'"),
    (42, "says must be text, not ''"),
    (44, "duplicate key 'user'; first in line 43"),
]
