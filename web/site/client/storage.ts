/** Preferences on this device. They are lost if the browser forbids storage. */
export function readPreference(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function savePreference(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
}
