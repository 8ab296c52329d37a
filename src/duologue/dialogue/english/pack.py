"""English as a language pack."""

from __future__ import annotations

from ..language.pack import LanguagePack, LanguageWords, ListReaders, Phrase, ReplyReaders, Signs
from ..language.readings import SlotKind
from .birth_dates import is_about_birth
from .carrier_words import DISSENT, EXACT, FILLERS, POLITE, is_negation
from .clause_starts import begins_clause
from .codes import find_code
from .commands import command_of, keeps, only_asks_for_change, postpones, repeats, words_of_command
from .correction_words import CORRECTIONS
from .courtesy import courtesy_of
from .dates import MONTHS
from .embedded_values import is_all_values, read_first, read_parts, unsettled_slots
from .explained_words import echo_of, is_number
from .free_text import answering_part, has_sentences, may_be_name, name_in_sentence, trimmed_text
from .list_replies import asks_for_list, is_explicit, read_list_reply
from .no_preference import has_no_preference
from .numbers import SCALES, TENS
from .operations import excludes
from .questions import OPENINGS, STOPPING, asks
from .read_confirmation import plain_answer, read_confirmation, says_yes_then_asks
from .read_reply import read, read_volunteered
from .tag_questions import is_tagged
from .tokens import stem, stems_of, tokens_of
from .value_forms import SPOKEN
from .yes_no import (
    asks_about_past,
    asks_for_more,
    is_about_future,
    opening_answer,
    polarity,
    trick_of,
    where_nothing_more,
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(text: str) -> tuple[Phrase, ...]:
    """The phrases in a text that has bars between them. The longest phrase comes first."""
    return tuple(sorted((tuple(one.split()) for one in text.split("|")), key=len, reverse=True))


ENGLISH = LanguagePack(
    code="en",
    name="English",
    replies=ReplyReaders(
        read=read,
        read_confirmation=read_confirmation,
        read_volunteered=read_volunteered,
        read_parts=read_parts,
        unsettled_slots=unsettled_slots,
        read_first=read_first,
        plain_answer=plain_answer,
        says_yes_then_asks=says_yes_then_asks,
        is_all_values=is_all_values,
        codes_in=find_code,
        name_in_sentence=name_in_sentence,
        trimmed_text=trimmed_text,
        answering_part=answering_part,
        has_sentences=has_sentences,
    ),
    signs=Signs(
        command_of=command_of,
        words_of_command=words_of_command,
        courtesy_of=courtesy_of,
        asks=asks,
        has_no_preference=has_no_preference,
        opening_answer=opening_answer,
        polarity=polarity,
        trick_of=trick_of,
        asks_for_more=asks_for_more,
        asks_about_past=asks_about_past,
        is_about_birth=is_about_birth,
        is_about_future=is_about_future,
        where_nothing_more=where_nothing_more,
        postpones=postpones,
        is_tagged=is_tagged,
        only_asks_for_change=only_asks_for_change,
        keeps=keeps,
        repeats=repeats,
        excludes=excludes,
        echo_of=echo_of,
    ),
    words=LanguageWords(
        tokens_of=tokens_of,
        stem=stem,
        stems_of=stems_of,
        is_negation=is_negation,
        is_number=is_number,
        fold=str.casefold,
        may_be_name=may_be_name,
        begins_clause=begins_clause,
        cancel_stems=_set("cancel"),
        wait_stems=_set("wait"),
        polite=POLITE,
        fillers=FILLERS,
        dissent=DISSENT,
        common=EXACT,
        openings=OPENINGS,
        open_ends=_set(
            "to from of for with at by into onto than between and or but because a an the my your our their"
        ),
        open_verb_marks=_set("to"),
        goes_on=frozenset(TENS) | frozenset(SCALES),
        limits=(
            *(("at", "least"), ("at", "most"), ("more", "than"), ("less", "than"), ("no", "later", "than")),
            *(("not", "before"), ("not", "after"), ("any", "time", "after"), ("sometime", "after")),
            *(("anytime", "after"), ("later", "than")),
            *((word,) for word in "after before not over under until till above below past".split()),
        ),
        excluding=("not",),
        prefers_before=_phrases(
            """most preferably|preferably|preferable|ideally|optimally|say|let's say|best|better|better still|rather|
            especially|particularly|probably|most likely|if possible|if you can|
            hopefully|i'd prefer|i would prefer|i prefer"""
        ),
        prefers_after=_phrases(
            """would be best|would be better|would be ideal|would be perfect|would be great|would be preferable|
            would be my first choice|would suit me best|suits me best|works best|is best|is better|is ideal|if possible|
            if you can|if that's possible|if it's possible|if available|preferred|for preference|ideally|preferably|
            would suit me better|would suit us better|suits me better|suits us better|suits better|works better|
            would work better"""
        ),
        vague=_phrases(
            """as late as possible|as early as possible|as long as possible|as short as possible|as little as possible|
            as much as possible|after lunch|before lunch|at lunchtime|lunchtime|after work|before work|after school|
            before school|in the morning|in the afternoon|in the evening|first thing|not too early|not too late|
            in the spring|in spring|in the summer|in summer|in the autumn|in autumn|in the winter|in winter|
            after christmas|before christmas|after easter|before easter|after the holidays|before the holidays|
            sometime soon|later on|quite a lot|a few|a couple|several"""
        ),
        soonest=_phrases(
            """as soon as possible|as soon as you can|asap|the sooner the better|soonest|straight away|right away|
            immediately|as early as possible|from now on|from now|soon as possible|soon as you can|
            as quick as you can|as quickly as you can|as quickly as possible|as fast as you can|right now|at once|now"""
        ),
        excepts=_phrases(
            """but not on|but not|just not on|just not|except for|except on|except|apart from|other than|not on|not|
            but never|excluding"""
        ),
        adding=_set("also too another additional additionally plus besides both"),
        limiting=_set("just only simply"),
        contrasts=_set("but though although and however"),
        between=_set("between"),
        ands=_set("and"),
        ors=_set("or either"),
        tills=_set("till until til"),
        same=_set("same likewise"),
        maybes=_set("maybe perhaps possibly"),
        or_so=_phrases(
            """or so|or something|or thereabouts|or something like that|something like that|give or take|to be safe|
            to be sure|to be on the safe side|just in case|for now|for the moment|for the time being|for god's sake|
            for heaven's sake|for goodness sake|for goodness' sake|for pete's sake|for crying out loud|
            nothing crazy|nothing fancy|nothing special|nothing major|max|tops"""
        ),
        tos=_set("to"),
        joins=_set("and but because cause so since though although while however plus"),
        conclusions=_set("so then therefore"),
        conditions=_set("if unless depends depending provided only maybe perhaps might may could would"),
        months=frozenset(MONTHS),
        month_ranges=_set("any day in during sometime anytime some time of the is fine would be good works"),
        day_of_month="{day} of {month}",
        kinds={
            SlotKind.DATE: ("date", "day"),
            SlotKind.TIME: ("time",),
            SlotKind.MONEY: ("amount",),
            SlotKind.PHONE: ("phone number", "phone"),
            SlotKind.EMAIL: ("email address", "email", "e-mail", "e mail"),
        },
        small=_set("of the a an and or to for in on at from by is per"),
        around_names=POLITE | FILLERS | _set("the my our i i'm mean meant it's is was it that's"),
        counting="number of ",
        retry=_set("retry again try yes yeah yep ok okay sure please it once more"),
        give_up=_set("no nope stop cancel leave it thanks thank you"),
        asks_presence=_phrases(
            """are you there|are you still there|you there|you still there|still there|anyone there|anybody there|
            is anyone there|is anybody there|is anyone here|can you hear me|can you still hear me|do you hear me|
            you hear me|did i lose you|have i lost you|are you still with me|are you with me|are we still connected"""
        ),
        says_presence=_phrases(
            """i'm here|i am here|i'm still here|i am still here|still here|yes i'm here|yes i am here|yes still here|
            yes i'm still here|yes i am still here|yeah i'm here|yeah i'm still here|yeah still here|sorry i'm here|
            sorry i'm still here|yes sorry i'm here|yes sorry i'm still here|yes i'm here sorry|
            yes i'm still here sorry|i can hear you|yes i can hear you|yeah i can hear you|i hear you|yes i hear you"""
        ),
        refuses_change=frozenset(("leave it", "i don't want it", "i don't want it anymore", "forget it")),
        nothing=_set("nothing none"),
        neither=_set("neither none"),
        removing=_phrases(
            """no|without|don't need|don't want|do not need|do not want|won't need|not need|remove|take off|take out|
            take|leave out|leave off|drop|scrap|skip|delete|get rid of|forget|forget about|lose"""
        ),
        later=_phrases("later|push back|put back|move back|delay|postpone"),
        earlier=_phrases("earlier|sooner|bring forward|move forward|put forward"),
        duties=_phrases(
            """should|shouldn't|must|mustn't|need|needs|needn't|want|wants|would like|i'd like|we'd like|she'd like|
            he'd like|they'd like|ought|have to|has to|had better|make sure|don't forget|remember to|prefer|prefers|
            prefer to"""
        ),
        lacking=_phrases(
            """i don't have any|i do not have any|i haven't got any|we don't have any|don't have any|i don't have|
            i do not have|we don't have|i haven't got|we haven't got|i have no|we have no|i've no|i've got no|
            i got no|i don't know|we don't know|i do not know|don't know|dunno|i dunno|idk|i don't remember|
            don't remember|i can't remember|can't remember|i forgot|i've forgotten|i have forgotten|i've lost|
            no idea|no clue|i haven't a clue|haven't a clue|not a clue|i couldn't tell you|couldn't say|
            i couldn't say|can't say|i can't say|i don't use|i've never had|never had|there is no|there isn't|
            there's no|i'm not sure|not sure|i don't own|don't have|haven't got|i'd rather not give|
            i'd rather not say|i'd rather not|i don't want to give|i won't give|none of your business"""
        ),
        asks_for_value=_set("what what's when when's which how where who whose"),
        again=_set("again was were did said have got had so far"),
        asks_which=_set("which what options choices possibilities"),
        which_ones=_set(
            "are there is ones one can i have do you choose choices options possibilities the my what which "
            "kind kinds sort sorts type types of offer got"
        ),
        why=_set("why what what's"),
        asks_why=_set("why do you need that this it want to know is for must should i have tell what what's my the"),
        before_questions=OPENINGS | _set("wait sorry"),
        stopping=STOPPING,
        around_topics=POLITE
        | FILLERS
        | _set("a an the of to for in on at is are am be do does did i you your my me we our it that this and or")
        | _set("can could would will may please tell know if there have has what's"),
        price_words=_set("cost costs price prices priced pricey much charge charges fee fees expensive rate rates"),
    ),
    corrections=CORRECTIONS,
    spoken=SPOKEN,
    texts={},
    examples={},
    lists=ListReaders(read=read_list_reply, is_explicit=is_explicit, asks_for_list=asks_for_list),
)
