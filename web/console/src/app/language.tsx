import { useContext, useEffect, useState, type ReactNode } from 'react';
import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { en, type Texts } from '../texts/en.ts';
import { LanguageContext } from '../texts/language.ts';
import { sw } from '../texts/sw.ts';
import { readPreference, savePreference } from './preferences.ts';

const TEXTS: Record<ConsoleLanguage, Texts> = { en, sw };

export { useLanguage } from '../texts/language.ts';

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<ConsoleLanguage>(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  function choose(next: ConsoleLanguage): void {
    savePreference('language', next);
    setLanguage(next);
  }
  return <LanguageContext value={{ language, choose }}>{children}</LanguageContext>;
}

export function useTexts(): Texts {
  return TEXTS[useContext(LanguageContext).language];
}

function firstLanguage(): ConsoleLanguage {
  const known = readPreference('language') ?? navigator.language.slice(0, 2);
  return known === 'sw' ? 'sw' : 'en';
}
