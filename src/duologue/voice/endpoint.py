"""A TTS service as a voice. The service is OpenAI's `POST /audio/speech`, or any server with the same protocol.

The voice requests raw PCM and passes the sound on as it arrives. The protocol has no word times. Rule: a failed request
is never retried here. If the service sends an error, only the status of that error is reported, because the rest may
contain spoken words or keys.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from duologue.audio.file_kinds import file_kind
from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError, classify_status
from duologue.ports.sound import Sound
from duologue.ports.streams import reading
from duologue.ports.voice import Voice

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_MS_MAX = 5_000
SILENCE_MS_MAX = 15_000
GRAIN_MS = 20  # the length of a sound is a multiple of this
PIECE_MS_MAX = 200
_TRANSPORT = (
    "httpx2",
    "httpx",
    "httpcore2",
    "httpcore",
    "anyio",
)  # the HTTP libraries below the SDK, in any of its versions
_HINTS = {
    ErrorClass.AUTH_FAILURE: "rejected the credentials: check its API key",
    ErrorClass.RATE_LIMIT: "accepts no more requests for now: wait, or check the account's quota",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
    ErrorClass.INVALID_ARGS: "rejected the request: check the names of the model and the voice, and the base URL",
}


class SpeechFailed(ServiceError):
    """A speech service failed. The message contains no text from the service."""

    is_own = True


class SpeechEndpointVoice(Voice):
    """Speaks with a TTS service.

    If `base_url` is None, the service is OpenAI. The key is then `api_key`, or the environment variable OPENAI_API_KEY
    if `api_key` is None. If `base_url` is given, OPENAI_API_KEY is never sent to that server. `rate_hz` must be the
    sample rate of the audio that the service sends, because the protocol can neither request nor report a rate. The
    fields in `extra`, such as {"speed": 1.1}, are added to the body of every request.
    """

    def __init__(
        self,
        base_url: str | None,
        model: str,
        voice: str,
        *,
        api_key: str | None = None,
        rate_hz: int = 24_000,
        extra: Mapping[str, Any] | None = None,
        silence_ms_max: int = SILENCE_MS_MAX,
    ) -> None:
        if rate_hz <= 0 or rate_hz * GRAIN_MS % 1000:
            raise ValueError(
                f"rate_hz={rate_hz} can't be used: {GRAIN_MS} ms must be a whole number of samples above 0"
            )
        self._client = _connect(base_url, api_key, silence_ms_max)
        self._host = _host(str(self._client.base_url))
        self._model, self._voice, self._rate_hz = model, voice, rate_hz
        self._extra = dict(extra or {})

    @property
    def provider(self) -> str:
        """The host of the service."""
        return self._host

    @property
    def model(self) -> str:
        return self._model

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """The sound of a sentence, piece by piece. If the generator is closed or its reader is cancelled, the
        connection of this request is closed."""
        if not text.strip():
            return
        cutter = SoundCutter(self._rate_hz)
        request = self._client.audio.speech.with_streaming_response.create(
            model=self._model, voice=self._voice, input=text, response_format="pcm", extra_body=self._extra
        )
        with _plain_failures(self._host):
            async with request as response:
                self._check(response.headers.get("content-type", ""))
                async with reading(response.iter_bytes()) as chunks:
                    async for chunk in chunks:
                        for sound in cutter.feed(chunk):
                            yield sound
                for sound in cutter.rest():
                    yield sound
        if not cutter.total_bytes and any(character.isalnum() for character in text):
            raise SpeechFailed(ErrorClass.SERVER_ERROR, f"{self._host} sent no audio")

    async def close(self) -> None:
        """Close the connections to the service."""
        await self._client.close()

    def _check(self, content_type: str) -> None:
        kind = content_type.partition(";")[0].strip().lower()
        if kind.startswith("text/") or kind == "application/json":
            raise SpeechFailed(ErrorClass.SERVER_ERROR, f"{self._host} sent text instead of audio")


class SoundCutter:
    """Takes bytes in pieces of any length and returns sounds. The length of each sound is a multiple of GRAIN_MS."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._grain_bytes = rate_hz * GRAIN_MS // 1000 * 2
        self._pending = bytearray()
        self.total_bytes = 0

    def feed(self, data: bytes) -> Iterator[Sound]:
        is_first = self.total_bytes < self._grain_bytes
        self.total_bytes += len(data)
        self._pending += data
        if is_first and len(self._pending) >= self._grain_bytes:
            self._reject_files()
        while len(self._pending) >= self._grain_bytes:
            yield self._cut()

    def rest(self) -> Iterator[Sound]:
        """Remove and return the remaining sound, padded with silence to a multiple of GRAIN_MS. Call this at the end of
        the stream."""
        if self._pending:
            if self.total_bytes < self._grain_bytes:
                self._reject_files()
            del self._pending[len(self._pending) // 2 * 2 :]
            self._pending += bytes(-len(self._pending) % self._grain_bytes)
        while self._pending:
            yield self._cut()

    def _cut(self) -> Sound:
        ms = min(PIECE_MS_MAX, len(self._pending) // self._grain_bytes * GRAIN_MS)
        size = ms // GRAIN_MS * self._grain_bytes
        pcm = bytes(self._pending[:size])
        del self._pending[:size]
        return Sound(ms, pcm, self._rate_hz)

    def _reject_files(self) -> None:
        """Raise SpeechFailed if the bytes are an audio file, such as MP3. If a file were played as PCM, the user would
        hear noise."""
        kind = file_kind(self._pending)
        if kind:
            raise SpeechFailed(
                ErrorClass.INVALID_ARGS,
                f"the speech service sent {kind} instead of pcm: use a service that supports response_format=pcm",
            )


# -- Connecting and failing


def _connect(base_url: str | None, api_key: str | None, silence_ms_max: int) -> AsyncOpenAI:
    try:
        import openai
    except ModuleNotFoundError as missing:
        if missing.name != "openai":
            raise
        raise ModuleNotFoundError(
            "a speech endpoint needs openai: pip install 'duologue[llm]'", name="openai"
        ) from None
    timeout = openai.Timeout(silence_ms_max / 1000, connect=CONNECT_MS_MAX / 1000)
    if base_url is not None and api_key is None:
        api_key = "none"  # the SDK requires a key, and servers without keys ignore it
    try:
        return openai.AsyncOpenAI(base_url=base_url, api_key=api_key, timeout=timeout, max_retries=0)
    except openai.OpenAIError:
        raise SpeechFailed(
            ErrorClass.AUTH_FAILURE, "no API key for the speech service: pass api_key, or set OPENAI_API_KEY for OpenAI"
        ) from None


def _host(url: str) -> str:
    """The host and port of a URL, without the rest of the URL, which may contain a secret."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


@contextmanager
def _plain_failures(host: str) -> Iterator[None]:
    """Within this block, raise `SpeechFailed` instead of an exception that comes from the service. Other exceptions
    pass unchanged."""
    try:
        yield
    except Exception as failure:
        error = _classify(failure)
        if error is None:
            raise
        status = getattr(failure, "status_code", None)
        detail = status if type(status) is int else type(failure).__name__
        raise SpeechFailed(error, f"{host} {_HINTS.get(error, 'failed')} ({detail})") from None


def _classify(failure: Exception) -> ErrorClass | None:
    """The error class of this failure; None if the failure doesn't come from the service."""
    import openai

    match failure:
        case openai.APIStatusError():
            return classify_status(failure.status_code)
        case openai.APIConnectionError() | OSError():
            return ErrorClass.NETWORK_TIMEOUT
        case openai.OpenAIError():
            return ErrorClass.SERVER_ERROR
        case _ if type(failure).__module__.partition(".")[0] in _TRANSPORT:
            return ErrorClass.NETWORK_TIMEOUT
    return None
