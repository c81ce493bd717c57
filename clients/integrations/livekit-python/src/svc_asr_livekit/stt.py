"""`stt.STT` on a stream that survives failures."""

from __future__ import annotations

import array
import asyncio
import logging
import time
from collections.abc import Iterable

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
from livekit.agents.utils import AudioBuffer, is_given
from svc_asr import (
    AsrSession,
    ConfigAckEvent,
    DeltaEvent,
    Endpointing,
    FinalEvent,
    ModelId,
    SvcClient,
    SvcError,
    SvcStream,
    TurnEagerEvent,
    open_stream,
)
from svc_asr.languages import language_of, model_of
from svc_asr.outages import OutageReporter
from svc_asr.turns import TurnTracker
from svc_asr.voice_gate import GateOutput, Skip, VoiceGate

logger = logging.getLogger("svc_asr_livekit")
SAMPLE_RATE_HZ = 16_000
# For models without confidence: LiveKit's plugins use 1 then.
CONFIDENCE = 1.0


class SvcSTT(stt.STT[str]):
    """One stream lasts as long as the conversation, over as many sessions as needed."""

    def __init__(
        self,
        *,
        language: str | None = None,
        model: ModelId | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        client: SvcClient | None = None,
        max_audio_seconds: int = 300,
        silence_ms: int = 500,
        eager_ms: int | None = None,
        keyterms: Iterable[str] | None = None,
        numbers: bool = False,
    ) -> None:
        """``language`` is ``ki`` (Kikuyu) or ``luo`` (Dholuo); a ``model`` says the same. ``api_key`` and ``base_url``
        default to SVC_API_KEY and SVC_BASE_URL; a ``client`` of your own replaces them. ``silence_ms``, from 200 to
        5000, is how much silence ends a turn. ``eager_ms``, from 160 to 100 less than ``silence_ms``, is how much
        starts an answer early. ``keyterms`` are names and words to listen for. ``numbers`` gives the agent numbers as
        digits; the words stay as they were said."""
        super().__init__(
            capabilities=stt.STTCapabilities(
                streaming=True, interim_results=True, aligned_transcript="word", manual_flush=True
            )
        )
        self._model_id = model_of(model=model, language=language)
        self.client = client or SvcClient(base_url, api_key)
        self._max_audio_seconds = max_audio_seconds
        self._silence_ms = silence_ms
        self._eager_ms = eager_ms
        self.keyterms = None if keyterms is None else tuple(keyterms)
        self.numbers = numbers

    @property
    def model(self) -> str:
        return self._model_id

    @property
    def provider(self) -> str:
        return "svc-asr"

    @property
    def language(self) -> LanguageCode:
        return LanguageCode(language_of(self._model_id))

    async def get_session(self, model: ModelId) -> AsrSession:
        return await self.client.sessions.create(model, max_audio_seconds=self._max_audio_seconds)

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> SvcSpeechStream:
        return SvcSpeechStream(
            self,
            conn_options,
            self._model_for(language),
            silence_ms=self._silence_ms,
            eager_ms=self._eager_ms,
        )

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
        model = self._model_for(language)
        stream = open_stream(
            get_session=lambda: self.get_session(model),
            keyterms=self.keyterms,
            numbers=self.numbers,
            ca=self.client.ca,
        )
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
            language=LanguageCode(language_of(model)),
            text=" ".join(_shown(each) for each in transcript.finals if each.text),
            end_time=0.0 if final is None else final.end_ms / 1000,
            confidence=CONFIDENCE,
        )
        return stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[data])

    def _model_for(self, language: NotGivenOr[str]) -> ModelId:
        return model_of(language=language) if is_given(language) else self._model_id

    def emit_outage(self, error: SvcError) -> None:
        """``recoverable`` keeps the agent from giving up: the stream survives the outage."""
        self._emit_error(to_api_error(error), recoverable=True)


class SvcSpeechStream(stt.RecognizeStream):
    """The service ends a turn after silence, or LiveKit's turn detector does with a flush. Silence between turns is
    not sent, so it costs nothing."""

    def __init__(
        self,
        owner: SvcSTT,
        conn_options: APIConnectOptions,
        model: ModelId,
        *,
        silence_ms: int,
        eager_ms: int | None,
    ) -> None:
        super().__init__(stt=owner, conn_options=conn_options, sample_rate=SAMPLE_RATE_HZ)
        self._owner = owner
        self._model = model
        self._language = LanguageCode(language_of(model))
        self._silence_ms = silence_ms
        self._eager_ms = eager_ms
        # Whether audio was sent since the last flush.
        self._is_sending = False
        # All audio so far, with the silence that was not sent.
        self._audio_ms = 0.0
        self._turns = TurnTracker(
            on_start=lambda: self._push(stt.SpeechEventType.START_OF_SPEECH),
            on_end=self._push_end,
            silence_ms=silence_ms,
        )
        self._outages = OutageReporter(on_outage=self._report_outage, on_recovery=_report_recovery)

    async def _run(self) -> None:
        stream = open_stream(
            get_session=lambda: self._owner.get_session(self._model),
            endpointing=Endpointing(silence_ms=self._silence_ms, eager_ms=self._eager_ms),
            keyterms=self._owner.keyterms,
            numbers=self._owner.numbers,
            ca=self._owner.client.ca,
        )
        self._turns.start(stream.flush_nowait)
        self._outages.start()
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
            self._outages.stop()
            self._turns.stop()
            await stream.close()

    async def _send(self, stream: SvcStream) -> None:
        gate = VoiceGate(hold_ms=self._silence_ms)
        self._audio_ms = 0.0
        async for item in self._input_ch:
            if not isinstance(item, rtc.AudioFrame):
                self._send_all(stream, gate.end())
                self._flush_turn()
                continue
            self._audio_ms += item.samples_per_channel * 1000 / SAMPLE_RATE_HZ
            self._send_all(stream, gate.push(_mono(item)))
            # No more audio follows in which the service could find the end of the turn.
            if not gate.is_open:
                self._flush_turn()
        self._send_all(stream, gate.end())
        await stream.finish()

    def _send_all(self, stream: SvcStream, outputs: list[GateOutput]) -> None:
        for output in outputs:
            if isinstance(output, Skip):
                stream.skip(output.ms)
            else:
                self._is_sending = True
                # Live audio cannot be slowed down. The stream buffers it through failures.
                stream.write_nowait(output.pcm)

    def _flush_turn(self) -> None:
        """Flushes audio that was sent since the last flush."""
        if self._is_sending:
            self._is_sending = False
            self._turns.flush()

    async def _read(self, stream: SvcStream) -> None:
        async for event in stream.events():
            self._outages.follow(event)
            self._turns.before(event)
            if isinstance(event, DeltaEvent) and event.text:
                data = stt.SpeechData(language=self._language, text=event.text)
                self._push(stt.SpeechEventType.INTERIM_TRANSCRIPT, data)
            elif isinstance(event, TurnEagerEvent):
                # LiveKit begins an answer, and keeps it if the text of the whole turn is the same.
                self._push(stt.SpeechEventType.PREFLIGHT_TRANSCRIPT, self._data(event, event.text))
            elif isinstance(event, ConfigAckEvent) and event.ignored:
                logger.warning(
                    "The model of this session ignores options.", extra={"ignored": event.ignored}
                )
            elif isinstance(event, FinalEvent):
                self._on_final(event, stream.session_id or "")
            self._turns.after(event)

    def _data(self, event: FinalEvent | TurnEagerEvent, text: str) -> stt.SpeechData:
        """It starts and ends with its words: the service counts the silence around them as part of the utterance."""
        offset = self.start_time_offset
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
        start_ms = event.start_ms if isinstance(event, FinalEvent) else 0
        end_ms = event.end_ms if isinstance(event, FinalEvent) else event.audio_ms
        return stt.SpeechData(
            language=self._language,
            text=text,
            start_time=(event.words[0].start_ms if event.words else start_ms) / 1000 + offset,
            end_time=(event.words[-1].end_ms if event.words else end_ms) / 1000 + offset,
            confidence=CONFIDENCE if event.confidence is None else event.confidence,
            words=words,
        )

    def _on_final(self, event: FinalEvent, request_id: str) -> None:
        if event.text:
            data = self._data(event, _shown(event))
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

    def _push_end(self, end_ms: int | None) -> None:
        """LiveKit counts its own delay from the end of speech, which was ``silence_ms`` ago."""
        ago_ms = 0.0 if end_ms is None else max(0.0, self._audio_ms - end_ms)
        if not self._event_ch.closed:
            kind = stt.SpeechEventType.END_OF_SPEECH
            ended_at = time.time() - ago_ms / 1000
            self._event_ch.send_nowait(stt.SpeechEvent(type=kind, speech_end_time=ended_at))

    def _report_outage(self, error: SvcError) -> None:
        logger.warning(
            "Recognition is interrupted. Audio is kept and sent when the service is back.",
            extra={"code": error.code, "request_id": error.request_id},
        )
        self._owner.emit_outage(error)


def _report_recovery(outage_s: float) -> None:
    logger.info("Recognition continues.", extra={"outage_s": round(outage_s, 1)})


def _mono(frame: rtc.AudioFrame) -> bytes:
    if frame.num_channels == 1:
        return frame.data.tobytes()
    channels = frame.num_channels
    data = frame.data
    return array.array(
        "h", (sum(data[at : at + channels]) // channels for at in range(0, len(data), channels))
    ).tobytes()


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


def _shown(final: FinalEvent) -> str:
    """The text with numbers as digits, if they were asked for."""
    return final.text_formatted or final.text
