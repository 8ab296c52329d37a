"""Builds a language pack from the files of a language: `words.toml`, `texts.toml` and a table of corrections.

Rule: a pack that lacks a part is refused with an error that names the missing parts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from ..flow import Patterns
from ..language.correction_patterns import CorrectionWords, correction_patterns
from ..language.pack import IncompletePack, LanguagePack, LanguageWords, ListReaders, ReplyReaders, Signs, checked_pack
from ..language.readings import SlotKind
from ..language.tokens import Token
from ..language.value_forms import ValueForms
from . import codes, embedded_values, free_text, list_replies, read_confirmation, read_reply, signs, yes_no
from .lexicon import Compounds, Lexicon, lexicon_of
from .signs import is_value_word
from .tokens import stems_of, tokens_of

_LIST_WORDS = (
    "joints another wants adds removes removes_after changes changes_after into becomes instead it one_of mind done "
    "own so_far"
)
_LISTS = (
    "common open_ends open_verb_marks goes_on small around_names retry give_up nothing neither asks_for_value again "
    "asks_which which_ones why asks_why before_questions adding limiting contrasts between ands ors tos joins "
    "conclusions conditions maybes same tills month_ranges around_topics price_words cancel_stems wait_stems"
).split()


def _begins_no_clause(tokens: Sequence[Token], place: int) -> bool:
    """In these languages, a clause begins only at a pause or a joining word, because the subject may follow the
    verb."""
    del tokens, place
    return False


def build_pack(folder: Path, name: str, compounds: Compounds | None = None) -> LanguagePack:
    """The language pack that is built from the files in this folder. `compounds` reads numbers that are written as one
    word."""
    lexicon = lexicon_of(folder / "words.toml", compounds)
    written = tomllib.loads((folder / "texts.toml").read_text(encoding="utf-8"))
    absent = [part for part in ("texts", "examples", "spoken", "corrections") if part not in written]
    if absent:
        raise IncompletePack(lexicon.code, absent, "texts.toml")
    absent = [f"lists.{one}" for one in _LISTS if one not in lexicon.lists]
    absent += [f"list_words.{one}" for one in _LIST_WORDS.split() if one not in lexicon.list_words]
    if absent:
        raise IncompletePack(lexicon.code, absent, "words.toml")
    pack = LanguagePack(
        lexicon.code,
        name,
        _replies(lexicon),
        _signs(lexicon),
        _words(lexicon),
        correction_patterns(CorrectionWords(**_parts(lexicon.code, "corrections", written, CorrectionWords))),
        ValueForms(**_parts(lexicon.code, "spoken", written, ValueForms)),
        written["texts"],
        {name: tuple(phrases) for name, phrases in written["examples"].items()},
        _list_readers(lexicon),
    )
    return checked_pack(pack, [field.name for field in fields(Patterns)])


def _parts(code: str, table: str, written: dict[str, Any], kind: type) -> dict[str, Any]:
    """The entries of one table, with lists as tuples. Raises IncompletePack if an entry is missing."""
    missing = [f"{table}.{field.name}" for field in fields(kind) if field.name not in written[table]]
    if missing:
        raise IncompletePack(code, missing, "texts.toml")
    return {key: _frozen(value) for key, value in written[table].items()}


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _replies(lexicon: Lexicon) -> ReplyReaders:
    return ReplyReaders(
        read=partial(read_reply.read, lexicon),
        read_confirmation=partial(read_confirmation.read_confirmation, lexicon),
        read_volunteered=partial(read_reply.read_volunteered, lexicon),
        read_parts=partial(embedded_values.read_parts, lexicon),
        unsettled_slots=partial(embedded_values.unsettled_slots, lexicon),
        read_first=partial(embedded_values.read_first, lexicon),
        plain_answer=partial(read_confirmation.plain_answer, lexicon),
        says_yes_then_asks=partial(read_confirmation.says_yes_then_asks, lexicon),
        is_all_values=partial(embedded_values.is_all_values, lexicon),
        codes_in=partial(codes.find_code, lexicon),
        name_in_sentence=partial(free_text.name_in_sentence, lexicon),
        trimmed_text=partial(free_text.trimmed_text, lexicon),
        answering_part=partial(free_text.answering_part, lexicon),
        has_sentences=free_text.has_sentences,
    )


def _signs(lexicon: Lexicon) -> Signs:
    return Signs(
        command_of=partial(signs.command_of, lexicon),
        words_of_command=partial(signs.words_of_command, lexicon),
        courtesy_of=partial(signs.courtesy_of, lexicon),
        asks=partial(yes_no.asks, lexicon),
        has_no_preference=partial(signs.has_no_preference, lexicon),
        opening_answer=partial(yes_no.opening_answer, lexicon),
        polarity=partial(yes_no.polarity, lexicon),
        trick_of=partial(yes_no.trick_of, lexicon),
        asks_for_more=partial(yes_no.asks_for_more, lexicon),
        asks_about_past=partial(yes_no.asks_about_past, lexicon),
        is_about_birth=partial(yes_no.is_about_birth, lexicon),
        is_about_future=partial(yes_no.is_about_future, lexicon),
        where_nothing_more=partial(yes_no.where_nothing_more, lexicon),
        postpones=partial(yes_no.postpones, lexicon),
        only_asks_for_change=partial(signs.only_asks_for_change, lexicon),
        keeps=partial(signs.keeps, lexicon),
        is_tagged=partial(signs.is_tagged, lexicon),
        repeats=partial(signs.repeats, lexicon),
        excludes=partial(signs.excludes, lexicon),
        echo_of=partial(signs.echo_of, lexicon),
    )


def _list_readers(lexicon: Lexicon) -> ListReaders:
    return ListReaders(
        read=partial(list_replies.read_list_reply, lexicon),
        is_explicit=partial(list_replies.is_explicit, lexicon),
        asks_for_list=partial(list_replies.asks_for_list, lexicon),
    )


_PHRASES = "later earlier duties lacking removing or_so asks_presence says_presence".split()


def _words(lexicon: Lexicon) -> LanguageWords:
    lists = lexicon.lists
    phrases = {name: getattr(lexicon, name) for name in _PHRASES}
    return LanguageWords(
        **phrases,
        tokens_of=partial(tokens_of, lexicon),
        stem=lexicon.stem,
        stems_of=partial(stems_of, lexicon),
        begins_clause=_begins_no_clause,
        is_negation=(lexicon.negations | lexicon.dissent).__contains__,
        is_number=partial(is_value_word, lexicon),
        fold=lexicon.fold,
        may_be_name=partial(free_text.may_be_name, lexicon),
        polite=lexicon.polite,
        fillers=lexicon.fillers,
        dissent=lexicon.dissent,
        common=lists["common"] | lexicon.carriers | lexicon.polite | lexicon.fillers,
        openings=lexicon.openings,
        open_ends=lists["open_ends"],
        open_verb_marks=lists["open_verb_marks"],
        goes_on=lists["goes_on"],
        limits=lexicon.limits,
        excluding=(lexicon.fold(lexicon.excluding),),
        prefers_before=lexicon.prefers_before,
        prefers_after=lexicon.prefers_after,
        vague=lexicon.vague,
        soonest=lexicon.soonest,
        excepts=lexicon.excepts,
        adding=lists["adding"],
        limiting=lists["limiting"],
        contrasts=lists["contrasts"],
        between=lists["between"],
        ands=lists["ands"],
        ors=lists["ors"],
        tos=lists["tos"],
        joins=lists["joins"],
        conclusions=lists["conclusions"],
        conditions=lists["conditions"],
        months=frozenset(lexicon.months),
        month_ranges=lists["month_ranges"],
        day_of_month=lexicon.day_of_month,
        kinds={SlotKind(kind): tuple(" ".join(one) for one in names) for kind, names in lexicon.kinds.items()},
        small=lists["small"],
        around_names=lists["around_names"] | lexicon.polite | lexicon.fillers,
        counting=lexicon.counting,
        retry=lists["retry"],
        give_up=lists["give_up"],
        refuses_change=frozenset(" ".join(phrase) for phrase in lexicon.refuses_change),
        maybes=lists["maybes"],
        same=lists["same"],
        tills=lists["tills"],
        nothing=lists["nothing"],
        neither=lists["neither"],
        asks_for_value=lists["asks_for_value"],
        again=lists["again"],
        asks_which=lists["asks_which"],
        which_ones=lists["which_ones"],
        why=lists["why"],
        asks_why=lists["asks_why"],
        before_questions=lists["before_questions"] | lexicon.openings,
        stopping=lexicon.stopping,
        around_topics=lists["around_topics"] | lexicon.polite | lexicon.fillers,
        price_words=lists["price_words"],
        cancel_stems=frozenset(map(lexicon.stem, lists["cancel_stems"])),
        wait_stems=frozenset(map(lexicon.stem, lists["wait_stems"])),
    )
