import { newId } from "@attestore/contract";
import type { Profile } from "@attestore/proof";
import { expect } from "vitest";
import { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { PassedBefore } from "../../src/checks/passed-tests.ts";

const HOUR_MS = 3600 * 1000;

/** What one restore test saw that passed an hour ago. */
export function seenIn(
  checks: PassedBefore["tests"][number]["checks"],
  mayShrink: readonly string[] = [],
  unnamed: ReadonlyMap<string, bigint> = new Map(),
): EarlierTests {
  const at = new Date(Date.now() - HOUR_MS).toISOString();
  const backupId = newId("backup", Date.parse(at));
  const test = { at, backupId, madeAt: at };
  return new EarlierTests({
    source: "shop",
    tests: [{ ...test, checks }],
    unnamed: [...unnamed].map(([name, rows]) => ({ name, seen: [{ rows: Number(rows), test }] })),
    mayShrink,
  });
}

/** The same of a test that saw exactly the tables that a backup names. */
export function seenTables({
  sourceMetadata,
}: {
  readonly sourceMetadata: Readonly<Record<string, unknown>>;
}): EarlierTests {
  const tables = sourceMetadata["tables"] as readonly { name: string; rows?: number }[];
  return seenIn(tables.map(({ name, rows = 0 }) => ({ id: `inferred:rows:${name}`, observed: { rows } })));
}

/** What three restore tests saw that passed on the days before 23 November 2026, all alike. */
export function threeAlike(source: string, profile: Profile | undefined): EarlierTests {
  const tests = ["2026-11-20", "2026-11-19", "2026-11-18"].map((day) => {
    const at = `${day}T03:00:00.000Z`;
    return { at, madeAt: at, backupId: `bkp_${day}`, checks: [], ...(profile ? { profile } : {}) };
  });
  return new EarlierTests({ source, tests, now: Date.parse("2026-11-23T12:00:00Z") });
}

/** What `inferred:kept` observes if each of `tables` tables is still there. */
export function keptAll(tables: number): unknown {
  return expect.objectContaining({
    id: "inferred:kept",
    result: "passed",
    observed: expect.objectContaining({ tables, gone: 0 }) as unknown,
  });
}
