import { Link } from '../../../app/router.tsx';
import { TABLE_LINK } from './data-table.tsx';
import { OPERATOR_PATHS } from '../paths.ts';

export function AccountLink({ id, name }: { id: string; name: string | null }) {
  return (
    <Link href={`${OPERATOR_PATHS.accounts}/${id}`} className={TABLE_LINK}>
      {name}
    </Link>
  );
}

/** Leads to a session by its time. */
export function SessionLink({ id, time }: { id: string; time: string }) {
  return (
    <Link href={`/app/operator/sessions/${id}`} className={`md:whitespace-nowrap ${TABLE_LINK}`}>
      {time}
    </Link>
  );
}
