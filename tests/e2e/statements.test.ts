import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { declareSource, writeEncryptedDump, type BackupRecord } from "./harness/backups.ts";
import { seal } from "./harness/dsse.ts";
import { expectError, expectIssues } from "./harness/errors.ts";
import { attach, createOrganisation, type WireAgent } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";
import {
  backupStatement,
  check,
  restoreTestStatement,
  submit,
  type Statement,
} from "./harness/statements.ts";

/**
 * What a signed statement may say at all: the in-toto schema and the two predicates of the
 * contract's section 9.
 */

let server: Server;
let agent: WireAgent;
let backup: BackupRecord;

beforeAll(async () => {
  server = await startServer();
  agent = await attach(await createOrganisation(server));
  backup = await writeEncryptedDump(agent, await declareSource(agent));
});
afterAll(() => server.remove());

async function expectInvalid(statement: unknown): Promise<void> {
  const answer = await submit(agent, seal(agent.signer, statement));
  expectError(answer, "statement_invalid");
  expectIssues(answer);
}

const makers = { backup: backupStatement, "restore test": restoreTestStatement } as const;

const FIELDS = {
  backup: ["size_bytes", "cipher", "source_metadata"],
  "restore test": ["runtime", "result", "checks"],
} as const;
const BOTH = [
  "org_id",
  "agent_id",
  "source_id",
  "backup_id",
  "started_at",
  "finished_at",
  "agent_version",
  "previous_receipt_sha256",
] as const;

/** The statement with one place changed; the path leads there, `undefined` removes it. */
function changed(statement: Statement, path: readonly (string | number)[], value: unknown): unknown {
  const copy = structuredClone(statement) as unknown;
  let at = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  const last = path[path.length - 1] ?? "";
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

describe.each(["backup", "restore test"] as const)("the statement of a %s", (kind) => {
  const good = (): Statement => makers[kind](agent, backup);

  it.each([...BOTH, ...FIELDS[kind]])("needs %s", async (field) => {
    await expectInvalid(changed(good(), ["predicate", field], undefined));
    if (field !== "previous_receipt_sha256") await expectInvalid(changed(good(), ["predicate", field], null));
    await expectInvalid(changed(good(), ["predicate", field], 12.5));
  });

  it.each(["_type", "subject", "predicateType", "predicate"])("needs %s", async (field) => {
    await expectInvalid(changed(good(), [field], undefined));
    await expectInvalid(changed(good(), [field], null));
    await expectInvalid(changed(good(), [field], "x"));
  });

  it.each<[string, (string | number)[], unknown]>([
    ["a predicate field that is not known", ["predicate", "comment"], "hello"],
    ["the checks' former name", ["predicate", "smoke_tests"], []],
    ["a top-level field that in-toto does not have", ["comment"], "hello"],
    ["a subject field that in-toto does not have", ["subject", 0, "comment"], "hello"],
    ["in-toto v0.1", ["_type"], "https://in-toto.io/Statement/v0.1"],
    ["a predicate type of others", ["predicateType"], "https://slsa.dev/provenance/v1"],
    ["a version to come", ["predicateType"], "https://attestore.dev/restore-test/v2"],
    ["no subject", ["subject"], []],
    ["a subject without a digest", ["subject", 0, "digest"], {}],
    ["a subject with a digest in upper case", ["subject", 0, "digest", "sha256"], "AB".repeat(32)],
    ["a subject with a digest that is too short", ["subject", 0, "digest", "sha256"], "ab".repeat(31)],
    ["a subject that is no backup", ["subject", 0, "name"], "orders.dump"],
    ["a time without milliseconds", ["predicate", "started_at"], "2026-11-21T08:00:00Z"],
    ["a time with an offset", ["predicate", "finished_at"], "2026-11-21T08:00:00.000+01:00"],
    ["a day that is not in the calendar", ["predicate", "started_at"], "2026-02-30T08:00:00.000Z"],
    ["an end before its beginning", ["predicate", "finished_at"], "2020-01-01T00:00:00.000Z"],
    ["a digest of the receipt before that is none", ["predicate", "previous_receipt_sha256"], "abc"],
    ["an id of another kind", ["predicate", "org_id"], "src_01jd4qk8x5e5r8v3n6z7m4c2qp"],
    ["an id in upper case", ["predicate", "agent_id"], "agent_01JD4QK8X5E5R8V3N6Z7M4C2QP"],
    ["an empty agent version", ["predicate", "agent_version"], ""],
  ])("is refused with %s", async (_what, path, value) => {
    await expectInvalid(changed(good(), path, value));
  });

  it("is refused with a second subject", async () => {
    const statement = good();
    await expectInvalid({ ...statement, subject: [...statement.subject, ...statement.subject] });
  });

  it("is refused when its payload is not one JSON object in UTF-8", async () => {
    const text = JSON.stringify(good());
    const payloads: (string | Uint8Array)[] = [
      "null",
      "[]",
      '"statement"',
      "{",
      `${text}{}`,
      `\u{feff}${text}`,
      Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from([0xc3, 0x28]), Buffer.from(text.slice(-2))]),
      Buffer.from(text.replace('"0.1.0"', '"0.1\\ud800"')),
      `[${"[".repeat(20_000)}${"]".repeat(20_000)}]`,
      text.replace('"predicate":{', `"predicate":{"x":${'{"a":'.repeat(5000)}1${"}".repeat(5000)},`),
    ];
    for (const payload of payloads) {
      const answer = await submit(agent, seal(agent.signer, payload));
      expectError(answer, "statement_invalid");
    }
  });

  it("is refused if a field occurs twice, whatever the second one says", async () => {
    const text = JSON.stringify(good());
    await expectInvalid(text.replace('"agent_version":', '"agent_version":"9.9.9","agent_version":'));
    await expectInvalid(text.replace('"predicate":{', '"predicate":{},"predicate":{'));
  });
});

describe("the statement of a backup", () => {
  it.each<[string, (string | number)[], unknown]>([
    ["a size of nothing", ["predicate", "size_bytes"], -1],
    ["a size that is no whole number", ["predicate", "size_bytes"], 1.5],
    ["a size as text", ["predicate", "size_bytes"], "1000"],
    ["a cipher of others", ["predicate", "cipher", "name"], "rot13"],
    ["a cipher without recipients", ["predicate", "cipher", "recipients"], undefined],
    ["a cipher with more in it", ["predicate", "cipher", "secret"], "AGE-SECRET-KEY-1"],
    ["no engine", ["predicate", "source_metadata", "engine"], undefined],
    ["no engine version", ["predicate", "source_metadata", "engine_version"], undefined],
    ["no dump format", ["predicate", "source_metadata", "dump_format"], undefined],
    ["no schema hash", ["predicate", "source_metadata", "schema_hash"], undefined],
    ["a result", ["predicate", "result"], "passed"],
  ])("is refused with %s", async (_what, path, value) => {
    await expectInvalid(changed(backupStatement(agent, backup), path, value));
  });
});

describe("the statement of a restore test", () => {
  const good = (): Statement => restoreTestStatement(agent, backup);

  it("never says passed without a check", async () => {
    await expectInvalid(changed(good(), ["predicate", "checks"], []));
  });

  it("never says passed when a check failed", async () => {
    await expectInvalid(changed(good(), ["predicate", "checks"], [check("failed")]));
    await expectInvalid(changed(good(), ["predicate", "checks"], [check(), check("failed"), check()]));
  });

  it.each<[string, (string | number)[], unknown]>([
    ["another result", ["predicate", "result"], "skipped"],
    ["another result of a check", ["predicate", "checks", 0, "result"], "skipped"],
    ["a runtime of another kind", ["predicate", "runtime", "kind"], "vm"],
    ["a runtime without an engine", ["predicate", "runtime", "engine"], undefined],
    ["a runtime without a version", ["predicate", "runtime", "engine_version"], undefined],
    ["a runtime with more in it", ["predicate", "runtime", "comment"], "x"],
    ["a phase that is not known", ["predicate", "phases", "coffee_ms"], 1],
    ["a phase that is missing", ["predicate", "phases", "checks_ms"], undefined],
    ["a phase of negative time", ["predicate", "phases", "restore_ms"], -1],
    ["a phase of half a millisecond", ["predicate", "phases", "restore_ms"], 0.5],
    ["a check without an id", ["predicate", "checks", 0, "id"], undefined],
    [
      "a check without the digest of its definition",
      ["predicate", "checks", 0, "definition_sha256"],
      undefined,
    ],
    ["a check with a digest that is none", ["predicate", "checks", 0, "definition_sha256"], "xyz"],
    ["a check without what was observed", ["predicate", "checks", 0, "observed"], undefined],
    ["a check whose observation is a list", ["predicate", "checks", 0, "observed"], [1]],
    ["a check without an expectation", ["predicate", "checks", 0, "expectation"], undefined],
    ["a check without a duration", ["predicate", "checks", 0, "duration_ms"], undefined],
    ["a check with more in it", ["predicate", "checks", 0, "rows"], []],
    ["the size of a backup", ["predicate", "size_bytes"], 5],
  ])("is refused with %s", async (_what, path, value) => {
    await expectInvalid(changed(good(), path, value));
  });

  it.each<[string, (string | number)[], unknown]>([
    ["without phases", ["predicate", "phases"], undefined],
    ["in a container", ["predicate", "runtime", "kind"], "container"],
    ["at a URI", ["predicate", "runtime", "kind"], "uri"],
    ["with the digest of its image", ["predicate", "runtime", "image_digest"], `sha256:${"ab".repeat(32)}`],
    ["after another receipt", ["predicate", "previous_receipt_sha256"], "ef".repeat(32)],
    [
      "with text of every script in what was observed",
      ["predicate", "checks", 0, "observed"],
      { "naïve 🐘": "日本" },
    ],
  ])("is accepted %s", async (_what, path, value) => {
    const answer = await submit(agent, seal(agent.signer, changed(good(), path, value)));
    expect(answer.status, answer.body.toString()).toBe(201);
  });
});
