import { useTexts } from '../../app/language.tsx';

const BARS = 24;

export function LevelMeter({ level }: { level: number }) {
  const texts = useTexts();
  return (
    <div
      role="meter"
      aria-label={texts.playground.level}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(level * 100)}
      className="flex h-8 min-w-0 items-center justify-center gap-0.5 overflow-hidden sm:gap-1 lg:gap-0.5"
    >
      {Array.from({ length: BARS }, (_, at) => {
        // The bars are tallest in the middle.
        const shape = Math.sin(((at + 0.5) / BARS) * Math.PI);
        return (
          <span
            key={at}
            className={`w-1 min-w-0.5 rounded-full transition-[height] duration-100 ${level > 0 ? 'bg-accent' : 'bg-line'}`}
            style={{ height: `${Math.max(10, level * shape * 100)}%` }}
          />
        );
      })}
    </div>
  );
}
