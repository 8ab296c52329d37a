"""Rules for markup, code, emoji and links. They are the same in every language.

Rule: marks that only change how a text looks on a screen, such as those for bold letters or lists, aren't said, and
neither are emoji.
"""

from __future__ import annotations

import re

from .rules import RewriteRule

_EMOJI = (
    "[\U0001f000-\U0001faff\U0001fb00-\U0001fbff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u25a0-\u25ff\ufe0e\ufe0f"
    "\u200d\u20e3\u00a9\u00ae\u2122\U000e0020-\U000e007f]"
)
LINE = r"(?:(?<=\n)|(?<!.)(?<!\n))[ \t]*"  # at the beginning of a line
_SPACE_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\-./(){}\[\];=<>:'\"]+")


def code_words(code: str) -> str:
    """Inline code as words. Names in `snake_case` and `camelCase` are split into their words."""
    return " ".join(_SPACE_CASE.sub(" ", code).split())


def _inline_code(match: re.Match[str]) -> str:
    code = match["code"].strip()
    return code if re.fullmatch(r"[\w ]*", code) and "_" not in code else code_words(code)


def _row(match: re.Match[str]) -> str:
    return ", " if match.string[match.end() :].strip() else ""


def markup_rules(code_block: str) -> tuple[RewriteRule, ...]:
    """The rules for markup. Instead of a block of code, the text `code_block` is said."""
    block = f" {code_block}. " if code_block else ""
    return (
        RewriteRule("[`~]", r"(?P<fence>```|~~~)[^\n]*\n[\s\S]*?(?:(?:```|~~~)|\Z)", block),
        RewriteRule("[`~]", r"```[\s\S]*?(?:```|\Z)", block),
        RewriteRule("[`~]", r"(?P<ticks>``?)(?P<code>[^`\n]+)``?", _inline_code),
        RewriteRule("[`~]", r"~~", ""),
        RewriteRule(r"[\s#>*+|=_-]", LINE + r"(?:#{1,6}[ \t]+|(?:>[ \t]?)+)", ""),
        RewriteRule(r"[\s#>*+|=_-]", LINE + r"(?:[-*_=][ \t]*){3,}(?=\n|\Z)", ""),
        RewriteRule(r"[\s#>*+|=_-]", LINE + r"[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?", ""),
        RewriteRule(r"[\s#>*+|=_-]", LINE + r"\|(?:[ \t]*:?-+:?[ \t]*\|)*(?:[ \t]*:?-+:?)?(?=\s*(?:\Z|\n))", ""),
        RewriteRule(r"[\s#>*+|=_-]", LINE + r"\|[ \t]*", ""),
        RewriteRule(r"[\s#>*+|=_-]", r"[ \t]*\|[ \t]*", _row),
        RewriteRule("•", r"•[ \t]*", ""),
        RewriteRule(r"[!\[\]<]", r"!\[(?P<alt>[^\]\n]*)\]\([^)\n]*\)", lambda match: match["alt"]),
        RewriteRule(r"[!\[\]<]", r"\[\^?\d{1,3}\](?!\()", ""),
        RewriteRule(r"[!\[\]<]", r"\[(?=[^\]\n]+\]\([^)\n]*\))", ""),
        RewriteRule(r"[!\[\]<]", r"\]\([^)\n]*\)", ""),
        RewriteRule(r"[!\[\]<]", r"<(?=(?:https?://|[\w.+-]+@)[^>\s]+>)", ""),
        RewriteRule(r"[!\[\]<]", r"</?[a-zA-Z][^<>\n]{0,200}>|<!--[\s\S]*?-->", ""),
        RewriteRule(r"[*_\\]", r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}", _emphasis),
        RewriteRule(r"[*_\\]", r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)", ""),
        RewriteRule(r"[*_\\]", r"\\(?P<escaped>[\\`*_{}\[\]()#+.!|-])", lambda match: match["escaped"]),
        RewriteRule(r"[:;]", r"(?<!\S)[:;]-?[)(DP](?!\w)", ""),
        RewriteRule(_EMOJI, rf"{_EMOJI}+", " "),
    )


def _emphasis(match: re.Match[str]) -> str | None:
    """What is said instead of stars. Stars usually mark emphasis, so the result is an empty text, and they aren't
    spoken. But between two digits, as in "2*3", the result is None, which keeps the stars."""
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    return None if before.isdigit() and after.isdigit() else ""
