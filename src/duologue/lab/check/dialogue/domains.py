"""The small domains that are explored. Together they use every instruction, option and pattern.

Each domain is as small as possible for what it shows. Rule: what one domain leaves out is in another domain. A test
checks that all instructions, options and rows are used.
"""

from __future__ import annotations

from dataclasses import replace

from duologue.dialogue.conditions import parse
from duologue.dialogue.events import FlowRequested
from duologue.dialogue.flow import (
    AnswerFromFaq,
    Assign,
    CallFlow,
    Collect,
    Confirm,
    Domain,
    End,
    FaqEntry,
    Flow,
    HandOff,
    Instruction,
    Jump,
    JumpUnless,
    LinkFlow,
    PerformAction,
    SayText,
    SlotSpec,
)
from duologue.dialogue.language.readings import Choice, SlotKind

from .alphabet import Alphabet
from .messages import FOR_NLU


def flow(name: str, *program: Instruction, hidden: bool = False, completed: str = "") -> Flow:
    places = {at.step: place for place, at in reversed(list(enumerate(program)))}
    return Flow(name, f"do {name}", (*program, End()), (name,), completed, hidden, places)


def domain(
    *flows: Flow, slots: tuple[SlotSpec, ...] = (), gives_up_by: str = "cancel", correctable_turns: int = 0
) -> Domain:
    return Domain(
        {one.name: one for one in flows},
        {one.name: one for one in slots},
        misses_max=1,
        gives_up_by=gives_up_by,
        tries_max=2,
        queue_max=1,
        correctable_turns=correctable_turns,
    )


def with_items(plain: Domain) -> Domain:
    """The domain, to which the flows are added that ask for the items of its lists."""
    lists = [spec for spec in plain.slots.values() if spec.items]
    items = {
        spec.item_flow: Flow(
            spec.item_flow,
            spec.name,
            (*(Collect(name, name) for name in spec.items), End()),
            is_hidden=True,
            places={name: place for place, name in enumerate((*spec.items, "end"))},
        )
        for spec in lists
    }
    return replace(plain, flows={**plain.flows, **items})


PEOPLE = SlotSpec("people", SlotKind.NUMBER, "For how many?", validator="seats", reprompts=("How many are you?",))
WHEN = SlotSpec("when", SlotKind.TIME, "When?", silence_prompts=("At what time?",), depends_on=("people",))
CODE = SlotSpec("code", SlotKind.CODE, "Your code?", normaliser="tidy", reads_back=True, barge_in=False)
SIZE = SlotSpec(
    "size", SlotKind.CHOICE, "Which size?", choices=(Choice("small"), Choice("large")), help="Small or large."
)
USUAL = SlotSpec(
    "usual", SlotKind.CHOICE, "Your usual size?", choices=SIZE.choices, is_optional=True, validator="is_sold"
)
NOTE = SlotSpec("note", SlotKind.TEXT, "Any note?", is_optional=True, ask_before_filling=True)
PIN = SlotSpec("pin", SlotKind.NUMBER, "Your pin?")
AMOUNT = SlotSpec("amount", SlotKind.NUMBER, "How much?")
DAY = SlotSpec("day", SlotKind.DATE, "Which day?", prefers="last", is_optional=True, is_future=True)
HOUR = SlotSpec("hour", SlotKind.TIME, "What time?", is_optional=True)
MORE = SlotSpec("more", SlotKind.YES_NO, "Another one?")

# A form: a validator, a dependent slot, an ambiguous time, a confirmation, an action with an output.
TABLE = Alphabet(
    domain(
        flow(
            "table",
            Collect("people", "people"),
            Collect("when", "when"),
            Confirm("sure", "A table for {people}, all right?"),
            PerformAction("book", "book", ("people", "when"), (("number", "ref"),), waiting="One moment."),
            SayText("done", "Booked: {ref}."),
        ),
        slots=(PEOPLE, WHEN),
    ),
    meanwhile=(),
)

# Codes that are read back, followed by a confirmation and an action.
CODES = Alphabet(
    domain(
        flow("codes", Collect("code", "code"), Confirm("sure", "Open {code:spelled}?"), PerformAction("open", "open")),
        slots=(CODE,),
    ),
    meanwhile=("yes",),
)

# A value that the program gives and a question proposes, an on_no jump, a free text with ask_before_filling.
ORDER = Alphabet(
    domain(
        flow(
            "order",
            Collect("size", "size", "Is {proposed} all right?", proposed="usual"),
            Confirm("sure", "{size}?", on_no=2),
            Collect("note", "note"),
        ),
        slots=(SIZE, USUAL, NOTE),
    ),
    meanwhile=(),
    starts=(FlowRequested("order", 0, (("usual", "large"),)), FlowRequested("order", 0)),
)

# An action that requests slots and a confirmation, and one with on_failure.
PAY = Alphabet(
    domain(
        flow(
            "pay",
            Collect("amount", "amount"),
            PerformAction("pay", "pay", ("amount", "pin"), on_failure=3),
            Jump("over", 5),
            SayText("failed", "That did not work."),
            PerformAction("report", "report", ("amount",)),
            SayText("done", "Good."),
        ),
        slots=(AMOUNT, PIN),
    ),
    needs={"pay": ("pin",)},
    confirms={"pay": "Really?"},
    meanwhile=(),
    has_values=False,
)

# Messages while a request is running.
MEANWHILE = Alphabet(
    domain(
        flow("send", Collect("amount", "amount"), PerformAction("send", "send"), Collect("size", "size")),
        slots=(replace(AMOUNT, validator="enough"), SIZE),
    ),
    meanwhile=("yes", "cancel", "small"),
    has_values=False,
)

# Flows within flows: a digression, a call, a link, and a flow that only says something.
ROOMS = Alphabet(
    domain(
        flow(
            "room",
            Collect("size", "size"),
            CallFlow("how", "howmany", (("size", "size"),), (("people", "people"),)),
            PerformAction("reserve", "reserve"),
            completed="Done.",
        ),
        flow("howmany", Collect("people", "people"), SayText("fine", "For {people}."), hidden=True),
        flow("info", SayText("words", "We are open."), completed="That was all."),
        flow("guide", Confirm("go", "Shall we?"), LinkFlow("over", "room")),
        slots=(SIZE, SlotSpec("people", SlotKind.NUMBER, "For how many?")),
    ),
    meanwhile=(),
    has_values=False,
)

# A called flow that links to another one, with an action after the call.
RELAY = Alphabet(
    domain(
        flow("outer", CallFlow("through", "inner"), PerformAction("finish", "finish")),
        flow("desk", Collect("size", "size"), HandOff("desk", "wants {size}"), SayText("then", "Anything else.")),
        flow("inner", LinkFlow("over", "last"), hidden=True),
        flow("last", Collect("size", "size"), hidden=True),
        slots=(SIZE,),
    ),
    meanwhile=(),
)

# A loop that asks, confirms and acts in each round; a branch.
ROUNDS = Alphabet(
    domain(
        flow(
            "shop",
            Assign("begin", (("more", True),)),
            JumpUnless("while", parse("more"), 7),
            Collect("size", "size"),
            Confirm("sure", "Add it?"),
            PerformAction("add", "add", ("size",)),
            Assign("again", (("size", None), ("more", None))),
            Jump("while_end", 9),
            JumpUnless("branch", parse("more == false"), 9),
            Jump("out", 11),
            Collect("more", "more"),
            Jump("round", 1),
            SayText("bye", "Done."),
        ),
        slots=(SIZE, MORE),
    ),
    meanwhile=(),
    has_values=False,
)

# An action after a confirmation, followed by more questions: going back and corrections must not repeat the action.
RATED = Alphabet(
    domain(
        flow(
            "rated",
            Collect("size", "size"),
            Collect("amount", "amount"),
            Confirm("sure", "Pay {amount}?"),
            PerformAction("pay", "pay", on_failure=None),
            Collect("pin", "pin"),
        ),
        slots=(SIZE, AMOUNT, PIN),
    ),
    meanwhile=(),
    has_values=False,
)

# Optional slots, ambiguous values that are asked about or decided, and a handoff when giving up.
WISHES = Alphabet(
    domain(
        flow("wish", Collect("hour", "hour"), Collect("day", "day")),
        slots=(HOUR, DAY),
        gives_up_by="handoff",
    ),
    meanwhile=(),
)

# An on_no jump to a question that was already answered.
AGAIN = Alphabet(
    domain(flow("again", Collect("size", "size"), Confirm("sure", "{size}?", on_no=0)), slots=(SIZE,)),
    meanwhile=(),
    has_values=False,
)

# Flows that loop without asking, started in every way, and a flow that acts immediately.
LOOPS = Alphabet(
    domain(
        flow("spin", Jump("spin", 0)),
        flow("asked", Confirm("go", "Shall we?", on_no=2), SayText("words", "Well."), Jump("back", 2)),
        flow("calls", CallFlow("again", "words"), Jump("back", 0)),
        flow("words", SayText("words", "Well."), hidden=True),
        flow("acts", PerformAction("ping", "ping")),
    ),
    meanwhile=(),
    has_values=False,
    depth_max=1,
)

# Messages heard with low confidence: at a question, a read-back, a confirmation, an error and a running request, and an
# action that asks for a slot and runs as soon as it is filled.
DOUBTS = Alphabet(
    domain(
        flow("open", Collect("code", "code"), Confirm("sure", "Open {code:spelled}?"), PerformAction("open", "open")),
        flow("pay", Collect("amount", "amount"), PerformAction("pay", "pay", ("amount", "pin"))),
        slots=(CODE, AMOUNT, PIN),
    ),
    needs={"pay": ("pin",)},
    meanwhile=(),
    unclear=("yes", "no", "cancel", "start over", "a person please", "retry", "A B 1 2", "two", FOR_NLU),
    has_values=False,
    depth_max=1,
)

# Slots that read the same words: two days, of which one is past, two times with other hours, two choices.
TWINS = Alphabet(
    domain(
        flow("visit", Collect("coming", "coming"), Collect("noticed", "noticed")),
        flow("hours", Collect("opens", "opens"), Collect("closes", "closes")),
        flow("cup", Collect("size", "size"), Collect("lid", "lid"), PerformAction("pour", "pour")),
        slots=(
            SlotSpec("coming", SlotKind.DATE, "Which day?", prefers="first", is_future=True),
            SlotSpec("noticed", SlotKind.DATE, "When did you notice?", is_past=True),
            SlotSpec("opens", SlotKind.TIME, "From when?", hours=(6, 14)),
            SlotSpec("closes", SlotKind.TIME, "Until when?", hours=(12, 24)),
            SlotSpec("size", SlotKind.CHOICE, "Which size?", choices=(Choice("small"), Choice("large", ("big",)))),
            SlotSpec("lid", SlotKind.CHOICE, "Which lid?", choices=(Choice("flat"), Choice("dome", ("big",)))),
        ),
    ),
    meanwhile=(),
    has_values=False,
    depth_max=1,
    also=("friday at 9", "this weekend", "the big one", "I noticed it on friday"),
)

# An action that can't be undone, with a flow for changes; corrections after it and after the end of the task.
FINAL = Alphabet(
    domain(
        flow(
            "buy",
            Collect("size", "size"),
            Confirm("sure", "Buy {size}?"),
            PerformAction("pay", "pay", ("size",), is_final=True, on_change="exchange"),
            Confirm("more", "Shall I pack it?", on_no=4),
        ),
        flow(
            "exchange",
            Collect("size", "size"),
            PerformAction("swap", "swap", ("size",), is_final=True),
            hidden=True,
        ),
        slots=(SIZE,),
        correctable_turns=3,
    ),
    meanwhile=("cancel",),
    starts=(FlowRequested("buy", 0),),
    has_values=False,
    depth_max=1,
)

# Tasks that have ended and are corrected: one that asks before it acts, and one that doesn't.
ENDED = Alphabet(
    domain(
        flow("ask", Collect("size", "size"), Confirm("sure", "{size}?"), PerformAction("order", "order")),
        flow("act", Collect("size", "size"), PerformAction("send", "send")),
        slots=(SIZE,),
        correctable_turns=3,
    ),
    meanwhile=(),
    has_values=False,
    depth_max=1,
)

# A value for a slot that no step has asked for, picked out of a message and refused: nothing is left to confirm.
EMPTIED = Alphabet(
    domain(
        flow(
            "hire",
            Collect("size", "size"),
            JumpUnless("large", parse('size == "large"'), 3),
            Collect("amount", "amount"),
            PerformAction("hire", "hire"),
        ),
        slots=(SIZE, AMOUNT),
    ),
    meanwhile=(),
)

# A list of items: each has a lid that is checked; items are changed, and the list is validated as a whole. The items
# have no count, because counts of the same thing are added up, and that has no end.
LID = SlotSpec("lid", SlotKind.CHOICE, "Which lid?", choices=(Choice("flat"), Choice("dome")), validator="in_stock")
CUPS = SlotSpec(
    "cups", SlotKind.LIST, "Which cups?", items=("lid",), items_min=0, items_max=2, more="More?", validator="fits"
)
LISTS = Alphabet(
    with_items(
        domain(
            flow("cups", Collect("cups", "cups"), Confirm("sure", "{cups}?"), PerformAction("pack", "pack", ("cups",))),
            slots=(CUPS, LID),
        )
    ),
    meanwhile=(),
    has_values=False,
    depth_max=1,
    starts=(FlowRequested("cups", 0), FlowRequested("cups", 0, (("cups", [{}, {"lid": "flat"}]),))),
)

# Answers from an FAQ: beside a question, as a step after a value, after an action and after a called flow.
FAQ = Alphabet(
    replace(
        domain(
            flow("ask", Collect("note", "note"), AnswerFromFaq("find", "note"), Confirm("more", "Was that it?")),
            flow(
                "look",
                PerformAction("fetch", "fetch", outputs=(("note", "note"),)),
                AnswerFromFaq("find", "note", on_none=3),
                Jump("over", 4),
                SayText("none", "Nothing."),
                CallFlow("again", "words"),
                AnswerFromFaq("find_2", "note"),
            ),
            flow("words", SayText("words", "Well."), hidden=True),
            slots=(SlotSpec("note", SlotKind.TEXT, "What would you like to know?"),),
        ),
        faq=(FaqEntry(("When are you open?",), "From nine to five."),),
    ),
    meanwhile=("cancel",),
    has_values=False,
    depth_max=1,
    also=("when are you open?",),
)

# Flows of the author for what every flow meets: with a question, with a confirmation, and with words only.
REPAIRS = Alphabet(
    replace(
        domain(
            flow("buy", Collect("size", "size"), Confirm("sure", "{size}?")),
            flow("puzzled", Collect("pin", "pin"), hidden=True),
            flow("quiet", SayText("words", "I can't hear you."), hidden=True),
            flow("leaving", Confirm("really", "Really?"), hidden=True),
            flow("helping", SayText("words", "Just say it."), End("left"), SayText("rest", "Never."), hidden=True),
            flow("person", SayText("words", "Of course."), hidden=True),
            flow("changed", SayText("words", "{slot} is {value} now."), hidden=True),
            slots=(SIZE, PIN),
        ),
        repairs={
            "no_match": "puzzled",
            "no_input": "quiet",
            "cancel": "leaving",
            "help": "helping",
            "handoff": "person",
            "correction": "changed",
        },
    ),
    meanwhile=(),
    starts=(FlowRequested("buy", 0),),
    has_values=False,
    depth_max=1,
)

# Choices that an action returns, none among them, and a search that is made again.
FOUND = Alphabet(
    domain(
        flow(
            "hire",
            Collect("size", "size"),
            PerformAction("search", "search", ("size",), (("found", "found"),)),
            Collect("bike", "bike"),
            Confirm("sure", "{bike}?"),
            PerformAction("hire", "hire", ("bike",)),
        ),
        slots=(
            SIZE,
            SlotSpec("bike", SlotKind.CHOICE, "I have {found}. Which?", choices_from="found", depends_on=("found",)),
        ),
    ),
    decides={"found": ([], [{"value": "green", "label": "the green one"}])},
    meanwhile=(),
    has_values=False,
    depth_max=1,
)

# A value that a later task of the conversation uses again.
SESSION = Alphabet(
    domain(
        flow("call", Collect("size", "size"), PerformAction("ring", "ring", ("size",))),
        flow("mail", Collect("size", "size"), Collect("amount", "amount"), PerformAction("send", "send")),
        slots=(replace(SIZE, is_session=True), AMOUNT),
    ),
    meanwhile=(),
    has_values=False,
    depth_max=1,
)

SCENES: dict[str, Alphabet] = {
    "table": TABLE,
    "codes": CODES,
    "order": ORDER,
    "pay": PAY,
    "meanwhile": MEANWHILE,
    "rooms": ROOMS,
    "relay": RELAY,
    "rounds": ROUNDS,
    "rated": RATED,
    "wishes": WISHES,
    "again": AGAIN,
    "loops": LOOPS,
    "doubts": DOUBTS,
    "twins": TWINS,
    "final": FINAL,
    "emptied": EMPTIED,
    "ended": ENDED,
    "lists": LISTS,
    "faq": FAQ,
    "repairs": REPAIRS,
    "found": FOUND,
    "session": SESSION,
}
