import { randomBytes } from "node:crypto";
import type { CheckOutcome, Profile, TableProfile } from "@attestore/proof";
import { notesIn, type Seen, suspicionCheck } from "../checks/index.ts";
import type { Restored } from "../engines/engine.ts";

/** A receipt has this much room for a profile. */
const MAX_BYTES = 32 << 10;

/** Null for an engine without profiles, or if there is nothing to say. */
export async function profileCopy(
  restored: Restored,
  {
    key,
    seen,
    budget_ms,
    signal,
  }: {
    readonly key: Buffer | null;
    readonly seen: Seen | null;
    readonly budget_ms: number;
    readonly signal: AbortSignal;
  },
): Promise<Profile | null> {
  const found = await restored.profile?.({ key: key ?? randomBytes(32), budget_ms, signal });
  if (found === undefined) return null;
  const { files } = found;
  if (files !== undefined) {
    // Ransom notes stand out in the first test, too.
    const suspicious = seen === null ? notesIn(files) : seen.fileSuspicions(files);
    return { v: 1, tables: [], left_out: 0, suspicious, files };
  }
  if (found.tables.length === 0) return null;
  const suspicious = seen === null ? [] : found.tables.flatMap((table) => seen.suspicions(table));
  const told = new Set(suspicious.map(({ table }) => table));
  // What stands out has to be in the receipt with its numbers.
  const first = found.tables.toSorted((a, b) => Number(told.has(b.name)) - Number(told.has(a.name)));
  const tables: TableProfile[] = [];
  let room = MAX_BYTES - Buffer.byteLength(JSON.stringify(suspicious));
  for (const table of first) {
    room -= Buffer.byteLength(JSON.stringify(table)) + 1;
    if (room >= 0) tables.push(table);
  }
  return { v: 1, tables, left_out: found.left_out + found.tables.length - tables.length, suspicious };
}

/** For a source with `on_suspicion: fail`. */
export function suspicionChecks(
  profile: Profile | null,
  { onSuspicion, slug }: { readonly onSuspicion?: "tell" | "fail"; readonly slug: string },
): CheckOutcome[] {
  return profile === null || onSuspicion !== "fail" ? [] : [suspicionCheck(profile, slug)];
}
