import { memo } from "react";
import { DAY_LETTERS, type DayLetter, describeDays } from "../../text/home.ts";

const COLOURS: Record<DayLetter, string> = {
  p: "var(--status-proven)",
  b: "var(--status-backed-up)",
  f: "var(--status-failed)",
  m: "var(--status-missed)",
  "-": "var(--status-none)",
};

const HEIGHT = 24;
const WIDTH = 240;

/**
 * One bar a day, and a shape for each state: proven is tall, backed up only is half as tall, failed
 * is broken in two, missed is an empty frame, and a day with nothing is a dash. One path for each
 * state, however many days.
 */
export const DayStrip = memo(function DayStrip({ days, firstDay }: { days: string; firstDay: string }) {
  const step = WIDTH / days.length;
  const width = step - (step > 5 ? 2 : 0.75);
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={describeDays(days, firstDay)}
      style={{ display: "block", maxWidth: "100%" }}
      preserveAspectRatio="none"
    >
      {DAY_LETTERS.map((letter) => {
        const path = days
          .split("")
          .map((found, index) => (found === letter ? shapeOf(letter, index * step, width) : ""))
          .join("");
        return path === "" ? null : <path key={letter} d={path} fill={COLOURS[letter]} fillRule="evenodd" />;
      })}
    </svg>
  );
});

function shapeOf(letter: DayLetter, x: number, width: number): string {
  switch (letter) {
    case "p":
      return box(x, 0, width, HEIGHT);
    case "b":
      return box(x, HEIGHT / 2, width, HEIGHT / 2);
    case "f":
      return box(x, 0, width, 9) + box(x, 15, width, 9);
    case "m":
      return box(x, 6, width, 18) + box(x + width / 4, 8, width / 2, 14);
    case "-":
      return box(x, HEIGHT - 2, width, 2);
  }
}

function box(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${y}h${round(width)}v${height}h-${round(width)}z`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** One day's shape, for the legend. */
export function DayShape({ letter }: { letter: DayLetter }) {
  return (
    <svg width={8} height={HEIGHT} viewBox={`0 0 8 ${HEIGHT}`} aria-hidden="true" style={{ flex: "none" }}>
      <path d={shapeOf(letter, 1, 6)} fill={COLOURS[letter]} fillRule="evenodd" />
    </svg>
  );
}
