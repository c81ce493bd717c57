/** Line icons on a 20 px grid, in the console's style. They are decorative. */
const PATHS = {
  search: 'M9 15.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM13.8 13.8l3.7 3.7',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  theme: 'M10 3.5a6.5 6.5 0 1 0 6.5 6.5A5 5 0 0 1 10 3.5Z',
  chevron: 'm7.5 5 5 5-5 5',
  previous: 'M16 10H4.5M9 5.5 4.5 10 9 14.5',
  next: 'M4 10h11.5M11 5.5l4.5 4.5-4.5 4.5',
} as const;

export function icon(name: keyof typeof PATHS, size = 18): string {
  return `<svg width="${size}" height="${size}" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${PATHS[name]}"/></svg>`;
}

export const LOGO = `<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9" class="logo-tile"/><path d="M7 14v4M11.5 10v12M16 7v18M20.5 12v8M25 14.5v3" class="logo-wave" stroke-width="2.6" stroke-linecap="round"/></svg>`;
