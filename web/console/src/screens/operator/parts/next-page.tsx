import { Link } from '../../../app/router.tsx';
import { useOperatorTexts } from '../../../texts/operator.ts';
import { at } from '../paths.ts';

/** Leads to the first and to the next page of a list. */
export function NextPage(props: {
  path: string;
  query: Readonly<Record<string, string | null>>;
  /** Where this page starts. Null: it is the first. */
  after: string | null;
  /** Where the next page starts. Null: there is none. */
  next: string | null;
}) {
  const { path, query, after, next } = props;
  const texts = useOperatorTexts();
  return (
    <div className="flex flex-wrap gap-2 empty:hidden">
      {after !== null && (
        <Link href={at(path, query)} className="button button-secondary">
          {texts.newest}
        </Link>
      )}
      {next !== null && (
        <Link href={at(path, { ...query, after: next })} className="button button-secondary">
          {texts.older}
        </Link>
      )}
    </div>
  );
}
