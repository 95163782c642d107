import {
  canonicalJson,
  CompactRange,
  formatLeaf,
  type Hash,
  leafHash,
  proveInclusion,
  sha256,
  toHex,
  utf8,
} from "@attestore/proof";
import { expect, test } from "vitest";
import { ids, LOG_NAME, signedCheckpoint } from "../../../proof/test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../../proof/test/signing-keys.ts";
import { checkEvent } from "./event-inclusion.ts";

const log = await ed25519Key(3);
const logKey = verifierOf(log, LOG_NAME);
const said = {
  kind: "backup_failed",
  source_id: ids.source,
  occurred_at: "2026-11-20T02:00:00.000Z",
  detail: { code: "dump_failed", ratio: 0.25, nested: { b: 1, a: [null, "ü"] } },
};
const id = "evt_01jd3gqq8zb14p1s0a5r2h0y8f";
const leaf = formatLeaf({
  kind: said.kind,
  org_id: ids.org,
  id,
  actor_id: ids.agent,
  recorded_at: "2026-11-20T02:00:01.000Z",
  body_sha256: toHex(sha256(utf8(canonicalJson(said)))),
});
const record = {
  ...said,
  id,
  org_id: ids.org,
  created_at: "2026-11-20T02:00:01.000Z",
  actor: { kind: "agent" as const, id: ids.agent },
  log_index: 2,
  leaf_hash: toHex(leafHash(leaf)),
};

const nodes = new Map<string, Hash>();
const range = CompactRange.empty();
for (let n = 0; n < 5; n += 1)
  range.append(leafHash(n === 2 ? leaf : utf8(`leaf ${n}`)), (level, index, node) =>
    nodes.set(`${level}/${index}`, node),
  );
const hashes = proveInclusion(2, 5, (level, index) => nodes.get(`${level}/${index}`) ?? new Uint8Array(0));
const proof = {
  inclusion: { log_index: 2, tree_size: 5, hashes: hashes.map(toHex) },
  consistency: null,
  checkpoint: await signedCheckpoint(log, 5, range.root()),
};

type Given = Parameters<typeof checkEvent>;

const results = async (event: Given[0], given: Given[1], key = logKey) =>
  Object.fromEntries((await checkEvent(event, given, key)).map(({ id: check, result }) => [check, result]));

const held = { event: "held", checkpoint: "held", inclusion: "held" };

test("an unchanged event and its proof are verified", async () => {
  expect(await results(record, proof)).toEqual(held);
});

test.each([
  ["its detail", { detail: { ...said.detail, ratio: 0.26 } }],
  ["its kind", { kind: "restore_failed" }],
  ["its source", { source_id: ids.backup.replace("bkp", "src") }],
  ["a backup that it did not name", { backup_id: ids.backup }],
  ["when it happened", { occurred_at: "2026-11-20T02:00:00.001Z" }],
  ["when it was recorded", { created_at: "2026-11-20T02:00:01.001Z" }],
  ["whose doing it was", { actor: { kind: "service" as const, id: "service" } }],
  ["its organisation", { org_id: ids.otherOrg }],
  ["its id", { id: "evt_01jd3gqq8zb14p1s0a5r2h0y8g" }],
])("an event with %s changed fails", async (_what, change) => {
  const changed = await results({ ...record, ...change }, proof);
  expect(changed).toEqual({ ...held, event: "failed", inclusion: "failed" });
});

test("a malformed record fails without throwing", async () => {
  const odd = { ...record, created_at: "yesterday" };
  expect(await results(odd, proof)).toEqual({ ...held, event: "failed", inclusion: "not_checked" });
});

test.each([
  ["a hash", { ...proof, inclusion: { ...proof.inclusion, hashes: ["ab".repeat(32)] } }],
  ["no hash", { ...proof, inclusion: { ...proof.inclusion, hashes: ["xy"] } }],
  ["another leaf's index", { ...proof, inclusion: { ...proof.inclusion, log_index: 1 } }],
  ["another size", { ...proof, inclusion: { ...proof.inclusion, tree_size: 4 } }],
])("a proof with %s fails", async (_what, changed) => {
  expect(await results(record, changed)).toEqual({ ...held, inclusion: "failed" });
});

test("a checkpoint under another key fails", async () => {
  const other = verifierOf(await ed25519Key(4), LOG_NAME);
  expect(await results(record, proof, other)).toEqual({
    event: "held",
    checkpoint: "failed",
    inclusion: "not_checked",
  });
});
