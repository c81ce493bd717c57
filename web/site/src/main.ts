import { join } from 'node:path';
import { buildSite } from './build.ts';

/** `npm run site` */
const root = join(import.meta.dirname, '../../..');
const out = join(import.meta.dirname, '../dist/site');
const began = performance.now();
const repository = process.env['SITE_REPOSITORY']?.replace(/\/$/, '') || null;
const pages = await buildSite({ root, out, repository });
const seconds = ((performance.now() - began) / 1_000).toFixed(1);
process.stdout.write(`${pages} pages in web/site/dist/site, built in ${seconds} s\n`);
