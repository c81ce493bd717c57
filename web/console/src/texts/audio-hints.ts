import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';

const CONTAINER = /^This looks like ([\w ]+)\. Decode it to 16 kHz PCM first\.$/;

/** The other hints of the server, which are English. */
const SW: Readonly<Record<string, string>> = {
  'This looks like a WAV file. Send the samples only.':
    'Hii inaonekana kuwa faili ya WAV. Tuma sampuli pekee.',
  'This looks like 32-bit float samples. Convert them to signed 16-bit integers (multiply by 32,767).':
    'Hizi zinaonekana kuwa sampuli za float za biti 32. Zigeuze kuwa namba kamili za biti 16 (zidisha kwa 32,767).',
  'This looks like two channels, or like samples that come twice. Send one channel, resampled to 16 kHz.':
    'Hizi zinaonekana kuwa chaneli mbili, au sampuli zinazorudiwa. Tuma chaneli moja ya 16 kHz.',
  'This looks like 16-bit samples with the high byte first. Swap the two bytes of each sample.':
    'Hizi zinaonekana kuwa sampuli zenye baiti ya juu kwanza. Badilishana baiti mbili za kila sampuli.',
  'This looks like 24-bit samples. Convert them to signed 16-bit integers, low byte first.':
    'Hizi zinaonekana kuwa sampuli za biti 24. Zigeuze kuwa namba kamili za biti 16, baiti ya chini kwanza.',
  'This looks like G.711 mu-law. Decode it to 16-bit PCM and resample it from 8 kHz to 16 kHz.':
    'Hii inaonekana kuwa G.711 mu-law. Igeuze kuwa PCM ya biti 16, kisha kutoka 8 kHz hadi 16 kHz.',
  'This looks like G.711 A-law. Decode it to 16-bit PCM and resample it from 8 kHz to 16 kHz.':
    'Hii inaonekana kuwa G.711 A-law. Igeuze kuwa PCM ya biti 16, kisha kutoka 8 kHz hadi 16 kHz.',
  'This sounds two to three times too slow, like 44.1 or 48 kHz audio. Resample it to 16 kHz.':
    'Sauti hii ni ya polepole mara mbili hadi tatu, kama ya 44.1 au 48 kHz. Igeuze kuwa 16 kHz.',
  'The first second is all zeros. Check that the microphone is on and allowed.':
    'Sekunde ya kwanza ni sifuri tupu. Hakikisha kuwa maikrofoni imewashwa na imeruhusiwa.',
  'This looks like base64 text. Send the bytes themselves as binary frames.':
    'Haya yanaonekana kuwa maandishi ya base64. Tuma baiti zenyewe kama fremu za binary.',
  'Most samples are at full scale. Check the gain and the conversion to 16 bits.':
    'Sampuli nyingi ziko kwenye kikomo. Angalia ukuzaji wa sauti na ugeuzaji kuwa biti 16.',
};

/** Says what the server heard wrong in the reader's language. An unknown hint stays English. */
export function explainAudioHint(hint: string, language: ConsoleLanguage): string {
  if (language === 'en') return hint;
  const [, format] = CONTAINER.exec(hint) ?? [];
  if (format === undefined) return SW[hint] ?? hint;
  return `Hii inaonekana kuwa ${format.replace(' or ', ' au ')}. Igeuze kuwa PCM ya 16 kHz kwanza.`;
}
