import { newId } from "@attestore/contract";
import { type PassedBefore, Seen } from "../../src/checks/seen.ts";

const HOUR_MS = 3600 * 1000;

/** What one restore test saw that passed an hour ago. */
export function seenIn(
  checks: PassedBefore["tests"][number]["checks"],
  mayShrink: readonly string[] = [],
): Seen {
  const at = new Date(Date.now() - HOUR_MS).toISOString();
  const backupId = newId("backup", Date.parse(at));
  return new Seen({ source: "shop", tests: [{ at, backupId, madeAt: at, checks }], mayShrink });
}
