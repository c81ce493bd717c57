"""Streams against the emulator and its faults."""

from __future__ import annotations

import array
import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from svc_asr import (
    AsrSession,
    DeltaEvent,
    FinalEvent,
    ReadyEvent,
    ReconnectingEvent,
    StreamEvent,
    SvcClient,
    SvcError,
    SvcStream,
    open_stream,
)

from .conftest import TEXT
from .emulator import Emulator
from .speech import KIKUYU, client_of, hum, speech, stream_of


@pytest.fixture
async def client(emulator: Emulator) -> AsyncIterator[SvcClient]:
    async with client_of(emulator) as client:
        yield client


def expect_whole(finals: tuple[FinalEvent, ...], ms: int) -> None:
    """Expects that the utterances cover the audio without gaps."""
    assert [0, *(final.end_ms for final in finals)] == [*(final.start_ms for final in finals), ms]
    assert [final.utterance for final in finals] == list(range(len(finals)))


async def consumed_ms(client: SvcClient) -> int:
    usage = await client.usage.get()
    assert usage.reserved_ms == 0
    return usage.consumed_ms


class TestWithoutTrouble:
    async def test_charges_what_the_receipt_says_and_keeps_audio_written_before_ready(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        before = await consumed_ms(client)
        stream = stream_of(emulator, client)
        await stream.write(speech(2_300))
        transcript = await stream.finish()
        assert transcript.text == TEXT
        assert [receipt.billable_ms for receipt in transcript.sessions] == [3_000]
        assert await consumed_ms(client) - before == 3_000

    async def test_writes_numbers_as_digits_with_times_of_the_stream(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.say("ciringi magana matano")
        emulator.arm("engine-crash", ms=500)
        stream = open_stream(
            get_session=lambda: client.sessions.create(KIKUYU, max_audio_seconds=60), numbers=True
        )
        await stream.write(speech(2_000))
        (final,) = (await stream.finish()).finals
        emulator.say(TEXT)
        assert (final.text, final.text_formatted) == ("ciringi magana matano", "ciringi 500")
        (entity,) = final.entities or ()
        assert (entity.kind, entity.value, entity.currency) == ("amount", 500, "KES")
        times = (final.words[1].start_ms, final.words[2].end_ms)
        assert (entity.start_ms, entity.end_ms) == times

    async def test_answers_every_flush_and_goes_on(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        async with stream_of(emulator, client) as stream:
            await stream.write(speech(1_500))
            first = await stream.flush()
            await stream.write(speech(500))
            second, empty = await asyncio.gather(stream.flush(), stream.flush())
            assert [first.utterance, second.utterance, empty.utterance] == [0, 1, 2]
            assert (empty.text, empty.audio_ms) == ("", 0)
            # The id on the wire confirms which flush was answered.
            assert [first.id, second.id, empty.id] == ["1", "2", "3"]
            assert (await stream.finish()).text == f"{TEXT} {TEXT}"

    async def test_iterates_over_deltas_and_finals_and_ends_with_the_stream(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        stream = stream_of(emulator, client)
        events = stream.events()
        await stream.write(speech(3_000))
        await stream.finish()
        seen = [event async for event in events]
        assert isinstance(seen[0], ReadyEvent)
        assert isinstance(seen[-1], FinalEvent)
        assert any(isinstance(event, DeltaEvent) for event in seen)

    async def test_reset_forgets_the_audio_since_the_last_flush(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        stream = stream_of(emulator, client)
        await stream.write(speech(1_000))
        await stream.flush()
        await stream.write(speech(2_000))
        await stream.reset()
        await stream.write(speech(1_000))
        finals = (await stream.finish()).finals
        assert [(f.start_ms, f.end_ms) for f in finals] == [(0, 1_000), (3_000, 4_000)]

    async def test_does_not_charge_skipped_time_and_keeps_the_times_true(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        before = await consumed_ms(client)
        stream = stream_of(emulator, client)
        await stream.write(speech(1_000))
        await stream.flush()
        stream.skip(60_000)
        await stream.write(speech(1_000))
        finals = (await stream.finish()).finals
        assert (finals[1].start_ms, finals[1].end_ms) == (61_000, 62_000)
        assert await consumed_ms(client) - before == 2_000

    async def test_write_waits_while_the_service_takes_nothing(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.arm("engine-pause", ms=1_000)
        stream = stream_of(emulator, client, max_audio_seconds=300)
        # More than the kernel's socket buffers hold.
        writing = asyncio.ensure_future(self._write(stream, seconds=280))
        done, _ = await asyncio.wait({writing}, timeout=3)
        assert not done
        assert stream._buffer.unsent_bytes <= 6 * 32_000
        emulator.clear()
        await writing
        assert (await stream.finish()).text == TEXT

    async def _write(self, stream: SvcStream, seconds: int) -> None:
        for _ in range(seconds):
            await stream.write(hum(1_000))


class TestFailuresThatAStreamOutlives:
    @pytest.mark.parametrize(
        ("name", "code", "reason"),
        [
            ("engine-crash", 1011, "internal_error"),
            ("engine-hang", 1011, "internal_error"),
            ("restart", 1012, "service_restart"),
            ("slow-start", 1013, "initialization_timeout"),
            ("connection-lost", 1006, "connection_lost"),
            ("expired-credential", 1006, "session_credential_expired"),
        ],
    )
    async def test_the_next_session_hears_everything_again(
        self, emulator: Emulator, client: SvcClient, name: str, code: int, reason: str
    ) -> None:
        emulator.arm(name)
        if name == "restart":
            # A restart takes a while. Without this the stream would end before it.
            emulator.arm("slow-engine", ms=500)
        stream = stream_of(emulator, client)
        events = stream.events()
        await stream.write(speech(4_000))
        transcript = await stream.finish()
        moves = [event async for event in events if isinstance(event, ReconnectingEvent)]
        assert [(move.close.code, move.close.reason) for move in moves] == [(code, reason)]
        assert transcript.text == TEXT
        expect_whole(transcript.finals, 4_000)

    @pytest.mark.parametrize("name", ["busy-account", "rate-limit", "unavailable"])
    async def test_waits_out_refusals_with_one_idempotency_key(
        self, emulator: Emulator, client: SvcClient, name: str
    ) -> None:
        emulator.arm(name, ms=0, times=2)
        stream = stream_of(emulator, client)
        await stream.write(speech(1_000))
        assert (await stream.finish()).text == TEXT

    async def test_a_slow_engine_loses_nothing(self, emulator: Emulator, client: SvcClient) -> None:
        emulator.arm("slow-engine", ms=300)
        stream = stream_of(emulator, client)
        await stream.write(speech(8_000))
        transcript = await stream.finish()
        expect_whole(transcript.finals, 8_000)

    async def test_failed_sessions_are_free_and_the_replay_is_charged_once(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        before = await consumed_ms(client)
        emulator.arm("engine-crash", times=3)
        stream = stream_of(emulator, client)
        await stream.write(speech(4_000))
        sessions = (await stream.finish()).sessions
        assert [each.billable_ms for each in sessions] == [0, 0, 0, 4_000]
        assert await consumed_ms(client) - before == 4_000

    async def test_a_waiting_flush_gets_its_final_from_the_next_session(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.arm("engine-crash")
        stream = stream_of(emulator, client)
        await stream.write(speech(1_000))
        first = stream.flush_nowait()
        await stream.write(speech(1_000))
        second = await stream.flush()
        assert (await first).end_ms == 1_000
        assert (second.start_ms, second.end_ms) == (1_000, 2_000)
        await stream.finish()

    async def test_utterances_stay_whole_through_failures_at_random_places(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        dice = random.Random(7)
        for _ in range(2):
            for _ in range(3):
                name = dice.choice(["engine-crash", "restart", "connection-lost"])
                emulator.arm(name, ms=dice.randint(100, 4_000))
            stream = stream_of(emulator, client)
            ms = 0
            while ms < 10_000:
                piece = dice.randint(1, 900)
                ms += piece
                await stream.write(speech(piece))
                if dice.random() < 0.25:
                    stream.flush_nowait()
            transcript = await stream.finish()
            expect_whole(transcript.finals, ms)
            assert len(transcript.sessions) > 1
            emulator.clear()

    async def test_charges_audio_that_is_sent_again_once(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.arm("connection-lost", ms=2_500)
        before = await consumed_ms(client)
        stream = stream_of(emulator, client)
        await stream.write(random.randbytes(8_000 * 32))
        expect_whole((await stream.finish()).finals, 8_000)
        # Each of the two sessions rounds up to whole seconds.
        assert 8_000 <= await consumed_ms(client) - before <= 9_000


class TestLimits:
    async def test_leaves_a_session_in_a_pause_before_its_limit(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        before = await consumed_ms(client)
        stream = stream_of(emulator, client, max_audio_seconds=8)
        for _ in range(30):
            await stream.write(speech(1_000))
        transcript = await stream.finish()
        expect_whole(transcript.finals, 30_000)
        assert "max_audio_reached" not in {final.reason for final in transcript.finals}
        assert len(transcript.sessions) > 3
        # Each session is rounded up once.
        assert await consumed_ms(client) - before < 36_000

    async def test_uses_a_session_to_its_last_sample_where_there_is_no_pause(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        stream = stream_of(emulator, client, max_audio_seconds=2)
        await stream.write(hum(7_000))
        finals = (await stream.finish()).finals
        expect_whole(finals, 7_000)
        assert [f.reason for f in finals].count("max_audio_reached") == 3

    async def test_without_get_session_it_ends_there(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        stream = open_stream(session=await client.sessions.create(KIKUYU, max_audio_seconds=2))
        await stream.write(hum(2_000))
        assert (await stream.finish()).text == TEXT
        assert (await stream.wait_closed()).code == 1000
        longer = open_stream(session=await client.sessions.create(KIKUYU, max_audio_seconds=2))
        await longer.write(hum(3_000))
        with pytest.raises(SvcError) as failed:
            await longer.finish()
        assert failed.value.code == "max_audio_reached"
        assert longer.transcript.text == TEXT

    async def test_leaves_an_idle_session_and_resumes_with_the_next_audio(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.restart(idle_ms=1_500)
        try:
            stream = stream_of(emulator, client)
            events = stream.events()
            await stream.write(speech(1_000))
            await asyncio.wait_for(self._until_left(client, stream), 20)
            await stream.write(speech(1_000))
            transcript = await stream.finish()
            expect_whole(transcript.finals, 2_000)
            moves = [e.why async for e in events if isinstance(e, ReconnectingEvent)]
            assert moves == ["resume"]
        finally:
            emulator.restart(idle_ms=60_000)

    async def _until_left(self, client: SvcClient, stream: SvcStream) -> None:
        while (session_id := stream.session_id) is None:
            await asyncio.sleep(0.01)
        while True:
            sessions = (await client.usage.get()).recent_sessions
            if (session_id, "completed") in {(each.id, each.status) for each in sessions}:
                return
            await asyncio.sleep(0.05)


class TestEnds:
    async def test_without_credit_it_ends_with_that_error(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.arm("no-credit", ms=0)
        stream = stream_of(emulator, client)
        await stream.write(speech(100))
        with pytest.raises(SvcError) as failed:
            await stream.finish()
        assert (failed.value.code, failed.value.status) == ("insufficient_credits", 402)
        info = await stream.wait_closed()
        assert (info.reason, info.retryable) == ("insufficient_credits", False)

    async def test_a_failure_has_code_reason_session_and_request(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.arm("engine-crash", ms=500)
        session = await client.sessions.create(KIKUYU)
        stream = open_stream(session=session)
        await stream.write(speech(1_000))
        info = await stream.wait_closed()
        assert (info.code, info.reason, info.retryable) == (1011, "internal_error", True)
        assert info.session_id == session.id
        assert info.request_id is not None
        assert len(info.request_id) == 36

    async def test_a_used_session_is_refused_and_the_first_stream_is_not_disturbed(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        session = await client.sessions.create(KIKUYU)
        first = open_stream(session=session)
        await first.write(speech(100))
        await first.flush()
        second = open_stream(session=session)
        assert (await second.wait_closed()).reason == "session_credential_used"
        assert (await first.finish()).text == TEXT

    async def test_errors_that_nobody_awaits_disturb_nobody(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        # pytest turns warnings into errors, "exception was never retrieved" among them.
        emulator.arm("engine-crash", ms=100)
        stream = open_stream(session=await client.sessions.create(KIKUYU))
        stream.write_nowait(speech(1_000))
        stream.flush_nowait()
        assert (await stream.wait_closed()).code == 1011
        with pytest.raises(SvcError):
            stream.flush_nowait()

    async def test_iteration_raises_the_error_that_ended_the_stream(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        emulator.arm("engine-crash", ms=100)
        stream = open_stream(session=await client.sessions.create(KIKUYU))
        events = stream.events()
        stream.write_nowait(speech(1_000))
        seen: list[StreamEvent] = []
        with pytest.raises(SvcError) as failed:
            async for event in events:
                seen.append(event)
        assert failed.value.code == "internal_error"
        assert seen

    async def test_refuses_audio_that_is_not_pcm(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        stream = stream_of(emulator, client)
        with pytest.raises(SvcError) as failed:
            await stream.write(memoryview(array.array("f", [0.0] * 160)))
        assert failed.value.code == "invalid_audio"
        assert (await stream.wait_closed()).reason == "invalid_audio"

    async def test_close_ends_it_before_and_after_the_session_exists(
        self, emulator: Emulator, client: SvcClient
    ) -> None:
        never: asyncio.Future[AsrSession] = asyncio.get_running_loop().create_future()
        waiting = open_stream(get_session=lambda: never)
        assert (await asyncio.wait_for(waiting.close(), 5)).reason == "completed"
        running = stream_of(emulator, client)
        await running.write(speech(100))
        await running.flush()
        assert (await running.close()).code == 1000
        with pytest.raises(SvcError) as failed:
            await running.write(speech(10))
        assert failed.value.code == "stream_closed"

    async def test_a_broken_get_session_is_the_cause_of_the_end(self) -> None:
        calls = 0

        async def get_session() -> AsrSession:
            nonlocal calls
            calls += 1
            raise LookupError("no such tenant")

        stream = open_stream(get_session=get_session)
        with pytest.raises(SvcError) as failed:
            await stream.finish()
        assert failed.value.code == "get_session_failed"
        assert isinstance(failed.value.__cause__, LookupError)
        assert calls == 4
