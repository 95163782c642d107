import { commandText } from "../../text/commands.ts";
import { formatBytes, formatDuration } from "../../text/format.ts";
import type { Command } from "./command-state.ts";

const text = commandText.howFar;
/** What comes out of less says little. */
const RATE_AFTER_MS = 1000;

/** `Restoring: 3.1 GB of 8.0 GB, 52 MB/s, 1 min 35 s left`. */
export function progressWords({
  phase,
  bytes,
  total_bytes: total,
  phase_ms,
}: NonNullable<Command["progress"]>): string {
  const doing = text.phases[phase] ?? phase;
  const spent = formatDuration(phase_ms / 1000);
  if (bytes === 0) return `${doing}: ${text.since(spent)}`;
  const known = total !== undefined && total > 0;
  const parts = [known ? text.of(formatBytes(bytes), formatBytes(total)) : formatBytes(bytes)];
  if (phase_ms >= RATE_AFTER_MS) {
    const perSecond = (bytes / phase_ms) * 1000;
    parts.push(text.rate(formatBytes(perSecond)));
    parts.push(
      known && total > bytes ? text.left(formatDuration((total - bytes) / perSecond)) : text.since(spent),
    );
  }
  return `${doing}: ${parts.join(", ")}`;
}
