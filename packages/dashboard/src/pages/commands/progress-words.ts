import { commandText } from "../../text/commands.ts";
import { formatBytes, formatDuration, formatMilliseconds, plural } from "../../text/format.ts";
import type { Command } from "./command-state.ts";

const text = commandText.howFar;
/** What comes out of less says little. */
const RATE_AFTER_MS = 1000;

type Progress = NonNullable<Command["progress"]>;

/** `Downloaded 1.2 GB in 34 s`, `Ran 7 checks in 1.2 s`. */
export function endedWords({
  phase,
  bytes,
  checks,
  took_ms,
}: NonNullable<Progress["ended"]>[number]): string {
  const what = checks === undefined ? (bytes === 0 ? "" : formatBytes(bytes)) : plural(checks, "check");
  return [text.ended[phase] ?? phase, what, text.in(formatMilliseconds(took_ms))]
    .filter((word) => word !== "")
    .join(" ");
}

/** `Restoring: 3.1 GB of 8.0 GB, 52 MB/s, 1 min 35 s left`. */
export function progressWords({ phase, bytes, checks, total_bytes: total, phase_ms }: Progress): string {
  const doing = text.phases[phase] ?? phase;
  const spent = formatDuration(phase_ms / 1000);
  if (checks !== undefined && checks > 0)
    return `${doing}: ${text.checked(plural(checks, "check"))}, ${text.since(spent)}`;
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
