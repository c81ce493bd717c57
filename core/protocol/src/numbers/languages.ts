/** The languages of number words, by ISO 639 code: two that are recognised, and two that their speakers borrow from. */
export const NUMBER_LANGUAGES = ['ki', 'luo', 'sw', 'en'] as const;
export type NumberLanguage = (typeof NUMBER_LANGUAGES)[number];
