import type { ModelId } from '@svc-asr/protocol/constants.ts';
import type { TableColumn } from './parts/data-table.tsx';
import { AccountLink } from './parts/links.tsx';

interface StreamRow {
  readonly account_id: string;
  readonly account_name: string;
  readonly node_id: string | null;
  readonly model: ModelId;
}

/** Whose stream it is, where it runs and its model. */
export function streamColumns(
  names: { readonly account: string; readonly node: string; readonly model: string },
  models: Readonly<Record<ModelId, string>>,
): TableColumn<StreamRow>[] {
  return [
    {
      name: names.account,
      isLong: true,
      cell: (row) => <AccountLink id={row.account_id} name={row.account_name} />,
    },
    { name: names.node, isLong: true, cell: ({ node_id }) => node_id },
    { name: names.model, cell: ({ model }) => models[model] },
  ];
}
