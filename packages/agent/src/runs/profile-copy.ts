import { randomBytes } from "node:crypto";
import type { CheckOutcome, Profile, Suspicion, TableProfile } from "@attestore/proof";
import { notesIn, type EarlierTests, suspicionCheck } from "../checks/index.ts";
import type { Restored } from "../engines/engine.ts";

/** A receipt has this much room for a profile. */
const MAX_BYTES = 32 << 10;
/** Of that, for suspicious values. */
const MAX_SUSPICIONS_BYTES = 16 << 10;

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
    readonly seen: EarlierTests | null;
    readonly budget_ms: number;
    readonly signal: AbortSignal;
  },
): Promise<Profile | null> {
  const found = await restored.profile?.({ key: key ?? randomBytes(32), budget_ms, signal });
  if (found === undefined) return null;
  const { files } = found;
  if (files !== undefined) {
    // Ransom notes stand out in the first test, too.
    const suspicious = seen === null ? notesIn(files) : seen.profiles.fileSuspicions(files);
    return { v: 1, tables: [], left_out: 0, suspicious, files };
  }
  const all = seen === null ? [] : suspicionsOf(found.tables, seen);
  if (found.tables.length === 0 && all.length === 0) return null;
  const { suspicious, unnamed } = withinRoom(all);
  const told = new Set(suspicious.map(({ table }) => table));
  // Suspicious values must be in the receipt with their numbers.
  const first = found.tables.toSorted((a, b) => Number(told.has(b.name)) - Number(told.has(a.name)));
  const tables: TableProfile[] = [];
  let room = MAX_BYTES - bytesOf(suspicious);
  for (const table of first) {
    // Without its suspicion it would be a measure for later tests.
    if (unnamed.has(table.name)) continue;
    room -= bytesOf(table);
    if (room >= 0) tables.push(table);
  }
  return { v: 1, tables, left_out: found.left_out + found.tables.length - tables.length, suspicious };
}

function suspicionsOf(tables: readonly TableProfile[], { profiles }: EarlierTests): Suspicion[] {
  return [
    ...tables.flatMap((table) => profiles.suspicions(table)),
    ...profiles.standing(new Set(tables.map(({ name }) => name))),
    ...(tables.length === 0 ? profiles.noProfile() : []),
  ];
}

/**
 * One for each table first, then as many as there is room for. `unnamed`: tables with none of
 * theirs.
 */
function withinRoom(all: readonly Suspicion[]): { suspicious: Suspicion[]; unnamed: ReadonlySet<string> } {
  const seen = new Set<string>();
  const [firsts, others]: [Suspicion[], Suspicion[]] = [[], []];
  for (const each of all) {
    (seen.has(each.table) ? others : firsts).push(each);
    seen.add(each.table);
  }
  const suspicious: Suspicion[] = [];
  let room = MAX_SUSPICIONS_BYTES;
  for (const each of [...firsts, ...others]) {
    room -= bytesOf(each);
    if (room < 0) break;
    suspicious.push(each);
    seen.delete(each.table);
  }
  return { suspicious, unnamed: seen };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}

/** For a source with `on_suspicion: fail`. */
export function suspicionChecks(
  profile: Profile | null,
  { onSuspicion, slug }: { readonly onSuspicion?: "tell" | "fail"; readonly slug: string },
): CheckOutcome[] {
  return profile === null || onSuspicion !== "fail" ? [] : [suspicionCheck(profile, slug)];
}
