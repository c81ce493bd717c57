/** The id after which the next page begins, if more rows than one page were found. */
export function nextOf(found: readonly { readonly id: string }[], limit: number): string | null {
  return found.length > limit ? (found[limit - 1]?.id ?? null) : null;
}
