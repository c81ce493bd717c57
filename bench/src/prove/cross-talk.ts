import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startBare } from '../engine/bare.ts';
import { distinctUtterance } from '../engine/utterances.ts';
import { numbers } from '../service/concurrency.ts';
import { Fleet } from '../service/fleet.ts';
import { startLoad } from '../service/load.ts';
import { openSessions } from '../service/sessions.ts';

/** Many concurrent streams with distinct texts. No stream may receive another's words. */
export const about = '200 concurrent streams with distinct texts: no stream gets words of another';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const streams = short ? 16 : 200;
  const plans = numbers(streams).map((at) => distinctUtterance(at, short ? 2 : 4));
  const [fleet, load, bare] = await Promise.all([Fleet.start(), startLoad(), startBare()]);
  try {
    const service = await fleet.launch({ ENGINE_CHILDREN: '2' });
    const expected = (await bare.run([plans])).texts.flat();
    const sessions = await openSessions({ fleet, service }, plans);
    log(`${streams} streams speak at once`);
    const url = service.streamUrl;
    const answer = await load.run({ url, protocol: 'ours', sessions, plans, speed: 0 });
    let foreignWords = 0;
    let differing = 0;
    for (const [at, text] of answer.texts.entries()) {
      const own = new Set(expected[at]?.split(' '));
      foreignWords += text.split(' ').filter((word) => word !== '' && !own.has(word)).length;
      if (text !== expected[at]) differing += 1;
    }
    const figures = { streams, foreign_words: foreignWords, differing, broken: answer.broken };
    return { passed: foreignWords + differing + answer.broken === 0, figures };
  } finally {
    await fleet.stop();
    await load.stop();
    await bare.stop();
  }
}
