const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

/** `850 B`, `12.3 MB`: thousands, as disks and object stores count, and at most three digits. */
export function formatBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit++;
  }
  const digits = unit === 0 || amount >= 99.5 ? 0 : 1;
  return `${amount.toFixed(digits)} ${UNITS[unit] ?? ""}`;
}
