import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { silentLogger } from "../../platform/logging/logger.ts";
import { appendInTransaction } from "../events/append-in-transaction.ts";
import { emitHour } from "../checkpoints/checkpoint-publisher.ts";
import type { LogIdentity } from "../checkpoints/log-keys.ts";
import { openLogWorld, type LogWorld } from "../../../test/log/log-world.ts";
import { backupStatement, restoreTestStatement, signedEnvelope } from "../../../test/log/signed-receipt.ts";
import { placed, submitReceipt } from "../../../test/log/submit.ts";
import type { KeptHead } from "./check-kept-heads.ts";
import type { Finding, FindingCode } from "./finding.ts";
import { fsck, type FsckResult } from "./fsck.ts";

const RECEIPTS = 300;
let world: LogWorld;
let identity: LogIdentity;

beforeAll(async () => {
  world = await openLogWorld();
  const replica = world.addReplica();
  identity = replica.signer.identity;
  const org = await world.addOrg();
  await world.addOrg();
  const agent = await world.addAgent(org);
  const backup = await world.addBackup(agent);
  placed(await submitReceipt(replica, agent, signedEnvelope(agent, backupStatement(agent, backup))));
  await world.database.transaction().execute((tx) =>
    appendInTransaction(tx, [
      {
        orgId: org,
        kind: "backup_missed",
        sourceId: backup.sourceId,
        actorId: "service",
        occurredAt: new Date(),
        detail: { late_s: 60 },
      },
    ]),
  );
  await Promise.all(
    Array.from({ length: RECEIPTS }, (_, n) =>
      submitReceipt(
        replica,
        agent,
        signedEnvelope(agent, restoreTestStatement(agent, backup, { previous_receipt_sha256: hex(n) })),
      ),
    ),
  );
  const publisher = {
    pool: world.pool,
    signer: replica.signer,
    logger: silentLogger,
    signal: new AbortController().signal,
  };
  expect(await emitHour(publisher, new Date("2026-11-21T09:00:00Z"))).toBe(true);
});
afterAll(() => world.close());

const hex = (n: number): string => n.toString(16).padStart(64, "0");

async function check(kept?: Map<string, KeptHead[]>): Promise<FsckResult & { found: Finding[] }> {
  const found: Finding[] = [];
  const onFinding = (finding: Finding): unknown => found.push(finding);
  const result = await fsck({
    pool: world.pool,
    files: null,
    identity,
    onFinding,
    ...(kept === undefined ? {} : { kept }),
  });
  expect(result.findings).toBe(found.length);
  return { ...result, found };
}

// Each test damages a copy of the truth: what a statement changed is put back from a table beside
// it.
beforeEach(async () => {
  for (const table of TABLES) {
    await world.pool.query(`create table if not exists sound_${table} as table ${table}`);
    await world.pool.query(`truncate ${table}`);
    await world.pool.query(`insert into ${table} table sound_${table}`);
  }
});

const TABLES = ["logs", "log_leaves", "log_tiles", "log_heads", "log_emissions", "receipts", "events"];

test("fsck finds nothing wrong with the service's own logs, and looked at all of them", async () => {
  const { found, counts } = await check();
  expect(found).toEqual([]);
  expect(counts).toMatchObject({
    logs: 2,
    leaves: RECEIPTS + 2,
    receipts: RECEIPTS + 1,
    events: 1,
    tiles: 1,
    checkpoints: 2,
  });
  expect(counts.heads).toBeGreaterThan(4);
});

/** Changes one byte in the middle. */
const flip = (column: string): string =>
  `${column} = set_byte(${column}, length(${column}) / 2, get_byte(${column}, length(${column}) / 2) # 1)`;

const damages: readonly [what: string, sql: string, code: FindingCode][] = [
  ["a leaf", `update log_leaves set ${flip("leaf")} where log_index = 7`, "leaf"],
  ["a leaf's hash", `update log_leaves set ${flip("leaf_hash")} where log_index = 7`, "leaf"],
  ["a leaf that is gone", "delete from log_leaves where log_index = 7", "leaf"],
  [
    "the last leaf gone",
    "delete from log_leaves where log_index = (select max(log_index) from log_leaves)",
    "log_row",
  ],
  ["a tile", `update log_tiles set ${flip("hashes")}`, "tile"],
  ["a tile's root", `update log_tiles set ${flip("root_hash")}`, "tile"],
  ["a tile that is gone", "delete from log_tiles", "tile"],
  [
    "a tile too many",
    "insert into log_tiles select org_id, level, 1, root_hash, hashes from log_tiles",
    "tile",
  ],
  ["a head", `update log_heads set ${flip("root_hash")} where tree_size = 1`, "head"],
  ["the empty log's head", `update log_heads set ${flip("root_hash")} where tree_size = 0`, "head"],
  [
    "a head of more leaves than there are",
    "insert into log_heads select org_id, 100000, root_hash, now() from log_heads where tree_size = 1",
    "head",
  ],
  [
    "the newest head gone",
    "delete from log_heads where tree_size = (select max(tree_size) from log_heads)",
    "head",
  ],
  ["the log's root", `update logs set ${flip("root_hash")}`, "log_row"],
  ["the log's size", "update logs set tree_size = tree_size + 1", "log_row"],
  ["the log's right edge", `update logs set ${flip("right_edge")} where right_edge <> ''`, "log_row"],
  ["the log's origin", "update logs set origin = origin || 'x'", "log_row"],
  ["a log that is gone", "delete from logs", "log_missing"],
  ["a checkpoint's root", `update log_emissions set ${flip("root_hash")}`, "checkpoint"],
  [
    "a checkpoint's size",
    "update log_emissions set tree_size = tree_size - 1 where tree_size > 0",
    "checkpoint",
  ],
  [
    "a checkpoint's time",
    "update log_emissions set emitted_at = emitted_at + interval '1 second'",
    "checkpoint",
  ],
  [
    "a checkpoint's signature",
    "update log_emissions set checkpoint = translate(checkpoint, 'AB', 'BA')",
    "checkpoint",
  ],
  [
    "a checkpoint without its cosignature",
    "update log_emissions set checkpoint = regexp_replace(checkpoint, '[^\\n]*/time [^\\n]*\\n$', '')",
    "checkpoint",
  ],
  ["an envelope", `update receipts set ${flip("envelope")} where log_index = 9`, "envelope"],
  [
    "an envelope's keyid",
    `update receipts set envelope = convert_to(replace(convert_from(envelope, 'UTF8'), 'SHA256:', 'SHA255:'), 'UTF8') where log_index = 9`,
    "envelope",
  ],
  ["a payload's hash", `update receipts set ${flip("payload_sha256")} where log_index = 9`, "entry_differs"],
  [
    "an envelope's hash",
    `update receipts set ${flip("envelope_sha256")} where log_index = 9`,
    "entry_differs",
  ],
  ["a receipt's leaf hash", `update receipts set ${flip("leaf_hash")} where log_index = 9`, "entry_differs"],
  [
    "a receipt's predecessor",
    `update receipts set ${flip("previous_receipt_sha256")} where log_index = 9`,
    "entry_differs",
  ],
  ["a result", "update receipts set result = 'failed' where log_index = 9", "entry_differs"],
  ["a receipt's index", "update receipts set log_index = 100000 where log_index = 9", "entry_unlogged"],
  ["a receipt's time", "update receipts set created_at = now() where log_index = 9", "entry_differs"],
  [
    "when a receipt's run ended",
    "update receipts set happened_at = happened_at + interval '1 ms' where log_index = 9",
    "entry_differs",
  ],
  ["a receipt's backup", "update receipts set backup_id = source_id where log_index = 9", "entry_differs"],
  ["a receipt that is gone", "delete from receipts where log_index = 9", "entry_missing"],
  [
    "an envelope in another receipt's place",
    "update receipts set envelope = (select envelope from receipts where log_index = 10) where log_index = 9",
    "entry_differs",
  ],
  [
    "a receipt that no leaf is of",
    `insert into receipts select 'rcpt_2x4y6z8a0b1c2d3e4f5g6h7j8k', org_id, kind, source_id, agent_id, backup_id, result,
       sha256('x'), payload_sha256, null, envelope, log_index, leaf_hash, created_at, happened_at from receipts where log_index = 9`,
    "entry_unlogged",
  ],
  ["an event's body", `update events set ${flip("body")}`, "entry_differs"],
  ["an event's leaf hash", `update events set ${flip("leaf_hash")}`, "entry_differs"],
  ["an event's kind", "update events set kind = 'agent_silent'", "entry_differs"],
  ["an event's source", "update events set source_id = null", "entry_differs"],
  ["an event's time", "update events set occurred_at = occurred_at + interval '1 ms'", "entry_differs"],
  ["an event that is gone", "delete from events", "entry_missing"],
];

test.each(damages)("fsck finds %s", async (_what, sql, code) => {
  expect((await world.pool.query(sql)).rowCount).toBeGreaterThan(0);
  const { found } = await check();
  expect(found.map((finding) => finding.code)).toContain(code);
});

test("an agent's key that is not the one that signed", async () => {
  await world.pool.query(`update agents set ${flip("public_key")}`);
  const { found } = await check();
  await world.pool.query(`update agents set ${flip("public_key")}`);
  expect(found).toHaveLength(RECEIPTS + 1);
  expect(new Set(found.map(({ code }) => code))).toEqual(new Set(["envelope"]));
});

test("fsck with other keys finds that it did not sign these heads", async () => {
  const other = await openLogWorld();
  const found: Finding[] = [];
  await fsck({
    pool: world.pool,
    files: null,
    identity: other.addReplica().signer.identity,
    onFinding: (finding) => found.push(finding),
  });
  await other.close();
  expect(found.map(({ code }) => code)).toEqual(["checkpoint", "checkpoint"]);
});

describe("heads that are kept outside the database", () => {
  interface Row {
    org_id: string;
    tree_size: number;
    root_hash: Buffer;
  }
  let newest: Row;
  beforeEach(async () => {
    const { rows } = await world.pool.query<Row>("select * from log_heads order by tree_size desc limit 1");
    newest = rows[0] as Row;
  });
  const kept = (change: Partial<Row> = {}): Map<string, KeptHead[]> => {
    const { org_id, tree_size: size, root_hash: rootHash } = { ...newest, ...change };
    return new Map([[org_id, [{ origin: `log/${org_id}`, size, rootHash, where: "signed-heads" }]]]);
  };

  test("agree with the log that they were signed for", async () => {
    expect((await check(kept())).found).toEqual([]);
  });

  test("show a log that was set back", async () => {
    const { found } = await check(kept({ tree_size: newest.tree_size + 3 }));
    expect(found).toMatchObject([{ code: "signed_head", orgId: newest.org_id }]);
    expect(found[0]?.message).toMatch(/set back$/);
  });

  test("show a log that was set back and went on with others, which alone is intact", async () => {
    expect((await check()).found).toEqual([]);
    const { found } = await check(kept({ tree_size: newest.tree_size - 1 }));
    expect(found).toMatchObject([{ code: "signed_head", orgId: newest.org_id }]);
    expect(found[0]?.message).toMatch(/set back and went on$/);
  });

  test("include the one that stopped the log", async () => {
    await world.pool.query(
      "update logs set missing_head_size = tree_size + 1, missing_head_root = sha256('lost') where org_id = $1",
      [newest.org_id],
    );
    expect((await check(new Map())).found).toMatchObject([
      { code: "signed_head", message: expect.stringContaining("the mark that stopped this log") },
    ]);
  });

  test("show a log that the database does not know", async () => {
    expect((await check(kept({ org_id: "org_lost" }))).found).toMatchObject([
      { code: "signed_head", orgId: "org_lost" },
    ]);
  });
});
