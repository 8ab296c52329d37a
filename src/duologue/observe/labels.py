"""What people read: the names of the states and the feedback of a wait, in their language (C-INT-003).

Rule: every language has every key; English is what an unknown language gets.
"""

from __future__ import annotations

STATES = (
    "idle preparing listening processing waitingForCopilot speaking interrupted suspended faulted terminating".split()
)
WAITS = ("working", "still_working", "making_progress", "taking_longer")

_TEXTS: dict[str, tuple[str, ...]] = {
    "en": (
        "Ready", "Getting ready", "Listening", "Thinking", "Waiting for an answer", "Speaking", "Go ahead",
        "Paused", "Something went wrong", "Ending",
        "Working on it", "Still working", "Making progress", "Taking longer than expected",
    ),
    "de": (
        "Bereit", "Wird vorbereitet", "Ich höre zu", "Ich denke nach", "Warte auf Antwort", "Ich spreche",
        "Bitte sprechen", "Pausiert", "Etwas ist schiefgegangen", "Wird beendet",
        "Ich arbeite daran", "Noch dabei", "Es geht voran", "Dauert länger als erwartet",
    ),
    "fr": (
        "Prêt", "Préparation", "J'écoute", "Je réfléchis", "En attente de réponse", "Je parle", "Je vous écoute",
        "En pause", "Un problème est survenu", "Fin de l'appel",
        "J'y travaille", "Toujours en cours", "Ça avance", "Plus long que prévu",
    ),
    "es": (
        "Listo", "Preparando", "Escuchando", "Pensando", "Esperando respuesta", "Hablando", "Te escucho",
        "En pausa", "Algo ha fallado", "Terminando",
        "Trabajando en ello", "Sigo en ello", "Avanzando", "Tarda más de lo previsto",
    ),
    "ja": (
        "準備完了", "準備中", "聞いています", "考えています", "応答を待っています", "話しています",
        "どうぞお話しください", "一時停止中", "問題が発生しました", "終了しています",
        "作業中です", "まだ作業中です", "進んでいます", "予想より時間がかかっています",
    ),
}  # fmt: skip

LABELS: dict[str, dict[str, str]] = {
    language: dict(zip((*STATES, *WAITS), texts, strict=True)) for language, texts in _TEXTS.items()
}
LANGUAGES = tuple(LABELS)


def label(key: str, language: str = "en") -> str:
    """What to show for a state or a wait; `de-AT` and `de_AT` get German, an unknown language English."""
    return LABELS.get(language.replace("_", "-").split("-")[0].lower(), LABELS["en"]).get(key, key)
