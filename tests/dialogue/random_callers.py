"""Random callers in German and Spanish: each says a known value in one of the ways of its language.

What a caller says is made from the rules that say values aloud (`duologue.spoken`), not from the grammars that read
them. The same seed gives the same caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from duologue.dialogue.effects import RunAction, Understand
from duologue.dialogue.events import FlowRequested, Understood, UserMessage
from duologue.dialogue.flow import Domain
from duologue.dialogue.language.pack import LanguagePack
from duologue.dialogue.language.readings import Ambiguous, Direct, Question, Slot, SlotKind
from duologue.dialogue.machine import guarded_step
from duologue.dialogue.state import DialogueState, Phase, values_of
from duologue.spoken import german_numbers, spanish_numbers

TODAY = date(2026, 3, 4)
_GERMAN_MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
_SPANISH_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
_GERMAN_DAYS = "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()
_SPANISH_DAYS = "lunes martes miércoles jueves viernes sábado domingo".split()
_GERMAN_LETTERS = {"A": "Anton", "B": "Berta", "K": "Konrad", "R": "Richard", "X": "Xaver"}
_SPANISH_LETTERS = {"A": "avión", "B": "barco", "K": "kilo", "R": "roma", "X": "xilófono"}


@dataclass(frozen=True, slots=True)
class RandomCaller:
    """The ways to say values in one language. A gap in a frame is the value."""

    language: str
    questions: dict[SlotKind, str]
    frames: dict[SlotKind, tuple[str, ...]]
    ways: dict[SlotKind, Callable[[Random, object], str]]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    correction: str  # with a gap
    names: tuple[str, ...]
    reasons: tuple[str, ...]
    insurances: tuple[str, str]
    which: str  # "the first one"

    def says(self, random: Random, kind: SlotKind, value: object) -> str:
        """The value in one of the ways of the language, with words around it."""
        return random.choice(self.frames[kind]).format(self.ways[kind](random, value))


def value_of(random: Random, kind: SlotKind) -> object:
    """A random value of this kind, as a grammar would give it."""
    match kind:
        case SlotKind.NUMBER:
            return random.choice((random.randrange(2, 100), random.randrange(2, 10_000), random.randrange(2, 999_999)))
        case SlotKind.DATE:
            return (TODAY + timedelta(days=random.randrange(1, 300))).isoformat()
        case SlotKind.TIME:
            return f"{random.randrange(8, 20):02d}:{random.choice((0, 5, 10, 15, 20, 30, 40, 45, 50)):02d}"
        case SlotKind.MONEY:
            amount = random.choice((random.randrange(2, 2000), random.randrange(200, 9999) / 100))
            return {"amount": int(amount) if amount == int(amount) else amount, "currency": "EUR"}
        case SlotKind.CODE:
            return "".join(random.choice("ABKRX") for _ in range(2)) + "".join(random.choices("23456789", k=3))
        case SlotKind.PHONE:
            return "0" + "".join(random.choices("123456789", k=random.randrange(7, 11)))
    raise AssertionError(kind)


# -- German


def _german_date(random: Random, value: object) -> str:
    day = date.fromisoformat(str(value))
    month = _GERMAN_MONTHS[day.month - 1]
    ways = [
        f"am {german_numbers.ordinal(day.day, 'en')} {month}",
        f"{german_numbers.ordinal(day.day, 'er')} {month}",
        f"am {day.day}. {month} {day.year}",
        f"{day.day}.{day.month}.",
        f"{day:%d.%m.%Y}",
        f"am {german_numbers.ordinal(day.day, 'en')} {month} {german_numbers.year(day.year)}",
        f"{_GERMAN_DAYS[day.weekday()]}, den {day.day}. {month}",
    ]
    if (day - TODAY).days < 7:
        ways += [f"am {_GERMAN_DAYS[day.weekday()]}", f"diesen {_GERMAN_DAYS[day.weekday()]}"]
    return random.choice(ways)


def _german_time(random: Random, value: object) -> str:
    hour, minute = (int(part) for part in str(value).split(":"))
    part = "vormittags" if hour < 12 else "nachmittags" if hour < 17 else "abends"
    said = german_numbers.cardinal((hour - 1) % 12 + 1)
    later = german_numbers.cardinal(hour % 12 + 1)
    ways = [f"um {value} Uhr", f"um {hour} Uhr {minute}" if minute else f"um {hour} Uhr"]
    if hour == 12:
        return random.choice(ways)
    if minute == 30 and hour != 11:
        ways.append(f"um halb {later} {part}")
    if minute == 15:
        ways.append(f"um viertel nach {said} {part}")
    if minute == 45 and hour not in (11, 12):
        ways += [f"um viertel vor {later} {part}", f"um dreiviertel {later} {part}"]
    if minute in (5, 10, 20):
        ways.append(f"{german_numbers.cardinal(minute)} nach {said} {part}")
    if minute == 0:
        ways.append(f"um {'ein' if said == 'eins' else said} Uhr {part}")
    return random.choice(ways)


def _german_money(random: Random, value: object) -> str:
    assert isinstance(value, dict)
    euros, cents = divmod(round(value["amount"] * 100), 100)
    said = german_numbers.cardinal(euros, "ein")
    ways = [f"{euros},{cents:02d} Euro", f"{euros},{cents:02d} €"] if cents else [f"{euros} Euro", f"{said} Euro"]
    if cents > 1:
        ways += [f"{said} Euro {german_numbers.cardinal(cents)}", f"{said} Euro und {cents} Cent"]
    return random.choice(ways)


def _spelled(letters: dict[str, str], like: str, digits: Callable[[str], str]) -> Callable[[Random, object], str]:
    def said(random: Random, value: object) -> str:
        code = str(value)
        named = " ".join(f"{char} {like} {letters[char]}" if char in letters else digits(char) for char in code)
        return random.choice((code, " ".join(code), named, f"{code[:2]} {code[2:]}"))

    return said


GERMAN_CALLER = RandomCaller(
    "de",
    {
        SlotKind.NUMBER: "Für wie viele Personen?",
        SlotKind.DATE: "Welcher Tag passt Ihnen?",
        SlotKind.TIME: "Um wie viel Uhr?",
        SlotKind.MONEY: "Wie hoch ist der Betrag?",
        SlotKind.CODE: "Wie lautet der Code?",
        SlotKind.PHONE: "Wie ist Ihre Telefonnummer?",
    },
    {
        SlotKind.NUMBER: ("{}", "{} bitte", "{} Personen", "für {} Personen bitte", "wir sind {}", "ähm, {}", "ja, {}"),
        SlotKind.DATE: ("{}", "{} bitte", "ich würde gerne {} kommen", "äh, {}", "{} wäre gut", "ja, {}", "{}, danke"),
        SlotKind.TIME: ("{}", "{} bitte", "ich könnte {}", "also {}", "{} passt gut", "ja, {}, wenn es geht"),
        SlotKind.MONEY: ("{}", "{} bitte", "ich möchte {} überweisen", "es sind {}", "ähm, {}"),
        SlotKind.CODE: ("{}", "{} bitte", "der Code ist {}", "mein Code lautet {}"),
        SlotKind.PHONE: ("{}", "meine Nummer ist {}", "das ist die {}", "{} bitte"),
    },
    {
        SlotKind.NUMBER: lambda random, value: random.choice((str(value), german_numbers.cardinal(int(str(value))))),
        SlotKind.DATE: _german_date,
        SlotKind.TIME: _german_time,
        SlotKind.MONEY: _german_money,
        SlotKind.CODE: _spelled(_GERMAN_LETTERS, "wie", german_numbers.digits),
        SlotKind.PHONE: lambda random, value: random.choice((str(value), german_numbers.digits(str(value)))),
    },
    ("ja", "ja, genau", "passt", "stimmt, danke", "ja bitte", "in Ordnung"),
    ("nein", "nein danke", "das stimmt nicht"),
    "nein, {}",
    ("Anna Meier", "ich heiße Jonas Wolf", "mein Name ist Petra von Berg", "Herr Özdemir"),
    ("Zahnschmerzen", "Kontrolle", "eine Füllung"),
    ("gesetzlich", "privat"),
    "das erste",
)


# -- Spanish


def _spanish_date(random: Random, value: object) -> str:
    day = date.fromisoformat(str(value))
    month, said = _SPANISH_MONTHS[day.month - 1], spanish_numbers.cardinal(day.day)
    ways = [
        f"el {said} de {month}",
        f"el {day.day} de {month}",
        f"el {said} de {month} de {spanish_numbers.cardinal(day.year)}",
        f"el {day.day} de {month} del {day.year}",
        f"{day.day}/{day.month}",
        f"{day:%d/%m/%Y}",
        f"el {_SPANISH_DAYS[day.weekday()]} {day.day} de {month}",
    ]
    if (day - TODAY).days < 7:
        ways += [f"el {_SPANISH_DAYS[day.weekday()]}", f"este {_SPANISH_DAYS[day.weekday()]}"]
    return random.choice(ways)


def _spanish_time(random: Random, value: object) -> str:
    hour, minute = (int(part) for part in str(value).split(":"))
    part = "de la mañana" if hour < 12 else "de la tarde"
    ways = [f"a las {value}"]
    if hour == 12:
        return ways[0]
    twelve = (hour - 1) % 12 + 1
    said = "la una" if twelve == 1 else f"las {spanish_numbers.cardinal(twelve)}"
    after = "las doce" if twelve == 11 else "la una" if twelve == 12 else f"las {spanish_numbers.cardinal(twelve + 1)}"
    words = {15: "cuarto", 30: "media"}.get(minute) or spanish_numbers.cardinal(minute)
    ways.append(f"a {said} {part}" if not minute else f"a {said} y {words} {part}")
    if minute in (40, 45, 50) and hour != 11:
        left = "cuarto" if minute == 45 else spanish_numbers.cardinal(60 - minute)
        ways.append(f"a {after} menos {left} {part}")
    return random.choice(ways)


def _spanish_money(random: Random, value: object) -> str:
    assert isinstance(value, dict)
    euros, cents = divmod(round(value["amount"] * 100), 100)
    said = spanish_numbers.cardinal(euros, "m")
    ways = [f"{euros},{cents:02d} euros", f"{euros},{cents:02d} €"] if cents else [f"{euros} euros", f"{said} euros"]
    if cents > 1:
        ways += [f"{said} euros con {spanish_numbers.cardinal(cents)}", f"{said} euros con {cents} céntimos"]
    return random.choice(ways)


SPANISH_CALLER = RandomCaller(
    "es",
    {
        SlotKind.NUMBER: "¿Para cuántas personas?",
        SlotKind.DATE: "¿Qué día le viene bien?",
        SlotKind.TIME: "¿A qué hora?",
        SlotKind.MONEY: "¿Qué importe?",
        SlotKind.CODE: "¿Cuál es el código?",
        SlotKind.PHONE: "¿Cuál es su teléfono?",
    },
    {
        SlotKind.NUMBER: ("{}", "{} por favor", "para {}", "somos {}", "eh, {}", "sí, {}"),
        SlotKind.DATE: (
            "{}",
            "{} por favor",
            "quisiera ir {}",
            "pues {}",
            "{} me viene bien",
            "sí, {}",
            "¿puede ser {}?",
        ),
        SlotKind.TIME: ("{}", "{} por favor", "podría {}", "pues {}", "me viene bien {}", "sí, {}, si es posible"),
        SlotKind.MONEY: ("{}", "{} por favor", "quiero enviar {}", "son {}", "eh, {}"),
        SlotKind.CODE: ("{}", "{} por favor", "el código es {}", "mi código es {}"),
        SlotKind.PHONE: ("{}", "mi número es {}", "es el {}", "{} por favor"),
    },
    {
        SlotKind.NUMBER: lambda random, value: random.choice((str(value), spanish_numbers.cardinal(int(str(value))))),
        SlotKind.DATE: _spanish_date,
        SlotKind.TIME: _spanish_time,
        SlotKind.MONEY: _spanish_money,
        SlotKind.CODE: _spelled(_SPANISH_LETTERS, "de", spanish_numbers.digits),
        SlotKind.PHONE: lambda random, value: random.choice((str(value), spanish_numbers.digits(str(value)))),
    },
    ("sí", "sí, exacto", "de acuerdo", "correcto, gracias", "sí, por favor", "está bien"),
    ("no", "no, gracias", "no es correcto"),
    "no, {}",
    ("Ana García", "me llamo Jorge Lobo", "mi nombre es María de la Cruz", "señor Núñez"),
    ("dolor de muelas", "una revisión", "un empaste"),
    ("público", "privado"),
    "el primero",
)


@dataclass(frozen=True, slots=True)
class Score:
    """How replies were read: directly, with a question back, and wrong ones with what was read."""

    direct: int
    asked: int
    unread: tuple[str, ...]
    wrong: tuple[str, ...]


def score(pack: LanguagePack, caller: RandomCaller, kind: SlotKind, count: int, seed: int) -> Score:
    """Reads random replies to the question for this kind."""
    random = Random(seed)
    direct = asked = 0
    unread: list[str] = []
    wrong: list[str] = []
    for _ in range(count):
        value = value_of(random, kind)
        reply = caller.says(random, kind, value)
        question = Question(Slot("value", kind), caller.questions[kind])
        reading = pack.replies.read(question, reply, f"{TODAY.isoformat()}T07:00")
        if isinstance(reading, Direct):
            direct += 1
            if reading.values[0].value != value:
                wrong.append(f"{reply!r}: {reading.values[0].value}, not {value}")
        elif isinstance(reading, Ambiguous):
            asked += 1
            if value not in reading.candidates:
                wrong.append(f"{reply!r}: {reading.candidates}, not {value}")
        else:
            unread.append(reply)
    return Score(direct, asked, tuple(unread), tuple(wrong))


# -- Whole dialogues


def call(domain: Domain, caller: RandomCaller, seed: int, turns_max: int = 40) -> tuple[dict[str, object], RunAction]:
    """A random caller books a visit at the dentist's: what it wanted, and the action that the dialogue ran. Sometimes
    it first gives another day or time, and corrects it at the confirmation. No NLU is there to help."""
    random = Random(seed)
    wants: dict[str, object] = {
        "day": value_of(random, SlotKind.DATE),
        "time": f"{random.randrange(8, 18):02d}:{random.choice((0, 15, 30)):02d}",
        "birthday": date(random.randrange(1940, 2005), random.randrange(1, 13), random.randrange(1, 29)).isoformat(),
        "insurance": random.choice(caller.insurances),
    }
    slips = {name for name in ("day", "time") if random.random() < 0.25}
    state = DialogueState()
    state, effects = guarded_step(domain, state, FlowRequested("book_visit", 0))
    for _ in range(turns_max):
        run = next((one for one in effects if isinstance(one, RunAction)), None)
        if run is not None:
            return wants, run
        text = _answer(random, caller, state, wants, slips)
        state, effects = guarded_step(domain, state, UserMessage(text, 0, TODAY.isoformat()))
        for asked in [one for one in effects if isinstance(one, Understand)]:
            state, effects = guarded_step(domain, state, Understood(asked.request, (), 0))
    raise AssertionError((state.messages, wants))


def _answer(
    random: Random, caller: RandomCaller, state: DialogueState, wants: dict[str, object], slips: set[str]
) -> str:
    assert state.top is not None, state
    filled = values_of(state.top.slots)
    if state.phase is Phase.CONFIRMING:
        wrong = [name for name in ("day", "time") if filled.get(name) != wants[name]]
        if not wrong:
            return random.choice(caller.yes)
        kind = SlotKind.DATE if wrong[0] == "day" else SlotKind.TIME
        return caller.correction.format(caller.ways[kind](random, wants[wrong[0]]))
    slot = state.waiting_for or ""
    if state.among:
        return str(wants[slot])
    if slot in ("day", "time"):
        kind = SlotKind.DATE if slot == "day" else SlotKind.TIME
        slip = slot in slips
        slips.discard(slot)
        other = (TODAY + timedelta(days=5)).isoformat() if slot == "day" else "14:00"
        return caller.says(random, kind, other if slip else wants[slot])
    if slot == "birthday":
        day = date.fromisoformat(str(wants["birthday"]))
        return f"{day.day}.{day.month}.{day.year}" if caller.language == "de" else f"{day.day}/{day.month}/{day.year}"
    if slot == "insurance":
        return str(wants["insurance"])
    return random.choice(caller.names if slot == "patient" else caller.reasons)
