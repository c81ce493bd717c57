import { Link } from '../../../app/router.tsx';
import { Notice } from '../../../design/feedback.tsx';
import { useOperatorTexts } from '../../../texts/operator.ts';

/** Says that a list shows one node or account only, and leads to all. */
export function FilterNote(props: { path: string; node: string | null; account: string | null }) {
  const texts = useOperatorTexts();
  if (props.node === null && props.account === null) return null;
  return (
    <Notice tone="info">
      {props.node !== null && <>{texts.onlyNode(props.node)} </>}
      {props.account !== null && <>{texts.onlyAccount} </>}
      <Link href={props.path} className="underline underline-offset-4">
        {texts.all}
      </Link>
    </Notice>
  );
}
