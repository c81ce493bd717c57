import { decodeFiles } from './decode.ts';
import { converse, type Conversation } from './conversation.ts';
import { phrasesOf, type Phrase } from './phrases.ts';
import type { Sounds } from './turn-conditions.ts';
import { recordingsOf, soundsOf, type Half, type Voice } from './voices.ts';

/** Conversations of one half of the voices, and the sounds that disturb them. */
export interface TurnSet {
  readonly conversations: readonly Conversation[];
  readonly sounds: Sounds;
}

export async function buildTurnSet(
  voices: readonly Voice[],
  { half, seconds }: { half: Half; seconds: number },
): Promise<TurnSet> {
  const phrases: Phrase[] = [];
  const conversations: Conversation[] = [];
  for (const [number, voice] of voices.entries()) {
    const recordings = await decodeFiles(await recordingsOf(voice));
    const said = recordings.flatMap((recording) => phrasesOf(voice.name, recording));
    phrases.push(...said);
    const { name, letters } = voice;
    conversations.push(converse(said, { voice: name, letters, seconds, seed: 11 + number }));
  }
  const files = await soundsOf(half);
  const sounds = {
    phrases,
    music: await decodeFiles(files.music),
    alerts: await decodeFiles(files.alerts),
  };
  return { conversations, sounds };
}
