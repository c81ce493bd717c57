import { decodeFiles } from './decode.ts';
import { converse, type Conversation } from './conversation.ts';
import { phrasesOf, type Phrase } from './phrases.ts';
import type { Sounds } from './turn-conditions.ts';
import { recordingsOf, soundsOf, type Half, type Voice } from './voices.ts';

/** Conversations of one half of the voices, and the sounds that disturb them. */
export interface TurnSet {
  readonly conversations: readonly Conversation[];
  /** Of each voice with the next one. */
  readonly dialogues: readonly Conversation[];
  readonly sounds: Sounds;
}

export async function buildTurnSet(
  voices: readonly Voice[],
  { half, seconds }: { half: Half; seconds: number },
): Promise<TurnSet> {
  const said: Phrase[][] = [];
  for (const voice of voices) {
    const recordings = await decodeFiles(await recordingsOf(voice));
    said.push(recordings.flatMap((recording) => phrasesOf(voice.name, recording)));
  }
  const conversations = voices.map(({ name, letters }, number) =>
    converse(said[number] ?? [], { voice: name, letters, seconds, seed: 11 + number }),
  );
  const dialogues = voices.map(({ name, letters }, number) => {
    const next = (number + 1) % voices.length;
    return converse(said[number] ?? [], {
      voice: name,
      letters: letters && voices[next]?.letters === true,
      seconds,
      seed: 11 + number,
      answers: said[next] ?? [],
    });
  });
  const files = await soundsOf(half);
  const sounds = {
    phrases: said.flat(),
    music: await decodeFiles(files.music),
    alerts: await decodeFiles(files.alerts),
  };
  return { conversations, dialogues, sounds };
}
