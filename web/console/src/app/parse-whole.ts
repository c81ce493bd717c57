/** Returns a whole number from 1 to `max`, or null. */
export function parseWhole(text: string, max: number): number | null {
  const value = Number(text);
  return text.trim() !== '' && Number.isInteger(value) && value >= 1 && value <= max ? value : null;
}
