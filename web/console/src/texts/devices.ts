import { useLanguage } from './language.ts';

/** Texts of the list of browsers in the settings. They load with that page. */
const en = {
  title: 'Where you are signed in',
  lead: 'A session ends after 14 days, or after 24 hours without use.',
  leadOperator: 'A session of an operator ends after 8 hours, or after 30 minutes without use.',
  on: (client: string, system: string) => `${client} on ${system}`,
  unknown: 'Unknown browser',
  current: 'This browser',
  seen: (when: string) => `Last used ${when}`,
  since: (when: string) => `signed in ${when}`,
  code: 'with an email code',
  passkey: 'with a passkey',
  signOut: 'Sign out',
  signedOut: (device: string) => `${device} is signed out.`,
};
export type DeviceTexts = typeof en;

const sw: DeviceTexts = {
  title: 'Ulipoingia',
  lead: 'Kuingia huisha baada ya siku 14, au baada ya saa 24 bila kutumika.',
  leadOperator:
    'Kuingia kwa mwendeshaji huisha baada ya saa 8, au baada ya dakika 30 bila kutumika.',
  on: (client, system) => `${client} kwenye ${system}`,
  unknown: 'Kivinjari kisichojulikana',
  current: 'Kivinjari hiki',
  seen: (when) => `Kilitumika ${when}`,
  since: (when) => `uliingia ${when}`,
  code: 'kwa msimbo wa barua pepe',
  passkey: 'kwa passkey',
  signOut: 'Toa',
  signedOut: (device) => `${device} kimetolewa.`,
};

export const DEVICE_TEXTS = { en, sw };

export function useDeviceTexts(): DeviceTexts {
  return DEVICE_TEXTS[useLanguage().language];
}
