import { runCampaign } from './runner.ts';

process.exitCode = await runCampaign(new URL('./prove/', import.meta.url), process.argv.slice(2));
