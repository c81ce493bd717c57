"""`stt.STT` on a stream that survives failures."""

from __future__ import annotations

import array
import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, replace

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
    ReadyEvent,
    ReconnectingEvent,
    SvcClient,
    SvcError,
    SvcStream,
    TurnEagerEvent,
    Word,
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


@dataclass(frozen=True, slots=True)
class _Options:
    """What a stream is opened with. A change needs a new stream."""

    model: ModelId
    silence_ms: int
    eager_ms: int | None
    numbers: bool


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
                streaming=True,
                interim_results=True,
                aligned_transcript="word",
                manual_flush=True,
                keyterms=True,
            )
        )
        model = model_of(model=model, language=language)
        self.options = _Options(model, silence_ms, eager_ms, numbers)
        self.client = client or SvcClient(base_url, api_key)
        self._max_audio_seconds = max_audio_seconds
        self._keyterms = None if keyterms is None else tuple(keyterms)
        self.keyterms = self._keyterms
        # LiveKit's own: those of the session, and those it heard in the conversation.
        self._session_keyterms: tuple[str, ...] = ()

    def update_options(
        self,
        *,
        language: str | None = None,
        model: ModelId | None = None,
        silence_ms: int | None = None,
        keyterms: Iterable[str] | None = None,
        numbers: bool | None = None,
    ) -> None:
        """Changes what is passed, also for streams that are open. New keyterms count from the next utterance on. Any
        other change ends the turn, whose words still become final, and opens a new stream for the next audio."""
        if language is not None or model is not None:
            model = model_of(model=model, language=language)
        old = self.options
        self.options = _Options(
            model or old.model,
            old.silence_ms if silence_ms is None else silence_ms,
            old.eager_ms,
            old.numbers if numbers is None else numbers,
        )
        if keyterms is not None:
            self._keyterms = tuple(keyterms)
            self._merge_keyterms()

    def _update_session_keyterms(self, keyterms: list[str]) -> None:
        self._session_keyterms = tuple(keyterms)
        self._merge_keyterms()

    def _merge_keyterms(self) -> None:
        """Yours go first. Streams use them from their next audio on."""
        self.keyterms = tuple(dict.fromkeys((*(self._keyterms or ()), *self._session_keyterms)))

    @property
    def model(self) -> str:
        return self.options.model

    @property
    def provider(self) -> str:
        return "svc-asr"

    @property
    def language(self) -> LanguageCode:
        return LanguageCode(language_of(self.options.model))

    async def get_session(self, model: ModelId) -> AsrSession:
        return await self.client.sessions.create(model, max_audio_seconds=self._max_audio_seconds)

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> SvcSpeechStream:
        model = model_of(language=language) if is_given(language) else None
        return SvcSpeechStream(self, conn_options, model)

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
        model = model_of(language=language) if is_given(language) else self.options.model
        stream = open_stream(
            get_session=lambda: self.get_session(model),
            keyterms=self.keyterms,
            numbers=self.options.numbers,
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
        confidences = [word.confidence for word in transcript.words if word.confidence is not None]
        data = stt.SpeechData(
            language=LanguageCode(language_of(model)),
            text=" ".join(_shown(each) for each in transcript.finals if each.text),
            start_time=transcript.words[0].start_ms / 1000 if transcript.words else 0.0,
            end_time=transcript.finals[-1].end_ms / 1000 if transcript.finals else 0.0,
            confidence=sum(confidences) / len(confidences) if confidences else CONFIDENCE,
            words=_timed(transcript.words, 0.0),
        )
        return stt.SpeechEvent(
            type=stt.SpeechEventType.FINAL_TRANSCRIPT,
            request_id=transcript.sessions[-1].session_id if transcript.sessions else "",
            alternatives=[data],
        )

    def emit_outage(self, error: SvcError) -> None:
        """``recoverable`` keeps the agent from giving up: the stream survives the outage."""
        self._emit_error(to_api_error(error), recoverable=True)


class SvcSpeechStream(stt.RecognizeStream):
    """The service ends a turn after silence, or LiveKit's turn detector does with a flush. Silence between turns is
    not sent, so it costs nothing."""

    def __init__(
        self, owner: SvcSTT, conn_options: APIConnectOptions, model: ModelId | None
    ) -> None:
        """``model`` goes before the owner's, which may change."""
        super().__init__(stt=owner, conn_options=conn_options, sample_rate=SAMPLE_RATE_HZ)
        self._owner = owner
        self._own_model = model
        self._options = self._wanted()
        self._keyterms = owner.keyterms
        self._opened_at = 0.0
        # Audio that arrived after a change of the options.
        self._next_input: rtc.AudioFrame | stt.RecognizeStream._FlushSentinel | None = None
        # Whether audio was sent since the last flush.
        self._is_sending = False
        # All audio so far, with the silence that was not sent.
        self._audio_ms = 0.0
        self._turns = self._new_turns()
        self._outages = OutageReporter(on_outage=self._report_outage, on_recovery=_report_recovery)

    def _wanted(self) -> _Options:
        options = self._owner.options
        return options if self._own_model is None else replace(options, model=self._own_model)

    def _new_turns(self) -> TurnTracker:
        return TurnTracker(
            on_start=lambda: self._push(stt.SpeechEventType.START_OF_SPEECH),
            on_end=self._push_end,
            silence_ms=self._options.silence_ms,
        )

    @property
    def _language(self) -> LanguageCode:
        return LanguageCode(language_of(self._options.model))

    async def _run(self) -> None:
        while not await self._run_stream():
            self.start_time_offset += self._audio_ms / 1000
            self._options = self._wanted()
            self._turns = self._new_turns()

    async def _run_stream(self) -> bool:
        """Whether the audio has ended. Otherwise the options have changed."""
        model = self._options.model
        self._keyterms = self._owner.keyterms
        stream = open_stream(
            get_session=lambda: self._owner.get_session(model),
            endpointing=Endpointing(
                silence_ms=self._options.silence_ms, eager_ms=self._options.eager_ms
            ),
            keyterms=self._keyterms,
            numbers=self._options.numbers,
            ca=self._owner.client.ca,
        )
        self._opened_at = time.perf_counter()
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
            return sending.result()
        except SvcError as error:
            raise to_api_error(error) from error
        finally:
            sending.cancel()
            reading.cancel()
            self._outages.stop()
            self._turns.stop()
            await stream.close()

    async def _send(self, stream: SvcStream) -> bool:
        gate = VoiceGate(hold_ms=self._options.silence_ms)
        self._audio_ms = 0.0
        async for item in self._inputs():
            if self._wanted() != self._options:
                self._next_input = item
                break
            if self._owner.keyterms is not self._keyterms:
                self._keyterms = self._owner.keyterms
                stream.set_keyterms(self._keyterms or ())
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
        self._is_sending = False
        await stream.finish()
        return self._next_input is None

    async def _inputs(
        self,
    ) -> AsyncGenerator[rtc.AudioFrame | stt.RecognizeStream._FlushSentinel]:
        held, self._next_input = self._next_input, None
        if held is not None:
            yield held
        async for item in self._input_ch:
            yield item

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
            if isinstance(event, ReconnectingEvent):
                self._opened_at = time.perf_counter()
            elif isinstance(event, ReadyEvent):
                self._report_connection_acquired(
                    time.perf_counter() - self._opened_at, connection_reused=False
                )
            self._turns.before(event)
            if isinstance(event, DeltaEvent) and event.text:
                data = stt.SpeechData(language=self._language, text=event.text)
                self._push(stt.SpeechEventType.INTERIM_TRANSCRIPT, data)
            elif isinstance(event, TurnEagerEvent):
                # LiveKit begins an answer, and keeps it if the text of the whole turn is the same.
                self._push(stt.SpeechEventType.PREFLIGHT_TRANSCRIPT, self._data(event))
            elif isinstance(event, ConfigAckEvent) and event.ignored:
                logger.warning(
                    "The model of this session ignores options.", extra={"ignored": event.ignored}
                )
            elif isinstance(event, FinalEvent):
                self._on_final(event, stream.session_id or "")
            self._turns.after(event)

    def _data(self, event: FinalEvent | TurnEagerEvent) -> stt.SpeechData:
        """It starts and ends with its words: the service counts the silence around them as part of the utterance."""
        offset = self.start_time_offset
        start_ms = event.start_ms if isinstance(event, FinalEvent) else 0
        end_ms = event.end_ms if isinstance(event, FinalEvent) else event.audio_ms
        return stt.SpeechData(
            language=self._language,
            text=_shown(event),
            start_time=(event.words[0].start_ms if event.words else start_ms) / 1000 + offset,
            end_time=(event.words[-1].end_ms if event.words else end_ms) / 1000 + offset,
            confidence=CONFIDENCE if event.confidence is None else event.confidence,
            words=_timed(event.words, offset),
        )

    def _on_final(self, event: FinalEvent, request_id: str) -> None:
        if event.text:
            data = self._data(event)
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


def _timed(words: Iterable[Word], offset: float) -> list[TimedString]:
    return [
        TimedString(
            word.text,
            start_time=word.start_ms / 1000 + offset,
            end_time=word.end_ms / 1000 + offset,
            start_time_offset=offset,
            confidence=CONFIDENCE if word.confidence is None else word.confidence,
        )
        for word in words
    ]


def _shown(event: FinalEvent | TurnEagerEvent) -> str:
    """The text with numbers as digits, if they were asked for."""
    return event.text_formatted or event.text
