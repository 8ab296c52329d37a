"""Google's speech services on a local port, over gRPC and with the messages of Google's own clients: streaming
recognition (v2) and synthesis.

Recognition: the first message must be the settings, then audio. After a second of audio, an interim result and, at the
end of the audio or on `finish`, a final one. Synthesis: CHAR_MS of PCM a character.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Self

from tests.needs import needs_package

CHAR_MS = 50
RATE_HZ = 24_000


class GoogleSpeechService:
    """Both services. `refuses` is the gRPC status with which every call fails."""

    def __init__(self, text: str = "") -> None:
        import grpc

        self.text = text
        self.refuses: Any = None
        self.audio_bytes = 0
        self.configs: list[Any] = []
        self.spoken: list[str] = []
        self.ended = asyncio.Event()  # a call of recognition is over
        self._grpc = grpc
        self._server: Any = None
        self.port = 0

    async def __aenter__(self) -> Self:
        needs_package("google.cloud.speech_v2", "make providers")
        from google.cloud.speech_v2.types import cloud_speech as stt
        from google.cloud.texttospeech_v1.types import cloud_tts as tts

        grpc = self._grpc
        self._stt, self._tts = stt, tts
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(
                    "google.cloud.speech.v2.Speech",
                    {
                        "StreamingRecognize": grpc.stream_stream_rpc_method_handler(
                            self._recognize,
                            stt.StreamingRecognizeRequest.deserialize,
                            stt.StreamingRecognizeResponse.serialize,
                        )
                    },
                ),
                grpc.method_handlers_generic_handler(
                    "google.cloud.texttospeech.v1.TextToSpeech",
                    {
                        "StreamingSynthesize": grpc.stream_stream_rpc_method_handler(
                            self._synthesize,
                            tts.StreamingSynthesizeRequest.deserialize,
                            tts.StreamingSynthesizeResponse.serialize,
                        )
                    },
                ),
            )
        )
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop(None)

    def channel(self) -> Any:
        return self._grpc.aio.insecure_channel(f"127.0.0.1:{self.port}")

    async def _recognize(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        await self._check(requests, context)
        kinds = self._stt.StreamingRecognizeResponse.SpeechEventType
        context.add_done_callback(lambda call: self.ended.set())
        async for request in requests:
            if request.streaming_config.config.language_codes:
                self.configs.append(request.streaming_config)
                continue
            assert self.configs, "audio before the settings"
            assert request.audio, request
            before, self.audio_bytes = self.audio_bytes, self.audio_bytes + len(request.audio)
            if not before:
                yield self._stt.StreamingRecognizeResponse(speech_event_type=kinds.SPEECH_ACTIVITY_BEGIN)
            if before < 32_000 <= self.audio_bytes:
                yield self._result(" ".join(self.text.split()[:2]), is_final=False)
        yield self._result(self.text, is_final=True)
        yield self._stt.StreamingRecognizeResponse(speech_event_type=kinds.SPEECH_ACTIVITY_END)

    async def _check(self, requests: Any, context: Any) -> None:
        if self.refuses is not None:
            await anext(aiter(requests))  # a client fails otherwise if the call ends before its first message is sent
            await context.abort(self.refuses, "refused, with words that may be secret")

    def _result(self, text: str, is_final: bool) -> Any:
        heard = self._stt.SpeechRecognitionAlternative(transcript=text, confidence=0.9 if is_final else 0.0)
        result = self._stt.StreamingRecognitionResult(alternatives=[heard], is_final=is_final, stability=0.9)
        return self._stt.StreamingRecognizeResponse(results=[result])

    async def _synthesize(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        await self._check(requests, context)
        async for request in requests:
            if request.streaming_config.voice.language_code:
                self.configs.append(request.streaming_config)
                continue
            self.spoken.append(request.input.text or request.input.markup)
            for _ in range(len(self.spoken[-1])):
                pcm = bytes(RATE_HZ * CHAR_MS // 1000 * 2)
                yield self._tts.StreamingSynthesizeResponse(audio_content=pcm)
