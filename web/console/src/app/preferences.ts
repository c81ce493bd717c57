/** Preferences stored on this device. They are lost if the browser forbids storage. */
export function readPreference(name: 'language' | 'theme'): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function savePreference(name: 'language' | 'theme', value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is blocked: the preference lasts until the page is closed.
  }
}
