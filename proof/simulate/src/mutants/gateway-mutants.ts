import { during, harmless, mutant, type Mutant } from './mutant.ts';

const GATEWAY = 'core/server/src/gateway/gateway.ts';
const CONNECTION = 'core/server/src/gateway/connection/connection.ts';
const SETTLEMENTS = 'core/server/src/gateway/settlements.ts';
const FEED = 'core/server/src/gateway/connection/engine-feed.ts';
const INTAKE = 'core/server/src/gateway/connection/intake.ts';
const LOST_AUDIO = 'core/server/src/gateway/rules/lost-audio.ts';

/** Bugs in what a node does with its streams and their settlements. */
export const GATEWAY_MUTANTS: readonly Mutant[] = [
  mutant('settlement-given-up', 'A settlement is abandoned at its first error.', {
    in: SETTLEMENTS,
    from: 'if (isCloseRefused(error) || isFull || this.#stopped) this.#giveUp(entry, error);',
    to: 'if (!isFull) this.#giveUp(entry, error);',
  }),
  mutant('settlement-lost-wake-up', 'No timer is set for a settlement that waits for its retry.', {
    in: SETTLEMENTS,
    from: 'if (nextAtMs < Infinity) this.#timer',
    to: 'if (nextAtMs === -Infinity) this.#timer',
  }),
  mutant('settlement-account-stays-busy', 'After a retry its account counts as busy for ever.', {
    in: SETTLEMENTS,
    from: 'this.#start(entry, () => this.#busyAccounts.delete(entry.settlement.accountId));',
    to: 'this.#start(entry);',
  }),
  mutant('settlement-outcome-swallowed', 'A failed attempt counts as written.', {
    in: SETTLEMENTS,
    from: 'else this.#postpone(entry, error);',
    to: 'else this.#finish(entry);',
  }),
  during(
    'database-answers-lost',
    mutant('claim-not-given-up', 'A claim without an answer is never released.', {
      in: GATEWAY,
      from: 'answered = this.#giveBack(owner);',
      to: 'answered = Promise.resolve();',
    }),
  ),
  during(
    'database-answers-lost',
    mutant(
      'refused-upgrade-spends-credential',
      'A session whose claim got no answer is failed instead of given back.',
      {
        in: GATEWAY,
        from: 'answered = this.#giveBack(owner);',
        to: `answered = this.#settlements.settle({ ...owner, status: 'failed', samples: 0 });`,
      },
    ),
  ),
  mutant('claim-counts-for-ever', 'An upgrade keeps its slot after the claim was answered.', {
    in: GATEWAY,
    from: 'void answered.then(() => (this.#claiming -= 1));',
    to: 'void answered;',
  }),
  during(
    'database-slow',
    mutant(
      'claim-of-vanished-client-kept',
      'A client that leaves during its upgrade is not settled.',
      {
        in: GATEWAY,
        from: 'if (socket === undefined) return void this.#giveBack(owner);',
        to: 'if (socket === undefined) return;',
      },
    ),
  ),
  during(
    'node-death',
    mutant('wrong-epoch', 'Streams belong to the process that comes after this one.', {
      in: GATEWAY,
      from: 'const owner = { sessionId, accountId, nodeId, nodeEpoch, upgradeId: requestId };',
      to: 'const owner = { sessionId, accountId, nodeId, nodeEpoch: nodeEpoch + 1, upgradeId: requestId };',
    }),
  ),
  during(
    ['drain', 'database-unreachable'],
    mutant('settlements-lost-in-a-drain', 'A drain does not wait for settlements.', {
      in: GATEWAY,
      from: 'await Promise.race([this.#settlements.drained(), sleep(Math.max(LAST_SETTLEMENTS_MS, leftMs))]);',
      to: 'if (leftMs > LAST_SETTLEMENTS_MS) await this.#settlements.drained();',
    }),
  ),
  during(
    ['database-away', 'database-unreachable'],
    mutant('outage-cuts-streams', 'A node without a lease ends its streams.', {
      in: GATEWAY,
      from: 'this.streams.tick(this.#now());',
      to: `if (this.#deps.node.isHeld) this.streams.tick(this.#now());
    else this.streams.end('service_restart');`,
    }),
  ),
  mutant('ticking-after-stop', 'The timer of a stopped gateway keeps running.', {
    in: GATEWAY,
    from: 'clearInterval(this.#ticking);',
    to: '',
  }),
  during(
    'drain',
    mutant('failure-is-charged', 'A stream that failed is settled as completed.', {
      in: CONNECTION,
      from: 'const settled = settle({ status: ending.status, samples, replayed, lost, isTold });',
      to: `const settled = settle({ status: 'completed', samples, replayed, lost, isTold });`,
    }),
  ),
  during(
    'engine-stall',
    mutant('all-audio-is-charged', 'Audio whose final came too late is charged too.', {
      in: CONNECTION,
      from: 'const settled = settle({ status: ending.status, samples, replayed, lost, isTold });',
      to: 'const settled = settle({ status: ending.status, samples: meter.acceptedSamples, replayed, lost, isTold });',
    }),
  ),
  during(
    'reset-connection',
    mutant('replay-is-charged', 'Audio that a lost session was charged for is charged again.', {
      in: CONNECTION,
      from: 'const replayed = this.#replayed?.replayed ?? null;',
      to: 'const replayed = null;',
    }),
  ),
  during(
    'reset-connection',
    mutant(
      'any-audio-was-paid',
      'Audio is free although it is not what a lost session was charged for.',
      {
        in: LOST_AUDIO,
        from: 'if (finish(this.#hash) !== this.#lost.digests[this.#at]) return false;',
        to: '',
      },
    ),
  ),
  during(
    'reset-connection',
    mutant(
      'lost-audio-forgotten',
      'A node forgets what a session that lost its client was charged for.',
      {
        in: CONNECTION,
        from: 'const lost = isKnown ? null : this.#digests.end(samples);',
        to: 'const lost = isKnown ? this.#digests.end(samples) : null;',
      },
    ),
  ),
  during(
    'drain',
    mutant(
      'double-settle',
      'A connection that breaks after the end of its stream settles it again.',
      {
        in: CONNECTION,
        from: 'if (this.#isOver) return;\n    this.#isOver = true;',
        to: 'this.#isOver = true;',
      },
      {
        in: 'core/server/src/gateway/rules/stream.ts',
        from: `export function onConnectionLost(state: StreamState): Step {
  return close(state, 'completed');`,
        to: `export function onConnectionLost(state: StreamState): Step {
  return close({ ...state, phase: 'streaming' }, 'completed');`,
      },
    ),
  ),
  harmless(
    'engines close a stream whose opening was aborted',
    mutant(
      'engine-slot-kept',
      'An engine stream that opens after the end of its stream stays open.',
      {
        in: 'core/server/src/gateway/connection/engine-link.ts',
        from: 'if (this.#isClosed) return void stream.close();',
        to: 'if (this.#isClosed) return;',
      },
    ),
  ),
  mutant('engine-stream-not-closed', 'The engine stream stays open after the end of its stream.', {
    in: CONNECTION,
    from: 'const freed = this.#engine.close();',
    to: 'const freed = undefined;',
  }),
  mutant('close-before-settlement', 'The close frame goes out before the session is settled.', {
    in: CONNECTION,
    from: 'await Promise.race([Promise.all([settled, freed]), sleep(SETTLE_BEFORE_CLOSE_MS)]);',
    to: 'await Promise.race([Promise.all([settled, freed]), sleep(0)]);',
  }),
  mutant('paused-for-ever', 'A socket that was paused for the engine is not resumed.', {
    in: FEED,
    from: 'if (this.#writing === 0) this.#input.onResume();',
    to: 'if (this.#writing === 0 && this.#heldBytes > 0) this.#input.onResume();',
  }),
  during(
    'engine-stall',
    mutant('flush-overtakes-audio', 'A flush reaches the engine before audio that waits.', {
      in: FEED,
      from: `if (this.#waiting.length > 0) this.#holdCommand({ do: 'flush' });
    else this.#input.stream.flush();`,
      to: 'this.#input.stream.flush();',
    }),
  ),
  during(
    'engine-stall',
    mutant('keyterms-overtake-audio', 'Keyterms reach the engine before audio that waits.', {
      in: FEED,
      from: `if (this.#waiting.length > 0) this.#holdCommand({ do: 'expect', keyterms });
    else this.#input.stream.expect(keyterms);`,
      to: 'this.#input.stream.expect(keyterms);',
    }),
  ),
  mutant(
    'commands-overtake-unconfirmed-audio',
    'A command overtakes audio that waits for the second detector.',
    {
      in: INTAKE,
      from: 'if (this.#items.length === 0 && !this.#isPassing) run();',
      to: 'if (!this.#isPassing) run();',
    },
  ),
  during(
    'engine-stall',
    mutant('reset-drops-flushed-audio', 'A reset drops waiting audio that was flushed before it.', {
      in: 'core/engine/src/call-queue.ts',
      from: 'return this.#removeAudio(ended + 1);',
      to: 'return this.#removeAudio(ended - ended);',
    }),
  ),
  during(
    'engine-stall',
    mutant('held-audio-joined-wrongly', 'Waiting audio overwrites the audio before it.', {
      in: FEED,
      from: 'last.buffer.set(pcm, last.bytes);',
      to: 'last.buffer.set(pcm, Math.max(0, last.bytes - 2));',
    }),
  ),
  mutant(
    'events-of-another-stream',
    'The events of a recogniser go to the stream that opened last.',
    {
      in: 'core/server/src/gateway/connection/engine-link.ts',
      from: 'for await (const event of stream.events) this.#input.onEvent(event);',
      to: `Object.assign(globalThis, { last: this.#input });
    for await (const event of stream.events) Reflect.get(globalThis, 'last').onEvent(event);`,
    },
  ),
  mutant(
    'block-of-another-stream',
    'Audio that waits for a recogniser is joined in one buffer of all streams.',
    {
      in: 'core/server/src/gateway/connection/engine-feed.ts',
      from: 'const buffer = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, pcm.byteLength));',
      to: `const shared = Reflect.get(globalThis, 'block') ?? Buffer.alloc(1 << 20);
    Object.assign(globalThis, { block: shared });
    const buffer = shared.subarray(0, Math.max(BLOCK_BYTES, pcm.byteLength));`,
    },
  ),
  mutant('blocked-for-a-minute', 'An account with an open session is told to wait for a minute.', {
    in: 'core/server/src/sessions/new-session.ts',
    from: 'retryAfterSeconds: Math.ceil(reservation.retryAfterMs / 1000),',
    to: 'retryAfterSeconds: 60,',
  }),
];
