"""What a listener says in each language doesn't interrupt the agent, and what a person says to stop it does."""

# ruff: noqa: RUF001 - Chinese and Japanese have their own punctuation
from __future__ import annotations

import tomllib
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from duologue.turns import language as module
from duologue.turns.language import ENGLISH, KNOWN, LISTS, SHARED_CODE, Language, is_code, known_code, language
from duologue.turns.overlap import OVERLAP_RULES, UNDECIDED, Judgement
from duologue.turns.words import count, is_call_for_attention, words_of

FOLDER = Path(module.__file__).with_name("languages")
LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "zh")
every_language = pytest.mark.parametrize("code", LANGUAGES)

PASSING = {
    "en": ["Mhmm.", "Uh-huh", "yeah yeah", "Okay, got it.", "Right, of course", "I see, that makes sense", "oh wow"],
    "de": ["Mhmm.", "ja genau", "Ja, ja.", "Ach so, verstehe.", "ähm", "Alles klar!", "na gut okay", "hm, stimmt"],
    "es": ["Mhm.", "sí, claro", "Ajá", "vale, vale", "ya veo", "de acuerdo", "eh", "muy bien, perfecto", "Entiendo."],
    "fr": ["Mmh.", "d'accord", "Oui, oui, d'accord.", "euh", "ah bon", "tout à fait", "je vois, très bien", "Ouais."],
    "it": ["Mhm.", "sì sì", "Va bene, ho capito.", "ehm", "certo", "ah ecco, esatto", "d'accordo", "Perfetto!"],
    "pt": ["Uhum.", "sim, claro", "Tá bom, entendi.", "aham", "pois é", "isso mesmo", "hã", "está bem, percebo"],
    "nl": ["Mhm.", "ja ja", "Oké, prima.", "eh", "precies", "ja hoor, dat klopt", "ik snap het", "oh ja, natuurlijk"],
    "pl": ["Mhm.", "tak, tak", "No dobrze, rozumiem.", "yyy", "jasne", "aha, no tak", "zgadza się", "Dokładnie!"],
    "ja": ["はい。", "はい、はい", "うんうん", "えーっと", "なるほど、そうですね", "そうなんですか", "ええ"],
    "zh": ["嗯。", "嗯嗯嗯", "对对对", "好的，明白了", "哦，原来如此", "没错", "那个", "對，沒問題", "是的"],
}
COMMANDS = {
    "en": ["stop", "Stop it.", "Wait!", "hold on please", "uh, one moment", "That's enough.", "okay stop now"],
    "de": ["halt", "Stopp!", "halt mal", "Warte mal kurz", "Moment bitte", "äh, warten Sie", "Das reicht.", "hör auf"],
    "es": ["para", "¡Para!", "para por favor", "espera", "un momento, por favor", "basta ya", "alto", "cállate"],
    "fr": ["stop", "Arrêtez !", "attends", "attendez s'il vous plaît", "un instant", "ça suffit", "euh, une seconde"],
    "it": ["basta", "Aspetti!", "fermati", "un attimo per favore", "stop", "ehm, scusi, un momento", "silenzio"],
    "pt": ["para", "Pare!", "espera aí", "um momento por favor", "peraí", "chega", "cala a boca", "pára já"],
    "nl": ["stop", "Wacht!", "wacht even", "hou op", "een momentje alstublieft", "ho maar", "stil", "eh, stop maar"],
    "pl": ["stop", "Czekaj!", "chwileczkę", "proszę przestać", "moment", "dość już", "przepraszam, chwila", "cicho"],
    "ja": ["ストップ", "待って！", "ちょっと待ってください", "やめて", "はい、ストップ", "もういいです"],
    "zh": ["停", "等一下！", "请停一下", "别说了", "等等", "稍等一下，谢谢", "好了，停", "夠了"],
}
OTHER = {  # the words of a command in another sentence: two words interrupt, whatever they say
    "en": ["the next stop is", "bus stop", "don't stop"],
    "de": ["nächster Halt", "das ist halt so", "nicht warten"],
    "es": ["para mañana", "no para", "un momento bonito"],
    "fr": ["l'arrêt suivant", "n'arrête pas", "une minute trente"],
    "it": ["non basta", "un attimo fa"],
    "pt": ["para amanhã", "não para"],
    "nl": ["volgende halte", "niet stoppen"],
    "pl": ["nie czekaj", "przystanek autobusowy stop"],
    "ja": ["やめないで", "待ち時間は"],
    "zh": ["别停", "停车场在哪"],
}
ATTENTION = {  # ask nothing new while an answer is awaited
    "en": [
        "Hello?",
        "Hello, are you there?",
        "Hurry up!",
        "Um, hello? Can you hear me?",
        "Come on.",
        "I'm still waiting.",
    ],
    "de": ["Hallo?", "Hallo, sind Sie noch da?", "Beeilung bitte!", "Ähm, hören Sie mich?", "Ich warte immer noch."],
    "es": ["¿Hola?", "¿Hola, sigue ahí?", "¡Dese prisa!", "eh, ¿me oye?", "Estoy esperando."],
    "fr": ["Allô ?", "Allô, vous êtes là ?", "Dépêchez-vous !", "Euh, vous m'entendez ?", "J'attends toujours."],
    "it": ["Pronto?", "Pronto, mi sente?", "Si sbrighi!", "Ehm, c'è qualcuno?", "Sto ancora aspettando."],
    "pt": ["Alô?", "Alô, você está aí?", "Anda logo!", "Hã, tem alguém aí?", "Ainda estou esperando."],
    "nl": ["Hallo?", "Hallo, bent u er nog?", "Schiet eens op!", "Eh, hoort u mij?", "Ik wacht nog steeds."],
    "pl": ["Halo?", "Halo, jest tam ktoś?", "Proszę się pospieszyć!", "Yyy, słychać mnie?", "Nadal czekam."],
    "ja": ["もしもし？", "もしもし、聞こえますか。", "早くしてください！", "えーっと、もしもし", "まだですか。"],
    "zh": ["喂？", "喂，您还在吗？", "快点！", "嗯，听得到吗？", "怎么这么久？"],
}
QUESTIONS = {  # hold more than that, or something else
    "en": ["Hello, a table for two.", "Hurry up and book it.", "Are you there on Sundays?", "stop", "yes", "um", ""],
    "de": ["Hallo, ich hätte gern einen Tisch.", "Ich warte auf den Bus.", "Sind Sie da auch sonntags?", "halt", "ja"],
    "es": ["Hola, quiero una mesa.", "Estoy esperando a mi hermano.", "para", "sí"],
    "fr": ["Allô, je voudrais une table.", "J'attends mon frère.", "stop", "oui"],
    "it": ["Pronto, vorrei un tavolo.", "Sto aspettando mia sorella.", "basta", "sì"],
    "pt": ["Alô, quero uma mesa.", "Estou esperando o meu irmão.", "para", "sim"],
    "nl": ["Hallo, ik wil graag een tafel.", "Ik wacht op de bus.", "stop", "ja"],
    "pl": ["Halo, poproszę stolik.", "Czekam na autobus.", "stop", "tak"],
    "ja": ["もしもし、予約したいのですが", "まだですかと聞いてください", "ストップ", "はい"],
    "zh": ["喂，我要订座", "快点订一张票", "停", "好的"],
}


def verdict(profile: str, code: str, text: str, has_frames: bool, confidence: float = 0.9, **more: bool) -> Judgement:
    """The judgement of a final text, after 320 ms of voice if the ears report frames."""
    policy = replace(OVERLAP_RULES[profile], language=code)
    memory = policy.begin(has_frames)
    for _ in range(10 if has_frames else 0):
        memory, _ = policy.frame(memory, 0.95)
    is_final, is_echo = more.get("is_final", True), more.get("is_echo", False)
    return policy.heard(memory, text, confidence, is_final, is_echo)[1]


judging = pytest.mark.parametrize("profile", ["confirm", "words"])
framed = pytest.mark.parametrize("has_frames", [True, False])


# -- What interrupts


@pytest.mark.req("V-02", "M-14")
@judging
@framed
@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in PASSING.items() for text in texts])
def test_what_a_listener_says_does_not_interrupt(profile: str, has_frames: bool, code: str, text: str) -> None:
    assert verdict(profile, code, text, has_frames).bid is False


@pytest.mark.req("V-02", "M-14")
@judging
@framed
@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in COMMANDS.items() for text in texts])
def test_a_command_alone_interrupts(profile: str, has_frames: bool, code: str, text: str) -> None:
    assert count(text, code).is_command
    assert verdict(profile, code, text, has_frames).bid is True


@pytest.mark.req("V-02")
@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in OTHER.items() for text in texts])
def test_a_command_in_another_sentence_is_no_command(code: str, text: str) -> None:
    assert not count(text, code).is_command


@pytest.mark.req("V-02", "M-14")
@framed
@pytest.mark.parametrize(
    ("code", "text"), [("en", "stop"), ("de", "halt"), ("es", "para"), ("ja", "ストップ"), ("zh", "停")]
)
def test_on_the_telephone_a_command_needs_confidence_and_must_not_be_an_echo(
    has_frames: bool, code: str, text: str
) -> None:
    assert verdict("words", code, text, has_frames, 0.45).reason in ("command", "words_2", "words_3")
    assert verdict("words", "de", "halt", has_frames, 0.44).bid is False
    assert verdict("words", code, text, has_frames, is_echo=True).bid is False


@pytest.mark.req("M-14")
@framed
def test_on_the_telephone_a_partial_command_interrupts_when_the_next_text_is_one_too(has_frames: bool) -> None:
    policy = replace(OVERLAP_RULES["words"], language="de")
    memory = policy.begin(has_frames)
    for _ in range(10 if has_frames else 0):
        memory, _ = policy.frame(memory, 0.95)
    memory, first = policy.heard(memory, "halt", 0.9, False, False)
    assert first == UNDECIDED
    memory, unsure = policy.heard(memory, "halt", 0.59, False, False)
    assert unsure == UNDECIDED
    assert policy.heard(memory, "hallo", 0.9, False, False)[1] == UNDECIDED
    assert policy.heard(memory, "äh halt", 0.9, False, False)[1] == Judgement(True, "command", 0.9)


@pytest.mark.req("M-14")
def test_a_command_in_a_sound_that_is_no_voice_does_not_interrupt() -> None:
    policy = OVERLAP_RULES["words"]
    memory = policy.begin(True)
    for _ in range(3):
        memory, _ = policy.frame(memory, 0.6)
    assert policy.heard(memory, "stop", 0.99, True, False)[1].bid is False


# -- What asks nothing new


@every_language
def test_hello_and_hurry_up_alone_are_calls_for_attention(code: str) -> None:
    assert [text for text in ATTENTION[code] if not is_call_for_attention(text, code)] == []
    assert [text for text in ATTENTION[code] if not is_call_for_attention(text.upper(), code)] == []


@every_language
def test_anything_beside_them_is_a_question_of_its_own(code: str) -> None:
    assert [text for text in QUESTIONS[code] if is_call_for_attention(text, code)] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_listed_call_for_attention_is_known(code: str) -> None:
    known = language(code)
    assert {phrase for phrase in known.presence | known.hurry if not is_call_for_attention(phrase, known)} == set()
    assert not known.hurry & known.presence
    assert not [phrase for phrase in known.hurry if not count(phrase, known).substantial], "it would be a backchannel"
    assert not [phrase for phrase in known.hurry if count(phrase, known).is_command]


def test_an_unknown_language_has_no_call_for_attention() -> None:
    assert not is_call_for_attention("hello?", "sv")


# -- The files


@every_language
def test_every_language_has_a_file_and_its_table(code: str) -> None:
    assert code in KNOWN
    assert {*KNOWN} == {*PASSING} == {*COMMANDS} == {*OTHER} == {*ATTENTION} == {*QUESTIONS}
    assert language(code).name == code


@pytest.mark.parametrize("code", [*LANGUAGES, SHARED_CODE])
def test_a_file_has_all_lists_without_duplicates_in_lower_case_and_composed(code: str) -> None:
    data = tomllib.loads((FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
    assert {*data} == {*LISTS}
    shared = tomllib.loads((FOLDER / f"{SHARED_CODE}.toml").read_text(encoding="utf-8"))
    for name, phrases in data.items():
        assert len(phrases) == len(set(phrases)), name
        assert code == SHARED_CODE or not {*phrases} & {*shared[name]}, f"{name} repeats what all languages share"
        for phrase in phrases:
            assert phrase == phrase.lower().strip(), phrase
            assert phrase == unicodedata.normalize("NFC", phrase), phrase
            assert words_of(phrase), phrase
    assert not {*data["beside"]} & {*data["fillers"]}, "fillers may stand beside a command anyway"


@every_language
def test_a_language_has_phrases_of_every_kind(code: str) -> None:
    known = language(code)
    for name in ("fillers", "backchannels", "negations", "commands", "beside", "presence", "hurry"):
        assert len(getattr(known, name)) >= 4, name


@pytest.mark.req("V-02")
@pytest.mark.parametrize("code", [*LANGUAGES, SHARED_CODE])
def test_every_filler_and_backchannel_counts_for_nothing(code: str) -> None:
    known = language(code)
    counted = {phrase: count(phrase, known) for phrase in known.fillers | known.backchannels}
    assert {phrase for phrase, found in counted.items() if found.substantial or found.is_command} == set()


@pytest.mark.req("V-02")
@pytest.mark.parametrize("code", [*LANGUAGES, SHARED_CODE])
def test_every_command_is_one_and_counts(code: str) -> None:
    known = language(code)
    counted = {phrase: count(phrase, known) for phrase in known.commands}
    assert {phrase for phrase, found in counted.items() if not found.substantial or not found.is_command} == set()


@every_language
def test_no_phrase_both_interrupts_and_does_not(code: str) -> None:
    known = language(code)
    passing = known.fillers | known.backchannels
    assert not passing & known.commands
    assert not known.fillers & known.backchannels
    assert not (known.presence | known.hurry) & (passing | known.commands)
    assert not known.presence & known.hurry
    assert not known.negations & passing
    assert not known.commands & known.beside


@every_language
def test_a_question_for_presence_is_no_command(code: str) -> None:
    known = language(code)
    assert not [phrase for phrase in known.presence if count(phrase, known).is_command]


# -- Codes


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("en", "en"), ("en-US", "en"), ("DE_at", "de"), ("zh-Hans-CN", "zh"), ("cmn-Hans-CN", "zh"), ("pt-BR", "pt"),
        ("deu", "de"), ("sv", SHARED_CODE), ("yue-HK", SHARED_CODE), ("", SHARED_CODE),
    ],
)  # fmt: skip
def test_a_code_gives_its_language_or_what_all_languages_share(code: str, name: str) -> None:
    assert language(code).name == name
    assert known_code(code) == ("" if name == SHARED_CODE else name)


@pytest.mark.parametrize("code", ["sv", "xx", "und"])
@judging
@framed
def test_of_an_unknown_language_hums_and_the_word_stop_are_known(code: str, profile: str, has_frames: bool) -> None:
    assert verdict(profile, code, "Mhm, okay", has_frames).bid is False
    assert verdict(profile, code, "stop", has_frames).bid is True
    assert verdict(profile, code, "ja visst", has_frames).bid is True


@pytest.mark.parametrize("text", ["en", "sv-SE", "zh_Hans_CN", "yue", "es-419", "de-CH-1996"])
def test_a_code_is_recognised_by_its_form(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize("text", ["", "german", "English", "e", "en US", "de-", "日本語", "en-us-"])
def test_what_is_not_a_code_is_recognised(text: str) -> None:
    assert not is_code(text)


def test_a_language_is_a_value_that_is_read_once() -> None:
    assert language("de-AT") is language("de")
    assert hash(language("de")) != hash(ENGLISH)
    with pytest.raises(AttributeError):
        ENGLISH.name = "xx"  # type: ignore[misc]
    assert isinstance(ENGLISH, Language)
