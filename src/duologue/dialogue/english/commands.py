"""Commands that control the conversation: "go back", "say that again", "a person, please".

Rule: a reply is a command only if it consists of the command and polite words. Any longer reply goes to NLU.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .carrier_words import DISSENT, FILLERS, POLITE, PREPOSITIONS
from .tokens import Token, stem, stems_of

_PHRASES = {
    "cancel": """cancel|cancel it|cancel that|cancel this|cancel everything|never mind|nevermind|forget it|
        forget about it|forget that|stop|stop it|stop that|quit|exit|abort|i want to cancel|
        i'd like to cancel|i don't want this anymore|i don't want to do this|leave it|drop it|let's not|
        forget the whole thing|forget everything|forget all that|forget about the whole thing|forget the lot|
        cancel the whole thing|cancel all of it|cancel it all|cancel all that|scrap that|scrap it|
        leave it for now|leave that for now|let's leave it for now|leave it for the moment|forget it for now|
        scrap the whole thing|drop the whole thing|leave the whole thing|let's leave it|let's forget it|
        let's forget the whole thing|i'll leave it""",
    "back": """back|go back|step back|one step back|go back one step|go back one|previous|previous question|
        the previous one|back up|undo|undo that|last question|i want to go back|can we go back|
        can you go back|let's go back""",
    "repeat": """repeat|repeat that|repeat it|repeat the question|say that again|say it again|again|come again|
        pardon|pardon me|what|huh|what was that|what did you say|sorry what|excuse me|one more time|
        can you repeat that|can you repeat|could you repeat that|could you repeat|can you say that again|
        could you say that again|i didn't hear you|i didn't hear that|i didn't catch that|i didn't get that|
        i missed that""",
    "wait": """wait|wait a second|wait a minute|wait a moment|hold on|hold on a second|hold on a minute|
        hold on a moment|hang on|hang on a second|hang on a minute|one moment|one second|one minute|one sec|
        a moment|a second|just a moment|just a second|just a minute|just a sec|give me a second|give me a minute|
        give me a moment|give me one second|give me one moment|bear with me|let me think|let me think about it|
        let me check|let me check that|let me look|let me look it up|let me have a look|i need a moment|
        i need a second|i need a minute|i'm thinking|i have to think|i have to check|i need to check""",
    "skip": """skip|skip it|skip that|skip this|skip this one|skip that one|skip this question|skip the question|
        next question|pass|i'll pass|leave it blank|leave it empty|leave that blank|move on|
        i'd rather not say|i prefer not to say|can we skip that|can we skip this|i don't have one|i have none|
        i don't have any|i haven't got one|i don't know it""",
    "help": """help|help me|i need help|i need some help|can you help me|what can i say|what can you do|
        what are my options|what are the options|what do i say|what should i say|what do you need|
        how does this work|i don't understand|i'm confused|i am confused|options|explain|what do you mean""",
    "person": """person|a person|human|a human|agent|an agent|operator|representative|a representative|real person|
        a real person|talk to a person|talk to a human|talk to someone|talk to somebody|talk to an agent|
        talk to a real person|speak to a person|speak to a human|speak to someone|speak to an agent|
        speak with an agent|speak with someone|speak to a representative|talk to a representative|
        customer service|i want to talk to a person|i want to talk to a human|i want to speak to someone|
        i'd like to talk to a person|i'd like to speak to someone|let me talk to a person|
        let me speak to someone|get me a person|get me a human|can i talk to a person|
        can i speak to someone|can i talk to someone|can i speak to a person|connect me to an agent|
        transfer me""",
    "restart": "start over|start again|restart|from the beginning|from the top|let's start over|begin again|reset",
}
COMMANDS = {
    tuple(phrase.split()): name
    for name, phrases in _PHRASES.items()
    for phrase in phrases.replace("\n", " ").split("|")
}
_AROUND = (POLITE | FILLERS) - {"like", "see", "much", "very"}
_NO_HINTS = frozenset(
    "start with don't this have need not say whole thing everything all lot let's i'll on up in for at".split()
)
_SMALL = frozenset("a an the it that this one to i i'd want like can you me my we is".split())
_CHANGING = frozenset("change changes edit modify correct fix".split())
_CHANGED = frozenset("it that this them something things anything a one".split())  # may follow "correct", the verb
_SUDDENLY = (("you", "know", "what"), ("on", "second", "thought"), ("on", "second", "thoughts"), ("actually",))
_AROUND_CHANGE = _SMALL | frozenset(
    "something somethings thing things we let's need i'd i'll let please make some have could wait".split()
)
_ALSO = {
    "wait": "calendar thinking looking waiting patience find fetch get ready brb later while bit",
    "back": "before wrong mistake last previous earlier change return undo",
    "restart": "beginning over again scratch new afresh anew fresh",
    "skip": "without omit next rather say leave ignore later",
    "cancel": "mind want anymore more interested stop enough leave rather",
    "person": "manager supervisor colleague employee staff adviser advisor anyone team transfer robot machine",
}
_KEEPING = tuple(
    f"{verb} {what} {how}"
    for verb in ("leave", "keep")
    for what in ("it", "that", "this", "them", "everything")
    for how in ("as it is", "as is", "as it was", "as they are", "like that", "like this", "that way", "this way")
)
_NOT_YET_WORDS_MAX = 6
WORDS_MAX = max(map(len, COMMANDS)) + 6


@lru_cache(maxsize=16)
def words_of_command(name: str) -> frozenset[str]:
    """The stems (words without their endings) that hint at a command. A message that contains none of these stems can't
    mean that command."""
    said = {stem(word) for phrase, meant in COMMANDS.items() if meant == name for word in phrase}
    more = {stem(word) for word in _ALSO.get(name, "").split()}
    return frozenset(said | more) - frozenset(map(stem, _SMALL | _AROUND | _NO_HINTS))


def command_of(tokens: Sequence[Token]) -> str | None:
    """The name of the command, if the whole reply is a command; otherwise None."""
    if len(tokens) > WORDS_MAX:
        return None
    words = [token.word for token in tokens]
    if (found := COMMANDS.get(tuple(words))) is not None:
        return found
    while words and (opening := _opening_size(words)):
        del words[:opening]
    while words and (words[-1] in _AROUND or words[-1] == "you"):
        if words[-1] == "you" and words[-2:-1] != ["thank"]:
            break
        words.pop()
    return COMMANDS.get(tuple(words))


def _opening_size(words: Sequence[str]) -> int:
    """The number of words at the beginning that may stand before a command: "please", "you know what"."""
    sudden = next((len(phrase) for phrase in _SUDDENLY if tuple(words[: len(phrase)]) == phrase), 0)
    return sudden or (1 if words[0] in _AROUND else 0)


def postpones(tokens: Sequence[Token]) -> bool:
    """Does the reply say "not yet"? Such a reply is neither a yes nor a reason to drop the task."""
    said = [token.word for token in tokens if token.word not in _AROUND | DISSENT]
    is_order = said[:1] == ["don't"] or said[:2] == ["do", "not"]  # "don't book it yet"
    if is_order and said[-1] == "yet" and len(said) <= _NOT_YET_WORDS_MAX:
        return True
    return said in (["not", "yet"], ["not", "just", "yet"], ["not", "quite", "yet"])


def only_asks_for_change(tokens: Sequence[Token]) -> bool:
    """Does the reply ask for a change without saying what to change? True for "no, change it" and "I want to change
    something"."""
    words = [token.word for token in tokens]
    orders = [
        place
        for place, word in enumerate(words)
        if word in _CHANGING
        and (word != "correct" or (words[place + 1 : place + 2][:1] and words[place + 1] in _CHANGED))
    ]  # in "that is correct", the word is praise
    return bool(orders) and all(word in _CHANGING | _AROUND_CHANGE | _AROUND | DISSENT for word in words)


def keeps(tokens: Sequence[Token]) -> bool:
    """Does the reply say "leave it as it is"? Such a reply neither changes nor cancels anything."""
    words = " ".join(token.word for token in tokens)
    return words.startswith(_KEEPING) or any(f" {phrase}" in words for phrase in _KEEPING)


def repeats(text: str, tokens: Sequence[Token]) -> bool:
    """Does the command in `tokens` repeat a word of the question `text`? If so, the command may be a yes: "cancel it",
    after "shall I cancel it?"."""
    asked = stems_of(text)
    return any(stem(token.word) in asked for token in tokens if token.word not in _SMALL | _AROUND | PREPOSITIONS)
