import { EarlierTests } from "../checks/index.ts";
import type { SourceConfig } from "../config/source-config.ts";
import type { Layout } from "../state/layout.ts";
import { acceptedLosses } from "./accepted-losses.ts";
import { passedTests } from "./receipt-history.ts";
import { unnamedTables } from "./unnamed-tables.ts";

/**
 * A source's counts in passed restore tests on this host, for a test of this backup; null before
 * the first.
 */
export async function readEarlierTests(
  layout: Layout,
  source: SourceConfig,
  sourceId: string,
  backupId?: string,
): Promise<EarlierTests | null> {
  const tests = await passedTests(layout, sourceId, backupId === undefined ? {} : { upTo: backupId });
  if (tests.length === 0) return null;
  return new EarlierTests({
    source: source.slug,
    ...(backupId === undefined ? {} : { backupId }),
    tests,
    unnamed: (await unnamedTables(layout, source.slug)).map(({ name, seen }) => ({
      name,
      seen: seen.filter(({ test }) => backupId === undefined || test.backupId <= backupId),
    })),
    accepted: await acceptedLosses(layout, source.slug),
    mayShrink: source.mayShrink ?? [],
    rowFloors: source.rowFloors ?? true,
  });
}
