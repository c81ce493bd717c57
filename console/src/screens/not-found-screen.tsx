import { useTexts } from '../app/language.tsx';
import { Link } from '../app/router.tsx';
import { PageHead } from '../design/surfaces.tsx';

export function NotFoundScreen() {
  const texts = useTexts();
  return (
    <>
      <PageHead title={texts.notFound.title} />
      <Link href="/app" className="link">
        {texts.notFound.back}
      </Link>
    </>
  );
}
