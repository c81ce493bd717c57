import { Component, type ReactNode } from 'react';
import { useTexts } from '../app/language.tsx';
import { Button } from '../design/controls.tsx';
import { Notice } from '../design/feedback.tsx';
import { PageHead } from '../design/surfaces.tsx';

/** Replaces a screen that failed to render. The navigation around it keeps working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    return this.state.broken ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const texts = useTexts().connection;
  return (
    <>
      <PageHead title={texts.brokenTitle} />
      <Notice tone="bad">
        <p>{texts.broken}</p>
        <Button className="mt-3" onClick={() => location.reload()}>
          {texts.reload}
        </Button>
      </Notice>
    </>
  );
}
