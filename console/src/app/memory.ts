/** Small choices kept on this device. A browser that forbids storage just forgets them. */
export function recall(name: 'language' | 'theme'): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: 'language' | 'theme', value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Private browsing: the choice lasts as long as the page.
  }
}
