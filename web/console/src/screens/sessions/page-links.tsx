import { Link } from '../../app/router.tsx';

/** Leads to the newest and to older rows of a list, with the same filters. */
export function PageLinks(props: {
  path: string;
  search: URLSearchParams;
  /** Where the next page begins. Null: there is none. */
  next: string | null;
  newest: string;
  older: string;
}) {
  const at = (before: string | null): string => {
    const search = new URLSearchParams(props.search);
    if (before === null) search.delete('before');
    else search.set('before', before);
    return `${props.path}${search.size === 0 ? '' : `?${search}`}`;
  };
  return (
    <div className="flex flex-wrap gap-2 empty:hidden">
      {props.search.has('before') && (
        <Link href={at(null)} className="button button-secondary">
          {props.newest}
        </Link>
      )}
      {props.next !== null && (
        <Link href={at(props.next)} className="button button-secondary">
          {props.older}
        </Link>
      )}
    </div>
  );
}
