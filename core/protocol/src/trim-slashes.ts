/** Removes slashes at the end. `/\/+$/` would take quadratic time for slashes anywhere else. */
export function trimSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
