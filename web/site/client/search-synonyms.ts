/** Words that readers type, and the words of the pages that answer them. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    android: ['mobile', 'phone', 'react'],
    bulk: ['batch', 'folder'],
    cli: ['command'],
    docker: ['compose', 'image'],
    ios: ['mobile', 'phone', 'react'],
    mocha: ['jest', 'vitest'],
    k8s: ['kubernetes'],
    mic: ['microphone'],
    mp3: ['ffmpeg', 'audio'],
    nextjs: ['react'],
    price: ['credit', 'charged'],
    pricing: ['credit', 'charged'],
    reconnect: ['failover', 'resume'],
    srt: ['captions'],
    stt: ['transcribe'],
    timestamps: ['captions', 'times'],
    endpointing: ['turns'],
    vad: ['turns'],
    vue: ['browser'],
    whatsapp: ['voice'],
  }),
);

/** The word itself and the words that mean the same. */
export function withSynonyms(word: string): readonly string[] {
  return [word, ...(SYNONYMS.get(word.toLowerCase()) ?? [])];
}
