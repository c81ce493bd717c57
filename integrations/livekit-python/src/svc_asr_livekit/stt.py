"""`stt.STT` on a stream that survives failures."""

from __future__ import annotations

import asyncio

from livekit import rtc
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    APIConnectionError,
    APIConnectOptions,
    APIError,
    APIStatusError,
    LanguageCode,
    NotGivenOr,
    stt,
)
from livekit.agents.types import TimedString
from livekit.agents.utils import AudioBuffer
from svc_asr import (
    AsrSession,
    DeltaEvent,
    Endpointing,
    FinalEvent,
    ModelId,
    SvcClient,
    SvcError,
    SvcStream,
    open_stream,
)
from svc_asr.turns import TurnTracker

SAMPLE_RATE_HZ = 16_000
# For models without confidence: LiveKit's plugins use 1 then.
CONFIDENCE = 1.0


class SvcSTT(stt.STT[str]):
    """One stream lasts as long as the conversation, over as many sessions as needed."""

    def __init__(
        self,
        *,
        model: ModelId,
        client: SvcClient | None = None,
        max_audio_seconds: int = 300,
        silence_ms: int = 500,
    ) -> None:
        """``silence_ms``, from 200 to 5000, is how much silence ends a turn."""
        super().__init__(
            capabilities=stt.STTCapabilities(
                streaming=True, interim_results=True, aligned_transcript="word", manual_flush=True
            )
        )
        self._model_id: ModelId = model
        self._client = client or SvcClient()
        self._max_audio_seconds = max_audio_seconds
        self._silence_ms = silence_ms

    @property
    def model(self) -> str:
        return self._model_id

    @property
    def provider(self) -> str:
        return "svc-asr"

    @property
    def language(self) -> LanguageCode:
        return LanguageCode("ki" if self._model_id == "svc-asr-kikuyu-v1" else "luo")

    async def get_session(self) -> AsrSession:
        return await self._client.sessions.create(
            self._model_id, max_audio_seconds=self._max_audio_seconds
        )

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> SvcSpeechStream:
        return SvcSpeechStream(self, conn_options, Endpointing(silence_ms=self._silence_ms))

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> stt.SpeechEvent:
        frame = rtc.combine_audio_frames(buffer)
        resampler = rtc.AudioResampler(frame.sample_rate, SAMPLE_RATE_HZ)
        frames = [*resampler.push(frame), *resampler.flush()]
        stream = open_stream(get_session=self.get_session)
        try:
            for each in frames:
                await stream.write(each.data.tobytes())
            transcript = await stream.finish()
        except SvcError as error:
            raise to_api_error(error) from error
        finally:
            await stream.close()
        final = transcript.finals[-1] if transcript.finals else None
        data = stt.SpeechData(
            language=self.language,
            text=transcript.text,
            end_time=0.0 if final is None else final.end_ms / 1000,
            confidence=CONFIDENCE,
        )
        return stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[data])


class SvcSpeechStream(stt.RecognizeStream):
    """The service ends a turn after silence, or LiveKit's turn detector does with a flush."""

    def __init__(
        self, owner: SvcSTT, conn_options: APIConnectOptions, endpointing: Endpointing
    ) -> None:
        super().__init__(stt=owner, conn_options=conn_options, sample_rate=SAMPLE_RATE_HZ)
        self._owner = owner
        self._endpointing = endpointing
        self._turns = TurnTracker(
            on_start=lambda: self._push(stt.SpeechEventType.START_OF_SPEECH),
            on_end=lambda: self._push(stt.SpeechEventType.END_OF_SPEECH),
        )

    async def _run(self) -> None:
        stream = open_stream(get_session=self._owner.get_session, endpointing=self._endpointing)
        self._turns.start(stream.flush_nowait)
        reading = asyncio.ensure_future(self._read(stream))
        sending = asyncio.ensure_future(self._send(stream))
        try:
            await asyncio.wait({reading, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
            await reading
            self._turns.end()
        except SvcError as error:
            raise to_api_error(error) from error
        finally:
            sending.cancel()
            reading.cancel()
            self._turns.stop()
            await stream.close()

    async def _send(self, stream: SvcStream) -> None:
        async for item in self._input_ch:
            if isinstance(item, rtc.AudioFrame):
                # Live audio cannot be slowed down. The stream buffers it through failures.
                stream.write_nowait(item.data.tobytes())
            else:
                self._turns.flush()
        await stream.finish()

    async def _read(self, stream: SvcStream) -> None:
        async for event in stream.events():
            self._turns.before(event)
            if isinstance(event, DeltaEvent) and event.text:
                data = stt.SpeechData(language=self._owner.language, text=event.text)
                self._push(stt.SpeechEventType.INTERIM_TRANSCRIPT, data)
            elif isinstance(event, FinalEvent):
                self._on_final(event, stream.session_id or "")
            self._turns.after(event)

    def _on_final(self, event: FinalEvent, request_id: str) -> None:
        offset = self.start_time_offset
        if event.text:
            words = [
                TimedString(
                    word.text,
                    start_time=word.start_ms / 1000 + offset,
                    end_time=word.end_ms / 1000 + offset,
                    start_time_offset=offset,
                    confidence=CONFIDENCE if word.confidence is None else word.confidence,
                )
                for word in event.words
            ]
            data = stt.SpeechData(
                language=self._owner.language,
                text=event.text,
                # The service counts the silence around the words as part of the utterance.
                start_time=(event.words[0] if event.words else event).start_ms / 1000 + offset,
                end_time=(event.words[-1] if event.words else event).end_ms / 1000 + offset,
                confidence=CONFIDENCE if event.confidence is None else event.confidence,
                words=words,
            )
            self._push(stt.SpeechEventType.FINAL_TRANSCRIPT, data, request_id)
        if event.audio_ms > 0:
            usage = stt.RecognitionUsage(audio_duration=event.audio_ms / 1000)
            self._event_ch.send_nowait(
                stt.SpeechEvent(
                    type=stt.SpeechEventType.RECOGNITION_USAGE,
                    request_id=request_id,
                    recognition_usage=usage,
                )
            )

    def _push(
        self,
        kind: stt.SpeechEventType,
        data: stt.SpeechData | None = None,
        request_id: str = "",
    ) -> None:
        if not self._event_ch.closed:
            alternatives = [] if data is None else [data]
            self._event_ch.send_nowait(
                stt.SpeechEvent(type=kind, request_id=request_id, alternatives=alternatives)
            )


def to_api_error(error: SvcError) -> APIError:
    """LiveKit retries by `retryable`. The stream has already retried for as long as it is useful."""
    if error.status is None:
        return APIConnectionError(str(error), retryable=error.retryable)
    return APIStatusError(
        str(error),
        status_code=error.status,
        request_id=error.request_id,
        retryable=error.retryable,
    )
