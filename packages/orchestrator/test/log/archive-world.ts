import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { ReceiptEntry } from "../../src/features/receipts/receipt-entry.ts";
import { archiveReceipts } from "../../src/log/archive/archive-receipts.ts";
import { fsck } from "../../src/log/fsck/fsck.ts";
import { DiskFiles } from "../../src/platform/objects/disk-files.ts";
import type { ServiceFiles } from "../../src/platform/objects/service-files.ts";
import { openLogWorld, type LogWorld, type TestAgent, type TestBackup } from "./log-world.ts";
import { addOldReceipts } from "./old-receipts.ts";

const DAY_MS = 86_400_000;
const { signal } = new AbortController();
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

export let world: LogWorld;
/** The archive's; empty at the beginning of each test. */
export let directory: string;
export let files: DiskFiles;
/** Of an organisation of its own in each test. */
export let agent: TestAgent;
let backup: TestBackup;

/** For tests of the archive: a database, and for each test an organisation and an empty archive. */
export function useArchive(): void {
  beforeAll(async () => {
    world = await openLogWorld();
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "attestore-archive-"));
    files = new DiskFiles(directory);
    agent = await world.addAgent(await world.addOrg());
    backup = await world.addBackup(agent);
    return async () => {
      await rm(directory, { recursive: true });
      // fsck would verify these receipts again in each later test.
      await world.pool.query("truncate orgs cascade");
    };
  });
}

/** Receipts of that many days ago. */
export const add = (count: number, ago: number, ended_ms?: number): Promise<ReceiptEntry[]> =>
  addOldReceipts(world.pool, agent, {
    backups: [backup],
    count,
    from: daysAgo(ago),
    every_ms: 1000,
    ...(ended_ms === undefined ? {} : { ended_ms }),
  });

export const archive = (to: ServiceFiles = files, days = 100, requireStore = () => Promise.resolve()) =>
  archiveReceipts(
    { db: world.byClock, files: to, requireStore },
    { orgId: agent.orgId, before: daysAgo(days), signal },
  );

interface Row {
  id: string;
  envelope: Buffer | null;
  archived_start: number | null;
  archived_length: number | null;
}

export async function rows(): Promise<Row[]> {
  const { rows: found } = await world.pool.query<Row>(
    "select id, envelope, archived_start, archived_length from receipts where org_id = $1 order by log_index",
    [agent.orgId],
  );
  return found;
}

/** What fsck finds of this organisation. */
export async function findings(from: ServiceFiles | null = files): Promise<string[]> {
  const found: string[] = [];
  const { identity } = world.addReplica().signer;
  await fsck({
    pool: world.pool,
    identity,
    files: from,
    onFinding: ({ orgId, message }) => {
      if (orgId === agent.orgId) found.push(message);
    },
  });
  return found;
}

/** Their paths in the archive. */
export async function archivedFiles(): Promise<string[]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted();
}
