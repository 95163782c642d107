import { formatDuration } from "./times.ts";
import { formatBytes } from "@attestore/proof";

export interface ProgressLine {
  /** `totalBytes`, if known, gives the time left. */
  readonly update: (phase: string, bytes: number, totalBytes?: number) => void;
  readonly clear: () => void;
}

const REDRAW_MS = 100;

/** `write` is null if there is no terminal to draw on. */
export function progressLine(
  write: ((text: string) => void) | null,
  now: () => number = () => performance.now(),
): ProgressLine {
  if (write === null) return { update: () => undefined, clear: () => undefined };
  let phase = "";
  let phaseStarted = 0;
  let drawn = -Infinity;
  let isShown = false;
  return {
    update: (nextPhase, bytes, totalBytes) => {
      const at = now();
      if (nextPhase !== phase) {
        phase = nextPhase;
        phaseStarted = at;
        drawn = -Infinity;
      }
      if (at - drawn < REDRAW_MS) return;
      drawn = at;
      isShown = true;
      write(`\r\u001b[K${describe(phase, bytes, totalBytes, at - phaseStarted)}`);
    },
    clear: () => {
      if (isShown) write("\r\u001b[K");
      isShown = false;
    },
  };
}

function describe(phase: string, bytes: number, totalBytes: number | undefined, spent_ms: number): string {
  // Checks are counted; all other phases count bytes.
  if (phase === "checks") return `  ${phase.padEnd(9)}  ${bytes} done`;
  const parts = [`  ${phase.padEnd(9)}`, formatBytes(bytes)];
  const perMs = spent_ms > 500 ? bytes / spent_ms : 0;
  if (perMs > 0) parts.push(`${formatBytes(perMs * 1000)}/s`);
  if (totalBytes !== undefined && totalBytes > 0) {
    parts.push(`${Math.min(100, Math.floor((bytes / totalBytes) * 100))} %`);
    if (perMs > 0) parts.push(`${formatDuration(Math.max(0, totalBytes - bytes) / perMs)} left`);
  }
  return parts.join("  ");
}
