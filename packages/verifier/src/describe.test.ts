import type { RestoreTestStatement } from "@attestore/proof";
import { expect, test } from "vitest";
import { describe } from "./describe.ts";

const statement = (observed: Record<string, unknown>): RestoreTestStatement => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: [{ name: "bkp_1", digest: { sha256: "ab".repeat(32) } }],
  predicateType: "https://attestore.dev/restore-test/v1",
  predicate: {
    org_id: "org_1",
    agent_id: "agent_1",
    source_id: "src_1",
    backup_id: "bkp_1",
    started_at: "2026-11-29T11:00:00.000Z",
    finished_at: "2026-11-29T11:00:01.000Z",
    agent_version: "0.1.0",
    previous_receipt_sha256: null,
    runtime: { kind: "process", engine: "postgresql", engine_version: "15.14" },
    result: "passed",
    checks: [
      {
        id: "inferred:kinds",
        definition_sha256: "cd".repeat(32),
        observed,
        expectation: "triggers >= 2",
        result: "passed",
        duration_ms: 1,
      },
    ],
  },
});

test("a passed test with fewer objects than before says so in a line of its own", () => {
  const lines = describe(statement({ objects: 3, triggers: 3, fewer: "triggers 3 of 4\n✓ all is well" }));
  expect(lines[1]).toMatch(/^fewer objects than in the backup before: triggers 3 of 4/);
  expect(lines[1]).not.toContain("\n");
  expect(describe(statement({ objects: 4, triggers: 4 })).join("\n")).not.toContain("fewer");
});
