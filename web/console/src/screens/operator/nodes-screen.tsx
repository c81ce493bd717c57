import type { NodePage, OperatorNode } from '@svc-asr/protocol/console/operator.ts';
import { formatAgo, formatAudio, numberFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { Button } from '../../design/controls.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { DataTable, TABLE_LINK } from './parts/data-table.tsx';
import { OperatorPage } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';
import { useRefreshed } from './parts/use-refreshed.ts';

const TONES = { live: 'good', draining: 'warn', retired: 'plain', expired: 'bad' } as const;

/** Streaming nodes with their lease, slots, delay and version. */
export function NodesScreen() {
  const texts = useOperatorTexts();
  const { load, reload, refresh } = useRefreshed<NodePage>('/operator/nodes');
  return (
    <OperatorPage
      place="nodes"
      lead={texts.nodes.lead}
      load={load}
      onRetry={() => void reload()}
      aside={<Button onClick={() => void refresh()}>{texts.refresh}</Button>}
    >
      {(page) => (
        <div className="grid gap-4">
          <Card>
            {page.data.length === 0 ? (
              <Empty icon="sessions" text={texts.nodes.empty} />
            ) : (
              <NodeTable page={page} />
            )}
          </Card>
          <p className="text-xs text-ink-3">
            {texts.nodes.lagHint} {texts.live.updates}
          </p>
        </div>
      )}
    </OperatorPage>
  );
}

function NodeTable({ page }: { page: NodePage }) {
  const { nodes, node, status } = useOperatorTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const ago = (time: string) => formatAgo({ at: time, now: page.now, language });
  return (
    <DataTable
      label={nodes.slots}
      rows={page.data}
      idOf={({ id }) => id}
      isFaded={({ state }) => state === 'retired'}
      columns={[
        { name: node, isTitle: true, cell: (row) => <Name row={row} /> },
        {
          name: status,
          cell: ({ state }) => <Badge tone={TONES[state]}>{nodes.states[state]}</Badge>,
        },
        {
          name: nodes.slots,
          isNumber: true,
          cell: ({ active, capacity }) => nodes.of(number.format(active), number.format(capacity)),
        },
        { name: nodes.lease, cell: ({ lease_until }) => ago(lease_until) },
        {
          name: nodes.lag,
          isNumber: true,
          cell: ({ lag_ms }) => (lag_ms === null ? nodes.unknown : formatAudio(lag_ms, common)),
        },
        { name: nodes.version, cell: ({ version }) => version ?? nodes.unknown },
        { name: nodes.started, cell: ({ started_at }) => ago(started_at) },
      ]}
    />
  );
}

function Name({ row }: { row: OperatorNode }) {
  return (
    <>
      <Link href={at(OPERATOR_PATHS.live, { node: row.id })} className={TABLE_LINK}>
        {row.id}
      </Link>
      <span className="block text-xs font-normal text-ink-3">{row.public_url}</span>
    </>
  );
}
