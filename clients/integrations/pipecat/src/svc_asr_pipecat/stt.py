"""An `STTService` on a stream that survives failures."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from enum import StrEnum
from typing import Any, cast

from loguru import logger
from pipecat.audio.utils import create_stream_resampler
from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    ErrorFrame,
    Frame,
    InterimTranscriptionFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    StartFrame,
    STTMetadataFrame,
    TranscriptionFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import STTSettings
from pipecat.services.stt_service import STTService
from pipecat.transcriptions.language import Language
from pipecat.turns.eager_end_of_turn_mixin import EagerEndOfTurnSTTServiceMixin
from pipecat.utils.time import time_now_iso8601
from pipecat.utils.types import is_given
from svc_asr import (
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
    TurnResumedEvent,
    WaitingEvent,
    open_stream,
)
from svc_asr.languages import MODELS, language_of, model_of
from svc_asr.turns import SILENCE_MS, TurnTracker

SAMPLE_RATE_HZ = 16_000
Proposal = type[ProposedUserStartedSpeakingFrame] | type[ProposedUserStoppedSpeakingFrame]


class _Kikuyu(StrEnum):
    """Pipecat's list of languages has Dholuo, but not Kikuyu. This looks like one of its members."""

    KI = "ki"


LANGUAGES: dict[str, Language] = {"ki": cast(Language, _Kikuyu.KI), "luo": Language.LUO}


class SvcSTTService(EagerEndOfTurnSTTServiceMixin, STTService):
    """Sends the pipeline's audio to one stream and pushes interim and final transcriptions.

    A `VADUserStoppedSpeakingFrame` flushes the stream. The flush's own final is the confirmation, so its
    `TranscriptionFrame` is marked as finalized, and latency is reported from it.

    With ``endpointing`` the service finds the turns instead. It proposes their start and end to Pipecat's external
    turn strategies, which it recommends, and frames of a VAD are ignored. With its ``eager_ms`` Pipecat begins an
    answer while the turn may still go on, and drops it if the text changes.
    """

    def __init__(
        self,
        *,
        language: str | None = None,
        model: ModelId | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        client: SvcClient | None = None,
        max_audio_seconds: int = 300,
        ttfs_p99_latency: float | None = None,
        endpointing: Endpointing | None = None,
        keyterms: Iterable[str] | None = None,
        numbers: bool = False,
        **kwargs: Any,
    ) -> None:
        """``language`` is ``ki`` (Kikuyu) or ``luo`` (Dholuo); a ``model`` says the same. ``api_key`` and ``base_url``
        default to SVC_API_KEY and SVC_BASE_URL; a ``client`` of your own replaces them. ``keyterms`` are names and
        words to listen for. ``numbers`` pushes numbers as digits; ``result`` has the words."""
        self._model = model_of(model=model, language=language)
        self._next_model = self._model
        self._language = LANGUAGES[language_of(self._model)]
        super().__init__(
            ttfs_p99_latency=ttfs_p99_latency,
            settings=STTSettings(model=self._model, language=language_of(self._model)),
            enable_eager_end_of_turn=endpointing is not None and endpointing.eager_ms is not None,
            **kwargs,
        )
        self._max_audio_seconds = max_audio_seconds
        self._endpointing = endpointing
        self._keyterms = None if keyterms is None else tuple(keyterms)
        self._numbers = numbers
        self._turns = TurnTracker(
            on_start=lambda: self._propose(ProposedUserStartedSpeakingFrame),
            on_end=lambda _: self._propose(ProposedUserStoppedSpeakingFrame),
            silence_ms=(endpointing and endpointing.silence_ms) or SILENCE_MS,
        )
        self._proposals: list[Proposal] = []
        self._own_client = SvcClient(base_url, api_key) if client is None else None
        self._client = client or self._own_client
        self._stream: SvcStream | None = None
        # Flushes without a final. A service that is behind may have several.
        self._flushes = 0
        self._reading: asyncio.Task[None] | None = None
        self._resampler = create_stream_resampler()

    def can_generate_metrics(self) -> bool:
        return True

    @property
    def supports_ttfs(self) -> bool:
        """Without a VAD there is no end of speech to measure from."""
        return self._endpointing is None

    def service_metadata_frame(self) -> STTMetadataFrame:
        frame = super().service_metadata_frame()
        if self._endpointing is not None:
            frame.user_turn_strategies = self.recommended_user_turn_strategies(
                enable_interruptions=True
            )
        return frame

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        self._open()

    def _open(self) -> None:
        assert self._client is not None
        client, model = self._client, self._model
        self._stream = open_stream(
            get_session=lambda: client.sessions.create(
                model, max_audio_seconds=self._max_audio_seconds
            ),
            endpointing=self._endpointing,
            keyterms=self._keyterms,
            numbers=self._numbers,
            ca=client.ca,
        )
        self._turns.start(self._stream.flush_nowait)
        self._reading = self.create_task(self._read(self._stream), name="svc_asr_read")

    async def stop(self, frame: EndFrame) -> None:
        """Waits for the last final, so that no word is lost at the end of a call."""
        await super().stop(frame)
        await self._finish()
        await self._close()

    async def _finish(self) -> None:
        if self._stream is not None and self._reading is not None:
            # The reader reports the error that ended the stream.
            with contextlib.suppress(SvcError):
                await self._stream.finish()
            await asyncio.wait({self._reading})

    async def _update_settings(  # type: ignore[override]  # STTService narrows it as well
        self, delta: STTSettings
    ) -> dict[str, Any]:
        """Another language or model gets a new stream. The words before still become final in theirs."""
        try:
            model = self._model_after(delta)
        except SvcError as error:
            await self.push_error(
                error_msg=f"{error} The settings have not changed.", exception=error
            )
            return {}
        delta = replace(delta, model=model, language=language_of(model))
        changed = await super()._update_settings(delta)
        if model != self._model:
            self._next_model = model
            # Keeps the audio that arrives meanwhile.
            await self._reconnect()
        return changed

    async def _do_reconnect(self) -> None:
        is_open = self._stream is not None
        await self._finish()
        await self._close_stream()
        self._model = self._next_model
        self._language = LANGUAGES[language_of(self._model)]
        if is_open:
            self._open()

    def _model_after(self, delta: STTSettings) -> ModelId:
        language = str(delta.language) if is_given(delta.language) and delta.language else None
        if not is_given(delta.model) or not delta.model:
            return self._model if language is None else model_of(language=language)
        for model in MODELS.values():
            if model == delta.model:
                return model_of(model=model, language=language)
        raise SvcError("invalid_model", f"Unknown model. Use {' or '.join(MODELS.values())}.")

    async def cancel(self, frame: CancelFrame) -> None:
        await super().cancel(frame)
        await self._close()

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame | None, None]:
        if self._stream is not None:
            if self.sample_rate != SAMPLE_RATE_HZ:
                audio = await self._resampler.resample(audio, self.sample_rate, SAMPLE_RATE_HZ)
            try:
                # Live audio cannot be slowed down. The stream buffers it through failures.
                self._stream.write_nowait(audio)
            except SvcError as error:
                yield ErrorFrame(error=str(error))
        yield None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if self._endpointing is not None or self._stream is None:
            return
        if isinstance(frame, VADUserStoppedSpeakingFrame):
            try:
                final = self._stream.flush_nowait()
            except SvcError:
                return
            # Without audio the answer is known at once, and no event follows.
            if not final.done():
                self._flushes += 1

    async def _read(self, stream: SvcStream) -> None:
        try:
            async for event in stream.events():
                if self._endpointing is not None:
                    self._turns.before(event)
                    await self._push_proposals()
                if isinstance(event, DeltaEvent):
                    await self._push_interim(event)
                elif isinstance(event, TurnEagerEvent):
                    await self._push_eager_end_of_turn(
                        event.text_formatted or event.text,
                        user_id=self._user_id,
                        language=self._language,
                        result=event,
                    )
                elif isinstance(event, TurnResumedEvent):
                    await self._cancel_eager_end_of_turn()
                elif isinstance(event, ConfigAckEvent) and event.ignored:
                    logger.warning(f"{self}: the model of this session ignores {event.ignored}")
                elif isinstance(event, FinalEvent):
                    # Pipecat compares its text with the eager one.
                    self._clear_eager_end_of_turn()
                    await self._push_final(event)
                    if self._endpointing is not None:
                        self._turns.after(event)
                        await self._push_proposals()
                elif isinstance(event, ReadyEvent):
                    await self._call_event_handler("on_connected")
                elif isinstance(event, ReconnectingEvent):
                    await self._call_event_handler("on_disconnected")
                elif isinstance(event, WaitingEvent):
                    await self._call_event_handler("on_connection_error", str(event.error))
        except SvcError as error:
            await self._call_event_handler("on_connection_error", str(error))
            await self.push_error(error_msg=str(error), exception=error)

    def _propose(self, frame: Proposal) -> None:
        self._proposals.append(frame)
        # For a turn that ends by time. The reader pushes its own at once: the text of the next turn must not overtake.
        self.create_task(self._push_proposals(), name="svc_asr_turn")

    async def _push_proposals(self) -> None:
        while self._proposals:
            await self.broadcast_frame(self._proposals.pop(0))

    async def _push_interim(self, event: DeltaEvent) -> None:
        if event.text:
            await self.push_frame(
                InterimTranscriptionFrame(
                    event.text, self._user_id, time_now_iso8601(), self._language, result=event
                )
            )

    async def _push_final(self, event: FinalEvent) -> None:
        await self.emit_stt_usage_metrics()
        is_answer = event.reason == "flush" and self._flushes > 0
        if is_answer:
            self._flushes -= 1
        if event.text:
            await self.push_frame(
                TranscriptionFrame(
                    event.text_formatted or event.text,
                    self._user_id,
                    time_now_iso8601(),
                    self._language,
                    result=event,
                    finalized=is_answer or event.reason == "endpoint",
                )
            )

    async def _close(self) -> None:
        await self._close_stream()
        if self._own_client is not None:
            await self._own_client.close()

    async def _close_stream(self) -> None:
        self._turns.stop()
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()
        if self._reading is not None:
            await self.cancel_task(self._reading)
            self._reading = None
