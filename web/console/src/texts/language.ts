import { createContext, useContext } from 'react';
import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';

interface LanguageChoice {
  language: ConsoleLanguage;
  choose: (language: ConsoleLanguage) => void;
}

export const LanguageContext = createContext<LanguageChoice>({
  language: 'en',
  choose: () => undefined,
});

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}
