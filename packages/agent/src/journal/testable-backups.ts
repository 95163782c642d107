import { join } from "node:path";
import { makeDirectory, replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/** The backups of a source that were kept when this host last asked. */
export interface TestableBackups {
  readonly v: 1;
  readonly at: string;
  readonly backup_ids: readonly string[];
}

/** `status` makes no request, so the answer that a restore test got is written down. */
export async function rememberTestable(layout: Layout, slug: string, ids: readonly string[]): Promise<void> {
  await makeDirectory(layout.draws);
  const kept: TestableBackups = { v: 1, at: new Date().toISOString(), backup_ids: ids };
  await replaceJsonFile(fileOf(layout, slug), kept);
}

/** Null if no restore test of the source has picked its backup. */
export async function readTestable(layout: Layout, slug: string): Promise<TestableBackups | null> {
  return (await readJson(fileOf(layout, slug))) as TestableBackups | null;
}

function fileOf(layout: Layout, slug: string): string {
  return join(layout.draws, `kept-${slug}.json`);
}
