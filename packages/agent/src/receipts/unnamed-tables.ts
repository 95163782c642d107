import { join } from "node:path";
import { makeDirectory, replaceJsonFile } from "@attestore/host/durable-files";
import { FLOOR_DAYS, type UnnamedTable } from "../checks/index.ts";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

type Test = UnnamedTable["seen"][number]["test"];

const DAY_MS = 24 * 3600 * 1000;

/**
 * Counts that passed tests saw of tables beyond those that a receipt names. Only this host knows
 * them: the receipt has one digest of all of them.
 */
export async function unnamedTables(layout: Layout, slug: string): Promise<readonly UnnamedTable[]> {
  const value = (await readJson(fileOf(layout, slug))) as { tables: readonly UnnamedTable[] } | null;
  return value?.tables ?? [];
}

/** Adds the counts of a passed test. The caller holds the `work` lock. */
export async function rememberUnnamed(
  layout: Layout,
  slug: string,
  test: Test,
  counts: ReadonlyMap<string, bigint>,
  now = Date.now(),
): Promise<void> {
  const known = new Map((await unnamedTables(layout, slug)).map(({ name, seen }) => [name, seen]));
  if (counts.size === 0 && known.size === 0) return;
  const from = new Date(now - FLOOR_DAYS * DAY_MS).toISOString();
  const tables: UnnamedTable[] = [];
  for (const name of new Set([...known.keys(), ...counts.keys()])) {
    const rows = counts.get(name);
    const before = (known.get(name) ?? []).filter(({ test: { madeAt } }) => madeAt >= from);
    // A count that a later backup reached no longer sets a floor.
    const kept = before.filter(
      (each) => rows === undefined || each.rows > Number(rows) || each.test.madeAt > test.madeAt,
    );
    const seen = rows === undefined ? kept : [...kept, { rows: Number(rows), test }];
    if (seen.length > 0) tables.push({ name, seen });
  }
  await makeDirectory(layout.unnamedTables);
  await replaceJsonFile(fileOf(layout, slug), { v: 1, tables });
}

function fileOf(layout: Layout, slug: string): string {
  return join(layout.unnamedTables, `${slug}.json`);
}
