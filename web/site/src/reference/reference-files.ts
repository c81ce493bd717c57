import { httpPage } from './http-page.ts';
import { drawSequence } from './sequence-diagram.ts';
import { ENDPOINTING, FAILURE, SESSION } from './sequences.ts';
import { streamPage } from './stream-page.ts';

/** The generated reference pages, by path. `npm run docs` writes them. */
export function referenceFiles(): [path: string, text: string][] {
  return [
    ['docs/reference/http.md', httpPage()],
    ['docs/reference/stream.md', streamPage()],
    ['docs/reference/stream-session.svg', drawSequence(SESSION)],
    ['docs/reference/stream-endpointing.svg', drawSequence(ENDPOINTING)],
    ['docs/reference/stream-failure.svg', drawSequence(FAILURE)],
  ];
}
