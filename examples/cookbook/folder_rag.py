"""RAG over a folder: a tool finds the passages that fit the question, and the LLM answers from them."""

import os
import re
from collections import Counter
from pathlib import Path

from duologue import Agent, ChatBrain

FOLDER = Path(os.environ.get("RAG_FOLDER", "."))
PASSAGES_MAX = 3


def words(text: str) -> Counter[str]:
    return Counter(word for word in re.findall(r"\w+", text.lower()) if len(word) > 3)


def passages(folder: Path) -> list[tuple[str, str]]:
    """Each paragraph of the text files in a folder, with the name of its file."""
    files = sorted(folder.glob("*.md")) + sorted(folder.glob("*.txt"))
    return [(file.name, part.strip()) for file in files for part in file.read_text().split("\n\n") if part.strip()]


def search(question: str) -> str:
    """Find what the documents say about a question. Call this before you answer."""
    wanted = words(question)
    found = passages(FOLDER)
    rarity = Counter(word for _, text in found for word in words(text).keys())
    score = {place: sum(1 / rarity[w] for w in words(text) if w in wanted) for place, (_, text) in enumerate(found)}
    best = sorted((place for place in score if score[place]), key=lambda place: -score[place])[:PASSAGES_MAX]
    return "\n\n".join(f"{found[place][0]}: {found[place][1]}" for place in best) or "the documents say nothing"


agent = Agent(
    ChatBrain(
        os.environ.get("LLM_MODEL", "gpt-4o-mini"),
        base_url=os.environ.get("LLM_URL"),
        api_key=os.environ.get("LLM_KEY"),
    ),
    instructions="Answer only from what `search` returns. If it returns nothing, say that you don't know.",
    tools=[search],
)
