"""The labels that people read, in their language: names of the phases, and feedback while they wait.

Rule: every language has every label. For an unknown language, English is used.
"""

from __future__ import annotations

from duologue.core.views import PHASES

WAITS = ("working", "still_working", "making_progress", "taking_longer")  # the first has the label of its phase

_TEXTS: dict[str, tuple[str, ...]] = {
    "en": (
        "Ready", "Getting ready", "Listening", "Hearing you", "Thinking", "Working on it", "Speaking", "Go ahead",
        "Paused", "Reconnecting", "Something went wrong", "Ending",
        "Still working", "Making progress", "Taking longer than expected",
    ),
    "de": (
        "Bereit", "Wird vorbereitet", "Ich höre zu", "Ich höre Sie", "Ich denke nach", "Ich arbeite daran",
        "Ich spreche", "Bitte sprechen", "Pausiert", "Verbindung wird wiederhergestellt",
        "Etwas ist schiefgegangen", "Wird beendet",
        "Noch dabei", "Es geht voran", "Dauert länger als erwartet",
    ),
    "fr": (
        "Prêt", "Préparation", "J'écoute", "Je vous entends", "Je réfléchis", "J'y travaille", "Je parle",
        "Je vous écoute", "En pause", "Reconnexion", "Un problème est survenu", "Fin de l'appel",
        "Toujours en cours", "Ça avance", "Plus long que prévu",
    ),
    "es": (
        "Listo", "Preparando", "Escuchando", "Te oigo", "Pensando", "Trabajando en ello", "Hablando", "Te escucho",
        "En pausa", "Reconectando", "Algo ha fallado", "Terminando",
        "Sigo en ello", "Avanzando", "Tarda más de lo previsto",
    ),
    "ja": (
        "準備完了", "準備中", "聞いています", "お話を聞いています", "考えています", "作業しています", "話しています",
        "どうぞお話しください", "一時停止中", "再接続しています", "問題が発生しました", "終了しています",
        "まだ作業中です", "進んでいます", "予想より時間がかかっています",
    ),
}  # fmt: skip

LABELS: dict[str, dict[str, str]] = {
    language: dict(zip((*PHASES, *WAITS[1:]), texts, strict=True)) for language, texts in _TEXTS.items()
}
LANGUAGES = tuple(LABELS)


def label(key: str, language: str = "en") -> str:
    """The label of a phase or a wait. `de-AT` and `de_AT` give German, and an unknown language gives English."""
    return LABELS.get(language.replace("_", "-").split("-")[0].lower(), LABELS["en"]).get(key, key)
