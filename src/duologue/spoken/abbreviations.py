"""Abbreviations that end in a full stop: what is said for each, and whether its full stop can also end a sentence.

Rule: a title such as "Dr." never ends a sentence; "etc." ends a sentence if a capital letter follows; "No." is an
abbreviation only before a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from duologue.turns.language import known_code

from .rules import RewriteRule


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """The abbreviations of one language, with their full stops. Each is mapped to the words that are said for it; an
    empty text means that it is said as it is written."""

    inner: Mapping[str, str]  # never end a sentence
    either: Mapping[str, str]  # end a sentence if a capital letter follows
    numbered: Mapping[str, str]  # abbreviations only before a number
    months: Sequence[str] = ()  # months that may follow "3.", in languages that write ordinals like this
    articles: Sequence[str] = ()  # articles that may stand before "3.", in languages that write ordinals like this
    inner_keys: frozenset[str] = field(init=False, repr=False)  # without spaces
    either_keys: frozenset[str] = field(init=False, repr=False)
    numbered_keys: frozenset[str] = field(init=False, repr=False)
    all_keys: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("inner", "either", "numbered"):
            object.__setattr__(self, f"{name}_keys", frozenset(map(folded, getattr(self, name))))
        object.__setattr__(self, "all_keys", self.inner_keys | self.either_keys | self.numbered_keys)

    def rules(self) -> tuple[RewriteRule, ...]:
        """The rules that replace these abbreviations by full words."""
        numbered = {key: said for key, said in self.numbered.items() if said}
        plain = {key: said for key, said in {**self.inner, **self.either}.items() if said}
        by_number = {folded(key): said for key, said in numbered.items()}
        by_key = {folded(key): said for key, said in plain.items()}
        return (
            RewriteRule(
                r"[^\W\d_]",
                rf"(?<!\w)(?:{_either(numbered)})\s?(?=[\d#])",
                lambda match: f"{by_number[folded(match.group().strip())]} ",
            ),
            RewriteRule(
                r"[^\W\d_]", rf"(?<![\w.])(?:{_either(plain)})(?!\w)", lambda match: by_key[folded(match.group())]
            ),
        )


def folded(text: str) -> str:
    """The abbreviation without spaces, so that "z. B." and "z.B." are the same."""
    return re.sub(r"\s", "", text)


def _either(known: Mapping[str, str]) -> str:
    ordered = sorted(known, key=len, reverse=True)
    return "|".join(re.escape(one).replace(r"\ ", r"\s?") for one in ordered) or r"(?!)"


@cache
def abbreviations(language: str) -> Abbreviations:
    """The abbreviations of the language with this code. A language without its own list gets the English list."""
    return {"de": GERMAN, "es": SPANISH}.get(known_code(language), ENGLISH)


ENGLISH = Abbreviations(
    inner={
        "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Dr.": "Doctor", "Prof.": "Professor", "St.": "Saint",
        "Sgt.": "Sergeant", "Capt.": "Captain", "Lt.": "Lieutenant", "Gen.": "General", "Rev.": "Reverend",
        "Hon.": "Honorable", "Gov.": "Governor", "Sen.": "Senator", "Rep.": "Representative", "e.g.": "for example",
        "i.e.": "that is", "vs.": "versus", "cf.": "compare", "approx.": "approximately", "Mt.": "Mount",
        "Jan.": "January", "Feb.": "February", "Apr.": "April", "Aug.": "August", "Sept.": "September",
        "Sep.": "September", "Oct.": "October", "Nov.": "November", "Dec.": "December", "mr.": "", "mrs.": "",
        "dr.": "", "prof.": "", "sr.": "", "st.": "", "vol.": "", "viz.": "",
    },
    either={
        "etc.": "et cetera", "a.m.": "a m", "p.m.": "p m", "Inc.": "Incorporated", "Ltd.": "Limited",
        "Corp.": "Corporation", "Co.": "Company", "Jr.": "Junior", "Sr.": "Senior", "Ave.": "Avenue",
        "Blvd.": "Boulevard", "Rd.": "Road", "Dept.": "Department", "dept.": "department", "U.S.": "U S",
        "U.S.A.": "U S A", "U.K.": "U K", "E.U.": "E U", "D.C.": "D C", "Ph.D.": "P H D", "a.k.a.": "also known as",
        "misc.": "miscellaneous", "est.": "established", "min.": "minutes", "hr.": "hour", "lbs.": "pounds",
        "incl.": "including", "inc.": "", "ltd.": "", "corp.": "", "ave.": "", "blvd.": "",
    },
    numbered={
        "No.": "number", "no.": "number", "Nos.": "numbers", "p.": "page", "pp.": "pages", "Fig.": "figure",
        "fig.": "figure", "Vol.": "volume", "vol.": "volume", "Ch.": "chapter", "ch.": "chapter", "Sec.": "section",
        "sec.": "section", "Art.": "article", "ext.": "extension", "Ext.": "extension", "Apt.": "apartment",
        "Tel.": "telephone",
    },
)  # fmt: skip
GERMAN = Abbreviations(
    inner={
        "Dr.": "Doktor", "Prof.": "Professor", "Hr.": "Herr", "Hrn.": "Herrn", "Fr.": "Frau", "St.": "Sankt",
        "z. B.": "zum Beispiel", "d. h.": "das heißt", "u. a.": "unter anderem", "v. a.": "vor allem",
        "i. d. R.": "in der Regel", "u. U.": "unter Umständen", "s. o.": "siehe oben", "s. u.": "siehe unten",
        "bzw.": "beziehungsweise", "ca.": "circa", "inkl.": "inklusive", "exkl.": "exklusive",
        "ggf.": "gegebenenfalls", "evtl.": "eventuell", "max.": "maximal", "min.": "mindestens",
        "vgl.": "vergleiche", "bspw.": "beispielsweise", "zzgl.": "zuzüglich", "gem.": "gemäß", "geb.": "geboren",
        "sog.": "sogenannt", "Mio.": "Millionen", "Mrd.": "Milliarden", "Dipl.": "Diplom", "Ing.": "Ingenieur",
        "Jan.": "Januar", "Feb.": "Februar", "Apr.": "April", "Aug.": "August", "Sept.": "September",
        "Okt.": "Oktober", "Nov.": "November", "Dez.": "Dezember", "e. V.": "E V", "o. g.": "oben genannt",
        "z. T.": "zum Teil", "zz.": "zurzeit", "allg.": "allgemein",
    },
    either={
        "usw.": "und so weiter", "etc.": "et cetera", "o. ä.": "oder ähnlich", "u. Ä.": "und Ähnliches",
        "Str.": "Straße", "Std.": "Stunden", "Min.": "Minuten", "Sek.": "Sekunden", "n. Chr.": "nach Christus",
        "v. Chr.": "vor Christus", "u. s. w.": "und so weiter",
    },
    numbered={"Nr.": "Nummer", "S.": "Seite", "Art.": "Artikel", "Abs.": "Absatz", "Abb.": "Abbildung",
              "Kap.": "Kapitel", "Tel.": "Telefon", "Bd.": "Band", "Hausnr.": "Hausnummer"},
    months=("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
            " Jan Feb Mär Apr Jun Jul Aug Sep Okt Nov Dez").split(),
    articles=("am vom zum bis ab seit der die das dem den des im beim jeder jede jedes zur mein meine sein seine"
              " ein eine einem einen einer ihr ihre unser unsere und oder nächste erste").split(),
)  # fmt: skip
SPANISH = Abbreviations(
    inner={
        "Sr.": "señor", "Sra.": "señora", "Srta.": "señorita", "Sres.": "señores", "Dr.": "doctor", "Dra.": "doctora",
        "D.": "don", "Dña.": "doña", "Prof.": "profesor", "Profa.": "profesora", "Ing.": "ingeniero",
        "Lic.": "licenciado", "p. ej.": "por ejemplo", "p. e.": "por ejemplo", "aprox.": "aproximadamente",
        "Avda.": "avenida", "Av.": "avenida",
        "Pza.": "plaza", "Sto.": "santo", "Sta.": "santa", "máx.": "máximo", "mín.": "mínimo",
        "Gral.": "general", "EE.": "", "incl.": "incluido", "vs.": "contra",
    },
    either={
        "Ud.": "usted", "Uds.": "ustedes", "Vd.": "usted", "Vds.": "ustedes", "etc.": "etcétera",
        "EE. UU.": "Estados Unidos", "a. m.": "de la mañana", "p. m.": "de la tarde",
        "S. A.": "ese a", "S. L.": "ese ele", "dpto.": "departamento", "Dpto.": "departamento", "Cía.": "compañía",
        "a. C.": "antes de Cristo", "d. C.": "después de Cristo", "izq.": "izquierda", "dcha.": "derecha",
    },
    numbered={"n.º": "número", "nº": "número", "N.º": "número", "Nº": "número", "núm.": "número", "Núm.": "número",
              "pág.": "página", "págs.": "páginas", "p.": "página", "art.": "artículo", "Art.": "artículo",
              "cap.": "capítulo", "tel.": "teléfono", "Tel.": "teléfono", "vol.": "volumen", "fig.": "figura"},
)  # fmt: skip
