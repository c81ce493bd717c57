import { join } from 'node:path';
import { writeGenerated } from './generated.ts';

/** `npm run docs` */
const changed = await writeGenerated(join(import.meta.dirname, '../..'));
console.log(changed.length === 0 ? 'docs/ is up to date.' : `Updated: ${changed.join(', ')}`);
