"""The markup of a speech service: how the tags of a text are written in its requests.

Rule: only what a service documents is written. A tag for which there is no template is left out, and its words are
said as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from xml.sax.saxutils import escape

from duologue.ports.markup import KINDS, SpeechTag, TaggedText

_FACTORS = ("speed", "volume")


@dataclass(frozen=True)
class Markup:
    """How a service writes tags. `templates` has a text for each kind of tag that the service takes, with {value} and,
    unless the kind is "break", {text}. In the template of a break, {seconds} is its length; for speed and volume,
    {percent} is the factor in percent. `around` is what stands around a text that has tags; a text without tags is sent
    as it is. If `is_xml` is true, `&`, `<` and `>` in the words are escaped: in every text if nothing stands around it,
    because the service then puts it into a document itself."""

    templates: Mapping[str, str] = field(hash=False)
    around: str = "{text}"
    is_xml: bool = False

    def __post_init__(self) -> None:
        for kind, template in self.templates.items():
            if kind not in KINDS:
                raise ValueError(f"markup: {kind!r} isn't a kind of tag; the kinds are {', '.join(KINDS)}")
            if kind != "break" and template.count("{text}") != 1:
                raise ValueError(f"markup: the template of {kind!r} needs {{text}} once, not {template!r}")
        if self.around.count("{text}") != 1:
            raise ValueError(f"markup: around needs {{text}} once, not {self.around!r}")

    def write(self, tagged: TaggedText) -> str:
        """The text as the service takes it."""
        tags = [tag for tag in tagged.tags if tag.kind in self.templates]
        if not tags:
            return self._words(tagged.text) if self.around == "{text}" else tagged.text
        written, at = list[str](), 0
        ends = list[SpeechTag]()  # of the tags that are open, the innermost one last
        for tag in tags:
            while ends and ends[-1].end <= tag.start:
                at = self._end(ends.pop(), tagged.text, at, written)
            written.append(self._words(tagged.text[at : tag.start]))
            at = tag.start
            written.append(self._template(tag).partition("{text}")[0])
            if tag.kind != "break":
                ends.append(tag)
        while ends:
            at = self._end(ends.pop(), tagged.text, at, written)
        written.append(self._words(tagged.text[at:]))
        return self.around.replace("{text}", "".join(written))

    def _end(self, tag: SpeechTag, text: str, at: int, written: list[str]) -> int:
        written += [self._words(text[at : tag.end]), self._template(tag).partition("{text}")[2]]
        return tag.end

    def _template(self, tag: SpeechTag) -> str:
        template = self.templates[tag.kind].replace("{value}", self._words(tag.value))
        if tag.kind == "break":
            return template.replace("{seconds}", f"{int(tag.value) / 1000:g}")
        return template.replace("{percent}", f"{float(tag.value) * 100:g}") if tag.kind in _FACTORS else template

    def _words(self, text: str) -> str:
        return escape(text) if self.is_xml else text


CARTESIA = Markup(
    {
        "break": '<break time="{value}ms"/>',
        "speed": '<speed ratio="{value}"/>{text}<speed ratio="1"/>',
        "volume": '<volume ratio="{value}"/>{text}<volume ratio="1"/>',
        "emotion": '<emotion value="{value}"/>{text}<emotion value="neutral"/>',
    }
)
"""Cartesia's models from sonic-3 on."""
ELEVENLABS = Markup(
    {"break": '<break time="{seconds}s" />', "phonemes": '<phoneme alphabet="ipa" ph="{value}">{text}</phoneme>'}
)
"""ElevenLabs' models before v3. Only its English models take phonemes; the plugin needs `enable_ssml_parsing=True`."""
SSML = Markup(
    {
        "break": '<break time="{value}ms"/>',
        "phonemes": '<phoneme alphabet="ipa" ph="{value}">{text}</phoneme>',
        "speed": '<prosody rate="{percent}%">{text}</prosody>',
    },
    around="<speak>{text}</speak>",
    is_xml=True,
)
"""W3C's Speech Synthesis Markup Language, for services that take a whole SSML document."""
SSML_BODY = replace(SSML, around="{text}")
"""The same for plugins that put the text into an SSML document themselves: Azure's, and Google's with
`enable_ssml=True`. Without it, Azure's plugin can't say a text with `&` or `<`."""
