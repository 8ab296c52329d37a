"""The key of a conversation: who it opens for, and how it changes."""

from __future__ import annotations

from duologue.server.conversation_keys import OFFERS_MAX, ConversationKeys, hash_key, new_key, stored_keys


def keys(first: str = "first", user: str = "") -> ConversationKeys:
    return ConversationKeys((hash_key(first, user),))


def test_only_its_key_opens_a_conversation() -> None:
    assert keys().opens("first")
    assert not keys().opens("First")
    assert not keys().opens("")
    assert not ConversationKeys((hash_key(""),)).opens("")


def test_a_key_opens_only_for_the_user_who_started() -> None:
    annas = keys(user="anna")
    assert annas.opens("first", "anna")
    assert not annas.opens("first", "bob")
    assert not annas.opens("first")


def test_the_old_key_is_valid_until_the_new_one_is_acknowledged() -> None:
    offered = keys().offer("second")
    assert offered.opens("first")
    assert offered.opens("second")
    acknowledged = offered.acknowledge("second")
    assert not acknowledged.opens("first")
    assert acknowledged.opens("second")


def test_entering_with_an_offered_key_acknowledges_it() -> None:
    assert not keys().offer("second").enter("second").opens("first")
    again = keys().offer("second").enter("first")
    assert again.opens("second"), "the acknowledgement may be on its way"


def test_a_key_that_was_offered_later_stays_valid_when_an_earlier_offer_is_acknowledged() -> None:
    """A client that came back twice at once gets two keys, acknowledges both in order, and keeps the second."""
    offered = keys().offer("second").offer("third")
    for acknowledged in (offered.acknowledge("second"), offered.enter("second")):
        assert not acknowledged.opens("first")
        assert acknowledged.opens("third")
        assert acknowledged.acknowledge("third").dump() == [hash_key("third")]


def test_a_wrong_acknowledgement_changes_nothing() -> None:
    offered = keys().offer("second")
    assert offered.acknowledge("third") == offered


def test_the_number_of_keys_is_limited_and_the_acknowledged_one_stays() -> None:
    many = keys()
    for number in range(10):
        many = many.offer(f"offer {number}")
    assert len(many.hashes) == 1 + OFFERS_MAX
    assert many.opens("first")
    assert many.opens("offer 9")
    assert not many.opens("offer 0")


def test_stored_keys_are_read_again_and_hold_no_key_in_clear() -> None:
    offered = keys().offer("second")
    assert stored_keys({"keys": offered.dump()}, "x") == offered
    assert "second" not in str(offered.dump())


def test_a_conversation_that_an_earlier_version_stored_has_its_first_key() -> None:
    for client in (None, {}, {"keys": []}, {"keys": "x"}, {"keys": [1]}):
        assert stored_keys(client, hash_key("first")).opens("first")


def test_new_keys_differ() -> None:
    assert len({new_key() for _ in range(10)}) == 10
