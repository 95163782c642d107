import { formatDuration } from "./times.ts";
import { formatBytes } from "@attestore/proof";
import type { ProgressLine } from "./progress-line.ts";
import type { Terminal } from "./terminal.ts";

export type Volume = "quiet" | "usual" | "verbose";

/** The terminal of a call with --quiet or --verbose. Errors are always printed. */
export function withVolume(terminal: Terminal, volume: Volume): Terminal {
  if (volume === "usual") return terminal;
  const ignore = (): void => undefined;
  if (volume === "quiet")
    return { ...terminal, note: ignore, progress: () => ({ update: ignore, clear: ignore }) };
  const detail = (text: string): void => terminal.say(terminal.onTalk.faint(text));
  return { ...terminal, detail, progress: () => toldPhases(terminal.progress(), detail) };
}

/** Also says of each phase that has ended how much it moved, and how long it took. */
function toldPhases(line: ProgressLine, detail: (text: string) => void): ProgressLine {
  let current: { name: string; since: number; bytes: number } | null = null;
  const end = (): void => {
    if (current === null) return;
    line.clear();
    detail(
      `${current.name}: ${formatBytes(current.bytes)} in ${formatDuration(performance.now() - current.since)}`,
    );
    current = null;
  };
  return {
    update: (phase, bytes, totalBytes) => {
      if (current?.name !== phase) {
        end();
        current = { name: phase, since: performance.now(), bytes };
        detail(`${phase} …`);
      }
      current.bytes = bytes;
      line.update(phase, bytes, totalBytes);
    },
    clear: () => {
      end();
      line.clear();
    },
  };
}
