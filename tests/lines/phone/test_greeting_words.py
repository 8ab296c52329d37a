"""The first words on a telephone tell a machine or a person, in every language with a file."""

from __future__ import annotations

import pytest

from duologue.lines.phone.call.state import Answerer
from duologue.lines.phone.greeting_words import LANGUAGES, answerer_of, phrases_in
from duologue.phrases.texts import LANGUAGES as SPOKEN_LANGUAGES

MACHINES = {
    "en": "Hi, it's Ann. I can't come to the phone, so please leave a message after the tone.",
    "de": "Guten Tag, hier ist Ann Moor. Bitte hinterlassen Sie eine Nachricht nach dem Signalton.",
    "es": "Ha llamado a Ana. Por favor, deje su mensaje después de la señal.",
    "fr": "Bonjour, vous êtes bien chez Anne. Laissez-moi un message après le bip.",
    "it": "Ciao, sono Anna. Lasciate un messaggio dopo il segnale acustico.",
    "ja": "ただいま留守にしております。発信音の後にメッセージをお願いします。",
    "nl": "U bent verbonden met Anna. Spreek uw bericht in na de piep.",
    "pl": "Dzień dobry, tu Anna. Proszę zostawić wiadomość po sygnale.",
    "pt": "Olá, aqui é a Ana. Deixe sua mensagem após o sinal.",
    "zh": "您拨打的用户暂时无法接听,请在提示音后留言。",
}
PEOPLE = {
    "en": "Hello? Who is this?",
    "de": "Ja hallo? Wer ist da?",
    "es": "¿Diga? ¿Quién es?",
    "fr": "Allô, oui ?",
    "it": "Pronto? Chi parla?",
    "ja": "はい、もしもし。",
    "nl": "Hallo, wie is dit?",
    "pl": "Halo, słucham?",
    "pt": "Alô? Quem fala?",
    "zh": "喂,你好?",
}


def test_every_language_that_the_agent_speaks_has_a_file_and_an_example_here() -> None:
    assert set(LANGUAGES) == set(SPOKEN_LANGUAGES) == set(MACHINES) == set(PEOPLE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_machine_and_a_person_are_told_by_their_words(language: str) -> None:
    assert answerer_of(MACHINES[language], language) is Answerer.MACHINE
    assert answerer_of(PEOPLE[language], language) is Answerer.PERSON


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_means_both_and_each_is_there_once(language: str) -> None:
    phrases = phrases_in(language)
    for phrase in phrases.person:
        assert answerer_of(" ".join(phrase), language) is Answerer.PERSON, phrase
    for phrase in phrases.machine:
        assert answerer_of(" ".join(phrase), language) is Answerer.MACHINE, phrase
    for given in (phrases.machine, phrases.person):
        assert len(set(given)) == len(given)
        assert all(given)


@pytest.mark.parametrize("text", ["", "Miller and Sons, how can I help you?", "Hello, this is Ann.", "Hmm."])
def test_other_words_leave_it_open(text: str) -> None:
    assert answerer_of(text) is Answerer.UNKNOWN


@pytest.mark.parametrize("code", ["en-US", "de_AT", "zh-Hans-CN"])
def test_a_region_makes_no_difference(code: str) -> None:
    assert answerer_of(MACHINES[code[:2]], code) is Answerer.MACHINE


def test_a_language_without_a_file_is_read_as_english() -> None:
    assert answerer_of("Leave a message.", "fi") is Answerer.MACHINE
