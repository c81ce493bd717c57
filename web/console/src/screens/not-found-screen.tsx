import { useTexts } from '../app/language.tsx';
import { Link } from '../app/router.tsx';
import { Empty } from '../design/feedback.tsx';
import { Card, PageHead } from '../design/surfaces.tsx';

export function NotFoundScreen() {
  const texts = useTexts();
  return (
    <>
      <PageHead title={texts.notFound.title} />
      <Card>
        <Empty icon="info" text={texts.notFound.lead}>
          <Link href="/app" className="button button-secondary">
            {texts.notFound.back}
          </Link>
        </Empty>
      </Card>
    </>
  );
}
