/**
 * A time of day in which uploads may run, in minutes since midnight on this host's clock; it may
 * extend past midnight.
 */
export interface UploadWindow {
  readonly from: number;
  readonly to: number;
}

export interface UploadConfig {
  /** Null: no limit. */
  readonly maxBytesPerSecond: number | null;
  /** Empty: at any time. */
  readonly windows: readonly UploadWindow[];
}

type Report = (path: readonly (string | number)[], message: string) => void;

/** `upload:` of config.yaml. A mistake is reported, and read as if it were missing. */
export function uploadConfig(
  value: { readonly max_rate?: string | number; readonly windows?: readonly string[] },
  report: Report,
): UploadConfig {
  const { max_rate: rate, windows = [] } = value;
  const maxBytesPerSecond = rate === undefined ? null : parseRate(String(rate));
  if (rate !== undefined && maxBytesPerSecond === null)
    report(["max_rate"], "must be bytes a second, such as 500kB or 20MB");
  return {
    maxBytesPerSecond,
    windows: windows.flatMap((text, at) => {
      const window = parseWindow(text);
      if (window !== null) return [window];
      report(["windows", at], 'must be two times of day, such as "22:00-06:00"');
      return [];
    }),
  };
}

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9 };

/**
 * `20MB`, `500 kB/s`, `1.5M`, `4096`. Null for any other text, and for less than a kilobyte a
 * second.
 */
export function parseRate(text: string): number | null {
  const [, digits = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?) ?([kmg]?)b?(?:\/s)?$/i.exec(text.trim()) ?? [];
  const rate = Math.floor(Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN));
  return digits !== "" && rate >= 1000 ? rate : null;
}

function parseWindow(text: string): UploadWindow | null {
  const [, h1, m1, h2, m2] =
    /^([01]\d|2[0-4]):([0-5]\d) ?- ?([01]\d|2[0-4]):([0-5]\d)$/.exec(text.trim()) ?? [];
  const from = Number(h1) * 60 + Number(m1);
  const to = Number(h2) * 60 + Number(m2);
  return from <= 1440 && to <= 1440 && from !== to ? { from: from % 1440, to } : null;
}

/** How long until uploads may run; 0 if they may now. `now` is read as this host's local time. */
export function untilWindow_ms(windows: readonly UploadWindow[], now: Date): number {
  if (windows.length === 0) return 0;
  const minute = now.getHours() * 60 + now.getMinutes();
  const isOpen = windows.some(({ from, to }) =>
    from < to ? minute >= from && minute < to : minute >= from || minute < to,
  );
  if (isOpen) return 0;
  const waits = windows.map(({ from }) => (from - minute + 1440) % 1440);
  // If clocks change in between, the question is only asked once more.
  return Math.min(...waits) * 60_000 - now.getSeconds() * 1000 - now.getMilliseconds();
}
