import { runCampaign } from './runner.ts';

process.exitCode = await runCampaign(new URL('./bench/', import.meta.url), process.argv.slice(2));
