/** Line icons on a 20 px grid. They are decorative; the text next to them carries the meaning. */
const PATHS = {
  overview: 'M3.5 3.5H9V9H3.5zM11 3.5h5.5V9H11zM3.5 11H9v5.5H3.5zM11 11h5.5v5.5H11z',
  usage: 'M3.5 16.5v-6M8 16.5v-12M12.5 16.5v-8M17 16.5v-10',
  log: 'M4 3.5h12v13H4zM7 7.5h6M7 10.5h6M7 13.5h3',
  credit: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 6v4l2.5 2',
  team: 'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 16.5c0-3 2.2-4.8 5-4.8s5 1.8 5 4.8M13 9a2.6 2.6 0 0 0 0-5M15 12.2c1.6.6 2.5 2.1 2.5 4.3',
  sessions: 'M3.5 5.5h13M3.5 10h13M3.5 14.5h8',
  keys: 'M11.8 8.2a3.7 3.7 0 1 0-2 2l1.4 1.4h2v2h2v2h2.3v-2.9l-5.7-4.5ZM6.6 6.6h.01',
  playground:
    'M10 3a2.5 2.5 0 0 0-2.5 2.5v4a2.5 2.5 0 0 0 5 0v-4A2.5 2.5 0 0 0 10 3ZM5 9.5a5 5 0 0 0 10 0M10 14.5V17',
  settings: 'M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4',
  operator:
    'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 16.5c0-3 2.2-4.8 5-4.8s5 1.8 5 4.8M13 7.5l1.7 1.7L18 6',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM13 13l3.5 3.5',
  docs: 'M10 5.5c-1.5-1.3-3.7-2-6.5-2v12c2.8 0 5 .7 6.5 2 1.5-1.3 3.7-2 6.5-2v-12c-2.8 0-5 .7-6.5 2ZM10 5.5v12',
  status: 'M2.5 10.5h3.5l2.5-6 3.5 11 2.2-5h3.3',
  signOut: 'M8 3.5H4.5v13H8M12.5 6.5 16 10l-3.5 3.5M16 10H8',
  copy: 'M7.5 7.5v-4h9v9h-4M3.5 7.5h9v9h-9z',
  check: 'm4 10.5 4 4 8-9',
  upload: 'M10 13V4M6 7.5 10 3.5l4 4M4 13v3.5h12V13',
  play: 'M7 4.5v11l8.5-5.5z',
  stop: 'M6 6h8v8H6z',
  warning: 'M10 3 2.5 16.5h15L10 3ZM10 8.5v3.5M10 14.5v.01',
  info: 'M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15ZM10 9v4.5M10 6.5v.01',
  plus: 'M10 4v12M4 10h12',
  close: 'm5 5 10 10M15 5 5 15',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="shrink-0"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <span className="inline-flex items-center gap-2.5 font-semibold tracking-tight whitespace-nowrap">
      <svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="9" className="fill-accent" />
        <path
          d="M7 14v4M11.5 10v12M16 7v18M20.5 12v8M25 14.5v3"
          className="stroke-on-accent"
          strokeWidth="2.6"
          strokeLinecap="round"
        />
      </svg>
      svc-asr
    </span>
  );
}
