import {
  CompactRange,
  cosignatureLine,
  cosignatureMessage,
  formatCheckpoint,
  formatNote,
  formatVerifierKey,
  type Hash,
  leafHash,
  noteSignatureLine,
  openCheckpoint,
  proveConsistency,
  toHex,
  utf8,
} from "@attestore/proof";
import { expect, test } from "vitest";
import { ids, LOG_NAME } from "../../../proof/test/receipt-fixture.ts";
import { ed25519Key, type TestKey, verifierOf } from "../../../proof/test/signing-keys.ts";
import { checkWitnesses } from "./check-witness.ts";
import type { ConsistencySource } from "./observe-head.ts";

const log = await ed25519Key(3);
const logKey = verifierOf(log, LOG_NAME);
const agent = await ed25519Key(5);
const other = await ed25519Key(6);
const AT = 1_795_000_000;

function treeOf(history: string) {
  const nodes = new Map<string, Hash>();
  const range = CompactRange.empty();
  const roots: Hash[] = [range.root()];
  for (let n = 0; n < 40; n += 1) {
    range.append(leafHash(utf8(`${history} ${n}`)), (level, index, node) =>
      nodes.set(`${level}/${index}`, node),
    );
    roots.push(range.root());
  }
  return {
    roots,
    read: (level: number, index: number) => nodes.get(`${level}/${index}`) ?? new Uint8Array(0),
  };
}

const honest = treeOf("honest");
const lying = treeOf("lying");

async function note(size: number, tree = honest, witness?: TestKey): Promise<string> {
  const text = formatCheckpoint({ origin: LOG_NAME, size, rootHash: tree.roots[size] ?? new Uint8Array(0) });
  const lines = [noteSignatureLine(logKey, await log.sign(utf8(text)))];
  if (witness !== undefined) {
    const signature = await witness.sign(cosignatureMessage(AT, text));
    lines.push(cosignatureLine(verifierOf(agent, ids.agent, "cosignature/v1"), AT, signature));
  }
  return formatNote(text, lines);
}

async function record(size: number, tree = honest, witness: TestKey | undefined = agent) {
  return {
    agent_id: ids.agent,
    name: "host-1",
    verifier_key: formatVerifierKey(verifierOf(agent, ids.agent, "cosignature/v1")),
    tree_size: size,
    checkpoint: await note(size, tree, witness),
    received_at: "2026-11-21T08:00:00.000Z",
  };
}

const head = await openCheckpoint(await note(30), logKey);
const prove: ConsistencySource = (from, to) =>
  Promise.resolve(proveConsistency(Number(from), Number(to), honest.read).map(toHex));

const check = async (one: Awaited<ReturnType<typeof record>>, from = prove) =>
  (await checkWitnesses([one], logKey, head, from))[0];

test.each([0, 1, 29, 30, 31, 40])("a witness that saw %d of 30 leaves agrees with the log", async (size) => {
  const checked = await check(await record(size));
  expect(checked).toMatchObject({ timestamp_s: AT, fault: null, isCompared: true });
});

test.each([
  ["another root of this size", 30],
  ["another history, smaller", 12],
  ["another history, larger", 35],
])("%s is a fault", async (_what, size) => {
  const checked = await check(await record(size, lying));
  expect(checked).toMatchObject({ timestamp_s: AT, isCompared: false });
  expect(checked?.fault).not.toBeNull();
});

test("a missing proof, a missing cosignature, and one by another key are faults", async () => {
  expect((await check(await record(12), () => Promise.resolve(null)))?.fault).toContain("no proof that");
  const silent = { ...(await record(12)), checkpoint: await note(12) };
  expect(await check(silent)).toMatchObject({
    timestamp_s: null,
    fault: expect.stringContaining("no cosignature"),
  });
  expect(await check(await record(12, honest, other))).toMatchObject({
    timestamp_s: null,
    fault: expect.stringContaining("does not verify"),
  });
});

test("witnesses of many sizes are compared from the largest, one call each, and the rest are marked as not compared", async () => {
  const asked: bigint[] = [];
  const counting: ConsistencySource = (from, to) => {
    asked.push(from);
    return prove(from, to);
  };
  const records = await Promise.all([...Array(25).keys(), 24, 24].map((size) => record(size + 1)));
  const checked = await checkWitnesses(records, logKey, head, counting);
  expect(checked.every(({ fault }) => fault === null)).toBe(true);
  expect(checked.filter(({ isCompared }) => !isCompared).map((each) => each.record.tree_size)).toEqual(
    Array.from({ length: 15 }, (_, index) => index + 1),
  );
  expect(asked.toSorted((a, b) => Number(a - b))).toEqual(
    Array.from({ length: 10 }, (_, index) => BigInt(index + 16)),
  );
});

test("the check of a witness rejects, and says nothing about it, if the service does not answer", async () => {
  const away = () => Promise.reject(new TypeError("fetch failed"));
  await expect(check(await record(12), away)).rejects.toBeInstanceOf(TypeError);
});
