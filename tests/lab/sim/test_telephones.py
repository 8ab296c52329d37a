"""The telephones of a simulated network."""

from __future__ import annotations

from duologue.lab.sim.telephones import AnsweredBy, NetworkLog, Telephone


def test_a_telephone_is_answered_by_a_person_unless_it_says_otherwise() -> None:
    assert Telephone().answer is AnsweredBy.PERSON


def test_a_log_knows_what_has_happened_where_and_when() -> None:
    times = iter((10, 20, 30))
    log = NetworkLog(lambda: next(times))
    for who, what in (("+1", "rings"), ("+2", "rings"), ("+1", "busy")):
        log.note(who, what)
    assert log.of("+1") == ["rings", "busy"]
    assert [event.at_ms for event in log.events] == [10, 20, 30]
