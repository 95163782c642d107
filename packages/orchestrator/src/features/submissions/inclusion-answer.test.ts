import { formatLeaf } from "@attestore/proof";
import { expect, test } from "vitest";
import { inclusionAnswer } from "./inclusion-answer.ts";

const inclusion = {
  id: "rcpt_01jd3gqq8zb14p1s0a5r2h0y8f",
  origin: "log.example.test/org_01jd3gqk7vfx0t6r4t9m2c8w5a",
  logIndex: 2,
  leaf: formatLeaf({
    kind: "backup",
    org_id: "org_01jd3gqk7vfx0t6r4t9m2c8w5a",
    id: "rcpt_01jd3gqq8zb14p1s0a5r2h0y8f",
    actor_id: "agent_01jd3gqm3wey1s8p6x2n9d7v4c",
    recorded_at: "2026-11-20T02:00:42.000Z",
    body_sha256: "ab".repeat(32),
    signature: "YWJj",
  }),
  leafHash: new Uint8Array(32).fill(1),
  treeSize: 3,
  hashes: [new Uint8Array(32).fill(2), new Uint8Array(32).fill(0xff)],
  checkpoint: "log.example.test/org\n3\nAAAA\n\n— log.example.test/org BBBB\n",
};

// Remembered answers are made again from the log for as long as their keys live: 30 days. A version
// that changes these bytes breaks the promise to those who repeat a request across the upgrade.
test("the answer's bytes never change", () => {
  const { status, body } = inclusionAnswer("receipt_id", inclusion, false);
  expect(status).toBe(201);
  expect(body.toString()).toBe(
    `{"receipt_id":"rcpt_01jd3gqq8zb14p1s0a5r2h0y8f","log_index":2,"leaf":{"actor_id":"agent_01jd3gqm3wey1s8p6x2n9d7v4c",` +
      `"body_sha256":"${"ab".repeat(32)}","id":"rcpt_01jd3gqq8zb14p1s0a5r2h0y8f","kind":"backup",` +
      `"org_id":"org_01jd3gqk7vfx0t6r4t9m2c8w5a","recorded_at":"2026-11-20T02:00:42.000Z","signature":"YWJj","v":1},` +
      `"leaf_hash":"${"01".repeat(32)}","log_id":"log.example.test/org_01jd3gqk7vfx0t6r4t9m2c8w5a",` +
      `"inclusion_proof":{"log_index":2,"tree_size":3,"hashes":["${"02".repeat(32)}","${"ff".repeat(32)}"]},` +
      `"checkpoint":"log.example.test/org\\n3\\nAAAA\\n\\n— log.example.test/org BBBB\\n"}`,
  );
});

test("a tree of one leaf has a proof without hashes", () => {
  const { body } = inclusionAnswer("event_id", { ...inclusion, logIndex: 0, treeSize: 1, hashes: [] }, false);
  expect(JSON.parse(body.toString())).toMatchObject({ inclusion_proof: { hashes: [] } });
});
