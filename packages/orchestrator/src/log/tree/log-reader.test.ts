import { EMPTY_ROOT, openCheckpoint, verifyConsistency, verifyInclusion } from "@attestore/proof";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readHeadOfSize, readNewestCheckpoint } from "../heads/heads.ts";
import { logVerifier } from "../checkpoints/log-keys.ts";
import { findLeaf, readConsistencyProof, readInclusionProof } from "./log-reader.ts";
import { readTile } from "./read-tile.ts";
import { withSession, type SqlSession } from "../../platform/database/sql-session.ts";
import { appendLeaves } from "../../../test/log/cheap-leaves.ts";
import { openLogWorld, type LogWorld } from "../../../test/log/log-world.ts";

let world: LogWorld;
beforeAll(async () => {
  world = await openLogWorld();
});
afterAll(() => world.close());

const read = <T>(use: (session: SqlSession) => Promise<T>): Promise<T> => withSession(world.pool, use);

async function requireInclusion(orgId: string, index: number, treeSize: number): Promise<void> {
  await read(async (session) => {
    const { rows } = await world.pool.query<{ leaf_hash: Buffer }>(
      "select leaf_hash from log_leaves where org_id = $1 and log_index = $2",
      [orgId, index],
    );
    const head = await readHeadOfSize(session, orgId, treeSize);
    const leafHash = rows[0]?.leaf_hash;
    if (head === null || leafHash === undefined) throw new Error(`no head of ${treeSize} or leaf ${index}`);
    const hashes = await readInclusionProof(session, orgId, index, head);
    verifyInclusion({
      leafIndex: BigInt(index),
      treeSize: BigInt(treeSize),
      leafHash,
      rootHash: head.rootHash,
      hashes,
    });
  });
}

async function requireConsistency(orgId: string, from: number, to: number): Promise<void> {
  await read(async (session) => {
    const [fromHead, toHead] = [
      await readHeadOfSize(session, orgId, from),
      await readHeadOfSize(session, orgId, to),
    ];
    if (fromHead === null || toHead === null) throw new Error("no such head");
    const hashes = await readConsistencyProof(session, orgId, from, toHead);
    verifyConsistency({
      from: BigInt(from),
      to: BigInt(to),
      fromRoot: fromHead.rootHash,
      toRoot: toHead.rootHash,
      hashes,
    });
  });
}

test("proofs hold on both sides of every tile border up to the second level, and only full tiles are stored", async () => {
  const orgId = await world.addOrg();
  const sizes = [1, 255, 256, 257, 511, 512, 513, 65_535, 65_536, 65_537, 66_000];
  let size = 0;
  for (const to of sizes) {
    while (size < to) {
      const more = Math.min(to - size, 20_000);
      await appendLeaves(world.pool, orgId, more);
      size += more;
    }
  }
  for (const [i, treeSize] of sizes.entries()) {
    for (const index of [0, 254, 255, 256, 65_535, treeSize - 1])
      if (index < treeSize) await requireInclusion(orgId, index, treeSize);
    for (const from of sizes.slice(0, i + 1)) await requireConsistency(orgId, from, treeSize);
  }
  const tiles = await world.pool.query<{ level: number; count: number }>(
    "select level, count(*) from log_tiles where org_id = $1 group by level order by level",
    [orgId],
  );
  expect(tiles.rows).toEqual([
    { level: 0, count: 257 },
    { level: 1, count: 1 },
  ]);
});

test("any interleaving of appends and proofs: every proof asked for at any time holds", async () => {
  const action = fc.oneof(
    fc.record({ append: fc.integer({ min: 1, max: 400 }) }),
    fc.record({
      leaf: fc.double({ min: 0, max: 1, noNaN: true }),
      head: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), async (actions) => {
      const orgId = await world.addOrg();
      const heads: number[] = [];
      for (const one of [{ append: 1 }, ...actions]) {
        if ("append" in one) {
          await appendLeaves(world.pool, orgId, one.append);
          heads.push((heads.at(-1) ?? 0) + one.append);
          continue;
        }
        const treeSize = heads[Math.floor(one.head * (heads.length - 1))] ?? 1;
        await requireInclusion(orgId, Math.floor(one.leaf * (treeSize - 1)), treeSize);
        await requireConsistency(orgId, treeSize, heads.at(-1) ?? 1);
      }
    }),
    { numRuns: 15 },
  );
});

test("a proof in the newest head does not need the unfinished tile; with a damaged edge it is read", async () => {
  const orgId = await world.addOrg();
  await appendLeaves(world.pool, orgId, 300);
  const change = (sql: string): Promise<unknown> => world.pool.query(sql, [orgId]);
  await change(
    "update logs set right_edge = substring(right_edge for length(right_edge) - 1) || '\\x00' where org_id = $1",
  );
  await requireInclusion(orgId, 10, 300);
  await requireInclusion(orgId, 290, 300);
  await change("update log_leaves set leaf_hash = sha256('') where org_id = $1 and log_index = 280");
  await expect(requireInclusion(orgId, 10, 300)).rejects.toThrow();
  const other = await world.addOrg();
  await appendLeaves(world.pool, other, 300);
  await world.pool.query(
    "update log_leaves set leaf_hash = sha256('') where org_id = $1 and log_index = 280",
    [other],
  );
  await requireInclusion(other, 10, 300);
});

test("the log finds a leaf by its hash; a tile as large as the log has it and no larger", async () => {
  const orgId = await world.addOrg();
  await appendLeaves(world.pool, orgId, 300);
  const { rows } = await world.pool.query<{ leaf_hash: Buffer }>(
    "select leaf_hash from log_leaves where org_id = $1 and log_index = 290",
    [orgId],
  );
  const hash = rows[0]?.leaf_hash ?? Buffer.alloc(32);
  await read(async (session) => {
    expect(await findLeaf(session, orgId, hash)).toBe(290);
    expect(await findLeaf(session, orgId, Buffer.alloc(32))).toBeNull();
    expect(await readTile(session, orgId, { level: 0, index: 0, width: 256 })).toHaveLength(8192);
    expect(await readTile(session, orgId, { level: 0, index: 1, width: 44 })).toHaveLength(44 * 32);
    expect(await readTile(session, orgId, { level: 1, index: 0, width: 1 })).toHaveLength(32);
    for (const tile of [
      { level: 0, index: 1, width: 45 },
      { level: 0, index: 2, width: 1 },
      { level: 1, index: 0, width: 2 },
      { level: 7, index: 0, width: 1 },
      { level: "entries" as const, index: 1, width: 45 },
    ])
      expect(await readTile(session, orgId, tile), JSON.stringify(tile)).toBeNull();
    expect(await readTile(session, orgId, { level: "entries", index: 1, width: 44 })).not.toBeNull();
  });
});

test("a log without a leaf has a signed head", async () => {
  const orgId = await world.addOrg();
  const { signer } = world.addReplica();
  const head = await read((session) => readNewestCheckpoint(session, signer, orgId));
  const opened = await openCheckpoint(head.checkpoint, logVerifier(signer.identity, head.origin));
  expect(opened.size).toBe(0n);
  expect(opened.rootHash).toEqual(EMPTY_ROOT);
});
