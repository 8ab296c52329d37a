"""A telephone menu: spoken or by keys. Keys arrive as a typed turn, so both take the same way."""

from duologue import Agent, Phrases, Show

MENU = "For opening hours say hours or press one. For a person press zero."


async def reply(request):
    choice = request.text.lower()
    if choice == "1" or "hours" in choice:
        yield "We are open from nine to six."
    elif choice == "0" or "person" in choice:
        yield Show("transfer: front desk")  # for your program: on_conversation, signal Caption
        yield "I will put you through."
    else:
        yield f"Sorry, I did not get that. {MENU}"


agent = Agent(reply, profile="words", phrases=Phrases(greeting=f"Good day! {MENU}"))
