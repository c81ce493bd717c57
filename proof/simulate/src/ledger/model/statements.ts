import { databaseError, type Answer, type Call } from '../database.ts';
import {
  cancelMove,
  changeAccount,
  freezeAccount,
  insertAccount,
  postCredit,
  requestSessionEnd,
  sealAccount,
  setLimit,
} from './accounts.ts';
import { balanceRows } from './balance.ts';
import { acceptHistory, markLedger } from './marks.ts';
import {
  failOrphans,
  liveNodes,
  registerNode,
  renewNode,
  recordCalls,
  recordStreams,
  reportLiveAudio,
  retireNode,
  sweepReservations,
} from './nodes.ts';
import {
  claim,
  close,
  findLostAudio,
  giveBack,
  requestTakeover,
  reserve,
  type Claimed,
  type Reserved,
} from './sessions.ts';
import { sessionOf, type Moment } from './state.ts';

/** The statements of the server, each with the function of the model that answers it. */

type Values = readonly unknown[];
type Row = Record<string, unknown>;
type Answering = (moment: Moment, values: Values) => Row[] | { readonly changed: number };

/** By a part of the SQL text that no other statement has. */
const STATEMENTS: readonly (readonly [part: string, answer: Answering])[] = [
  ['row_to_json(reserve_session(', (moment, values) => [{ answer: answerReserve(moment, values) }]],
  ['from claim_session(', (moment, values) => [answerClaim(moment, values)]],
  [
    'give_back_session(',
    (moment, [accountId, sessionId, upgradeId]) => [
      {
        outcome: giveBack(moment, {
          accountId: asText(accountId),
          sessionId: asText(sessionId),
          upgradeId: asText(upgradeId),
        }),
      },
    ],
  ],
  ['close_session(', (moment, values) => [{ outcome: answerClose(moment, values) }]],
  [
    'from find_lost_audio(',
    (moment, [accountId, ids]) => {
      const call = { accountId: asText(accountId), sessionIds: asList(ids).map(asText) };
      return findLostAudio(moment, call).map(({ sessionId, isOver, lengths, digests }) => {
        return { session_id: sessionId, is_over: isOver, lengths, digests };
      });
    },
  ],
  [
    'live_session_expiry(',
    ({ state }, [accountId, sessionId]) => {
      const session = sessionOf(state, asText(accountId), asText(sessionId));
      const isLive = session !== undefined && session.completedAt === null;
      return [{ expires_at: isLive ? new Date(session.expiresAt) : null }];
    },
  ],
  [
    'request_takeover(',
    (moment, [accountId, sessionId, proof]) => {
      const session = { accountId: asText(accountId), sessionId: asText(sessionId) };
      return [{ requested: requestTakeover(moment, { ...session, proof: asText(proof) }) }];
    },
  ],
  [
    'from session_takeovers',
    ({ state }, [ids]) =>
      asList(ids)
        .map(asText)
        .flatMap((id) => {
          const proof = state.takeovers.get(id)?.proof;
          return proof === undefined ? [] : [{ session_id: id, proof }];
        }),
  ],
  ['from fail_orphans(', (moment, [batch]) => [sweepRow(failOrphans(moment, asNumber(batch)))]],
  ['expire_reservations(', (moment, [batch]) => [sweepReservations(moment, asNumber(batch))]],
  ['from mark_ledger(', (moment, values) => [answerMark(moment, values)]],
  ['accept_ledger_history(', (moment) => [{ accepted: acceptHistory(moment) }]],
  ['register_node(', (moment, values) => [{ epoch: answerRegister(moment, values) }]],
  ['renew_node(', (moment, values) => [{ renewed: answerRenew(moment, values) }]],
  [
    'retire_node(',
    (moment, [id, epoch]) => [
      { retired: retireNode(moment, { id: asText(id), epoch: asNumber(epoch) }) },
    ],
  ],
  [
    'select epoch, retired_at is not null',
    ({ state, nowMs }, [id]) => {
      const node = state.nodes.get(asText(id));
      if (node === undefined) return [];
      const retired = node.retiredAt !== null;
      const isHeld = !retired && node.leaseUntil > nowMs;
      return [{ epoch: node.epoch, retired, is_held: isHeld, age_ms: nowMs - node.startedAt }];
    },
  ],
  ['where lease_until > clock_timestamp() and retired_at is null order by id', liveNodeRows],
  [
    'report_live_audio(',
    (moment, [id, epoch, sessionIds, samples]) => {
      const node = { id: asText(id), epoch: asNumber(epoch) };
      const counts = asList(samples).map(asNumber);
      reportLiveAudio(moment, {
        ...node,
        sessionIds: asList(sessionIds).map(asText),
        samples: counts,
      });
      return [{ report_live_audio: null }];
    },
  ],
  [
    'record_streams(',
    (moment, [node, streams]) => [
      { recorded: recordStreams(moment, { node: asText(node), streams: asText(streams) }) },
    ],
  ],
  ['record_calls(', (_moment, [calls]) => [{ recorded: recordCalls(asText(calls)) }]],
  [
    'with clock as materialized',
    (moment, [id, limit]) => balanceRows(moment, { accountId: asText(id), limit: asNumber(limit) }),
  ],
  ['from grant_credit(', (moment, values) => [answerCredit(moment, 'grant', values)]],
  ['from adjust_credit(', (moment, values) => [answerCredit(moment, 'adjust', values)]],
  [
    'insert into accounts',
    (moment, [id]) => {
      insertAccount(moment, asText(id));
      return { changed: 1 };
    },
  ],
  [
    'update accounts set status',
    (moment, [id, status]) => ({
      changed: changeAccount(moment, asText(id), {
        status: asText(status) === 'active' ? 'active' : 'suspended',
      })
        ? 1
        : 0,
    }),
  ],
  [
    'set_concurrency(',
    (moment, [id, limit]) => [{ found: setLimit(moment, asText(id), asNumber(limit)) }],
  ],
  [
    'set_allowed_origins(',
    (moment, [id, origins]) => {
      const list = asList(origins).map(asText);
      changeAccount(moment, asText(id), { allowedOrigins: list.length === 0 ? null : list });
      return [{ set_allowed_origins: null }];
    },
  ],
  [
    `status <> 'active'`,
    ({ state }, [ids]) =>
      asList(ids).flatMap((id) => {
        const account = state.accounts.get(asText(id));
        return account === undefined || account.status === 'active' ? [] : [{ id: account.id }];
      }),
  ],
  [
    'select allowed_origins from accounts',
    ({ state }, [id]) => {
      const account = state.accounts.get(asText(id));
      return account === undefined ? [] : [{ allowed_origins: account.allowedOrigins }];
    },
  ],
  [
    'from session_end_requests',
    ({ state }, [ids]) =>
      asList(ids)
        .map(asText)
        .flatMap((id) => (state.endRequests.has(id) ? [{ session_id: id }] : [])),
  ],
  ['request_session_end(', (moment, [id]) => [{ state: requestSessionEnd(moment, asText(id)) }]],
  [
    'freeze_account(',
    (moment, [id, to]) => {
      const newId = crypto.randomUUID();
      const call = { accountId: asText(id), to: asText(to), newId };
      return [{ freeze_account: freezeAccount(moment, call) }];
    },
  ],
  [
    'seal_account(',
    (moment, [id, moveId]) => [
      { live: sealAccount(moment, { accountId: asText(id), moveId: asText(moveId) }) },
    ],
  ],
  ['cancel_move(', (moment, [id]) => [{ cancelled: cancelMove(moment, asText(id)) }]],
];

/** The server has few statements and sends them often. */
const byText = new Map<string, Answering>();

function answering(text: string): Answering {
  const known = byText.get(text) ?? STATEMENTS.find(([part]) => text.includes(part))?.[1];
  if (known === undefined) {
    throw new Error(`The ledger model does not know this statement: ${text}`);
  }
  byText.set(text, known);
  return known;
}

/** Answers a statement as PostgreSQL does, or throws if the model has no answer for it. */
export function answerCall(moment: Moment, call: Call): Answer {
  const answer = answering(call.text)(moment, call.values);
  if (!Array.isArray(answer)) return { rows: [], rowCount: answer.changed };
  return { rows: answer, rowCount: answer.length };
}

function answerReserve(moment: Moment, values: Values): Row {
  const [accountId, sessionId, again, keyId, model, requestedMs, key, request, nodeId, url] =
    values;
  return reservedRow(
    reserve(moment, {
      accountId: asText(accountId),
      sessionId: asText(sessionId),
      again: again === true,
      keyId: asTextOrNull(keyId),
      model: asText(model),
      requestedMs: asNumber(requestedMs),
      keyHash: asHexOrNull(key),
      requestHash: asHexOrNull(request),
      nodeId: asTextOrNull(nodeId),
      url: asTextOrNull(url),
    }),
  );
}

/** row_to_json has all columns, and no dates. */
function reservedRow(reserved: Reserved): Row {
  const { outcome, session } = reserved;
  return {
    outcome,
    replayed: reserved.replayed ?? null,
    session_id: session?.id ?? null,
    websocket_url: session?.websocketUrl ?? null,
    reserved_ms: session?.reservedMs ?? reserved.reservedMs ?? null,
    remaining_ms: session?.remainingMs ?? null,
    created_at: session === undefined ? null : new Date(session.createdAt).toISOString(),
    expires_at: session === undefined ? null : new Date(session.expiresAt).toISOString(),
    blocker: reserved.blocker ?? null,
    retry_after_ms: reserved.retryAfterMs ?? null,
  };
}

function answerClaim(moment: Moment, values: Values): Row {
  const [accountId, sessionId, upgradeId, nodeId, nodeEpoch] = values;
  const claimed: Claimed = claim(moment, {
    accountId: asText(accountId),
    sessionId: asText(sessionId),
    upgradeId: asText(upgradeId),
    nodeId: asText(nodeId),
    nodeEpoch: asNumber(nodeEpoch),
  });
  return {
    outcome: claimed.outcome,
    model: claimed.session?.model ?? null,
    reserved_ms: claimed.session?.reservedMs ?? null,
    allowed_origins: claimed.allowedOrigins ?? null,
  };
}

function answerClose(moment: Moment, values: Values): string {
  const [accountId, sessionId, status, samples, nodeId, nodeEpoch, upgradeId, ...audio] = values;
  const [lostId, replayed, lengths, digests, isTold] = audio;
  return close(moment, {
    accountId: asText(accountId),
    sessionId: asText(sessionId),
    status: asText(status),
    samples: asNumber(samples),
    nodeId: asText(nodeId),
    nodeEpoch: asNumber(nodeEpoch),
    upgradeId: asTextOrNull(upgradeId),
    lostId: asTextOrNull(lostId),
    replayed: asNumber(replayed),
    lengths: lengths === null ? null : asList(lengths).map(asNumber),
    digests: digests === null ? null : asList(digests).map(asText),
    isTold: isTold === true,
  });
}

function sweepRow({ failed, quietMs }: { failed: number; quietMs: number }): Row {
  return { failed, quiet_ms: quietMs };
}

function answerMark(moment: Moment, values: Values): Row {
  const [processId, nodeId, position, accountId, sessionId, isOver, upgradeId] = values;
  return markLedger(moment, {
    processId: asText(processId),
    nodeId: asText(nodeId),
    position: asNumber(position),
    accountId: asTextOrNull(accountId),
    sessionId: asTextOrNull(sessionId),
    isOver: isOver === null ? null : isOver === true,
    upgradeId: asTextOrNull(upgradeId),
  });
}

function answerRegister(moment: Moment, [id, url, models, capacity]: Values): number {
  return registerNode(moment, {
    id: asText(id),
    publicUrl: asText(url),
    models: asList(models).map(asText),
    capacity: asNumber(capacity),
  });
}

function answerRenew(moment: Moment, [id, epoch, active, capacity, draining]: Values): boolean {
  return renewNode(moment, {
    id: asText(id),
    epoch: asNumber(epoch),
    active: asNumber(active),
    capacity: asNumber(capacity),
    draining: draining === true,
  });
}

function liveNodeRows(moment: Moment): Row[] {
  return liveNodes(moment).map((node) => ({
    id: node.id,
    epoch: node.epoch,
    public_url: node.publicUrl,
    models: node.models,
    capacity: node.capacity,
    active: node.active,
    draining: node.draining,
    renewed_at: new Date(node.renewedAt),
  }));
}

function answerCredit(moment: Moment, kind: 'grant' | 'adjust', values: Values): Row {
  const [accountId, ms, reason, , requestId] = values;
  const credited = postCredit(moment, kind, {
    accountId: asText(accountId),
    ms: asNumber(ms),
    reason: asText(reason),
    requestId: asText(requestId),
  });
  return {
    outcome: credited.outcome,
    replayed: credited.replayed ?? null,
    seq: credited.seq ?? null,
    available_ms: credited.availableMs ?? null,
  };
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw wrongType(value);
  return value;
}

function asTextOrNull(value: unknown): string | null {
  return value === null ? null : asText(value);
}

function asNumber(value: unknown): number {
  if (typeof value !== 'number') throw wrongType(value);
  return value;
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongType(value);
  return value;
}

function asHexOrNull(value: unknown): string | null {
  if (value === null) return null;
  if (!Buffer.isBuffer(value)) throw wrongType(value);
  return value.toString('hex');
}

function wrongType(value: unknown): Error {
  return databaseError('22P02', `a parameter has the wrong type: ${typeof value}`);
}
