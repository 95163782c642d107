import { execFileSync, spawnSync } from "node:child_process";
import { createHash, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  cosignatureLine,
  cosignatureMessage,
  encodeEntryBundle,
  formatNote,
  formatPublicKeyPem,
  formatSummary,
  formatVerifierKey,
  indexPage,
  noteSignatureLine,
  noteVerifier,
  parseNote,
  parsePublicKeyWire,
  parseVerifierKey,
  type EventBundle,
  type LogRange,
  type Manifest,
  type NoteVerifier,
  type PackAgents,
  type PackPolicy,
  type Predecessor,
  type ReceiptBundle,
  type ScheduledRun,
  sshFingerprint,
} from "@attestore/proof";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { leafHash, rootOf } from "./harness/merkle.ts";
import { restoreTestStatement } from "../../packages/proof/test/receipt-fixture.ts";
import type { CheckedReceipt } from "../../packages/verifier/src/pack/check-receipt.ts";
import { keptStatement } from "../../packages/verifier/src/pack/kept-statement.ts";
import { Chains, linkOf } from "../../packages/verifier/src/pack/chains.ts";
import { RunDecisions } from "../../packages/verifier/src/pack/run-decisions.ts";
import { SourceTraces } from "../../packages/verifier/src/pack/source-traces.ts";
import { checkRuns } from "../../packages/verifier/src/pack/check-runs.ts";
import { sizesToCompare } from "../../packages/verifier/src/pack/log-sizes.ts";
import { answerOfPacks } from "../../packages/verifier/src/pack/answer-of-packs.ts";
import { packsText } from "../../packages/verifier/src/pack/report-packs.ts";
import { Findings } from "../../packages/verifier/src/pack/findings.ts";
import { PackFiles } from "../../packages/verifier/src/pack/pack-files.ts";
import type { PinnedKey } from "../../packages/verifier/src/pinned-key.ts";
import type { PackOutcome } from "../../packages/verifier/src/pack/verify-pack.ts";
import { verifyPackFile } from "../../packages/verifier/src/pack/verify-pack-file.ts";
import { openFileSource } from "../../packages/verifier/src/zip/file-source.ts";
import { ZipReader } from "../../packages/verifier/src/zip/zip-reader.ts";
import {
  restoreTestStatement as restoreTestOf,
  signedEnvelope,
} from "../../packages/orchestrator/test/log/signed-receipt.ts";
import { type History, makeHistory } from "../../packages/orchestrator/test/history.ts";
import { newKeyPair, type TestAgent, type TestUser } from "../../packages/orchestrator/test/service.ts";
import { appendInTransaction } from "../../packages/orchestrator/src/log/append-in-transaction.ts";
import { signedRotation } from "../../packages/orchestrator/test/log/signed-rotation.ts";
import { signedEventBody } from "../../packages/orchestrator/test/log/signed-event.ts";
import { eventOf, FORGERIES, later, runsOf, setRuns, tileOf } from "./harness/forgeries.ts";
import {
  editJson,
  emit,
  type Files,
  filesOf,
  makeOrganisation,
  MINUTE_MS,
  type Organisation,
  save,
  withManifest,
  writeZip,
} from "./harness/packs.ts";

const directory = mkdtempSync(join(tmpdir(), "attestore-packs-"));
const file = (name: string): string => join(directory, name);
let organisation: Organisation;
let good: Files;
let logKey: NoteVerifier;
let vkey: string;

beforeAll(async () => {
  organisation = await makeOrganisation('Example <script>alert("1")</script> & Sons');
  await save(file("good.zip"), await organisation.pack());
  good = await filesOf(file("good.zip"));
  vkey = organisation.agent.log.verifier_key;
  logKey = parseVerifierKey(vkey);
});
afterAll(async () => {
  await organisation.close();
  rmSync(directory, { recursive: true });
});

// The database's clock cannot be set, and the log would notice that it does not go along.
vi.mock("../../packages/orchestrator/src/log/clock-off.ts", async (original) => ({
  ...(await original<object>()),
  requireClocksAgree: () => undefined,
}));

/**
 * Does the work with everybody's clock `ms` milliseconds ahead, or behind if it is negative.
 */
async function shifted<T>(ms: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

/** A key that whoever asks took from its host. */
const pinned = (agent: Pick<TestAgent, "publicKeyWire">): PinnedKey => {
  const publicKey = parsePublicKeyWire(agent.publicKeyWire);
  const source = { kind: "file", where: "agent.pub" } as const;
  return { publicKey, fingerprint: sshFingerprint(publicKey), agentId: null, since: null, source };
};

/** As an auditor who has the log's key, and from the host the one agent key that signed first. */
const verify = (
  path: string,
  key: NoteVerifier | null = logKey,
  agents: readonly TestAgent[] = [organisation.agent],
): Promise<PackOutcome> => verifyPackFile(path, { logKey: key ?? undefined, keys: agents.map(pinned) });

const idsOf = ({ checks }: PackOutcome, result: string): string[] =>
  checks.filter((check) => check.result === result).map(({ id }) => id);

/** As somebody who has only the file: with a manifest that agrees, or without. */
async function verifyChanged(files: Files): Promise<PackOutcome> {
  await writeZip(file("changed.zip"), files);
  return verify(file("changed.zip"));
}

/** As the service, whose key signs what was changed. */
async function verifyForged(files: Files): Promise<PackOutcome> {
  const { signer } = organisation.service;
  return verifyChanged(await withManifest(files, (origin, text) => signer.signText(origin, text)));
}

describe("an unchanged pack", () => {
  test("is true, with every check made and the right numbers", async () => {
    const outcome = await verify(file("good.zip"));
    expect(idsOf(outcome, "failed")).toEqual([]);
    expect(idsOf(outcome, "not_checked")).toEqual([]);
    expect(outcome.verdict).toBe("true");
    const { totals, sources, exceptions, policy_changes } = outcome.summary ?? expect.unreachable();
    expect(totals).toMatchObject({ receipts: 8, backups: 4, restore_tests: { passed: 3, failed: 1 } });
    const { total, passed, missed, failed } = totals.scheduled_restore_tests;
    expect([total, failed]).toEqual([passed + missed, 0]);
    expect(missed).toBeGreaterThan(15);
    expect(passed).toBeGreaterThan(0);
    expect(sources[0]).toMatchObject({
      restore_failed: 1,
      rpo: { met: true },
      rto: { achieved_s: 42, met: true },
    });
    expect(exceptions.items.filter(({ what }) => what === "restore_test_missed")).toHaveLength(missed);
    expect(policy_changes.items.map(({ changed }) => changed)).toEqual([
      ["objectives", "schedule"],
      ["retention"],
    ]);
  });

  test(`is "cannot tell" without the log's key, and false under another key`, async () => {
    const without = await verify(file("good.zip"), null);
    expect([without.verdict, idsOf(without, "not_checked")]).toEqual(["cannot_tell", ["log_key"]]);
    const stranger = await organisation.service.attach(await organisation.service.addOrg());
    const other = await verify(file("good.zip"), parseVerifierKey(stranger.log.verifier_key));
    expect(other.verdict).toBe("false");
    expect(idsOf(other, "failed")).toEqual(
      expect.arrayContaining(["log_key", "checkpoint", "manifest_signature"]),
    );
  });

  test("is checked with keys from hosts, which are compared with those in the pack", async () => {
    const { agent, rotated } = organisation;
    const [first, second, other] = [agent, rotated, newKeyPair()].map(pinned) as [
      PinnedKey,
      PinnedKey,
      PinnedKey,
    ];
    const [older, newer] = [first.fingerprint, second.fingerprint];
    // The key that was given leads to the other one by the rotation that both signed, forwards and
    // back.
    for (const [key, expected] of [
      [first, { [older]: ["file", 6], [newer]: ["rotation", 2] }],
      [second, { [older]: ["rotation", 6], [newer]: ["file", 2] }],
    ] as const) {
      const { verdict, basis } = await verifyPackFile(file("good.zip"), { logKey, keys: [key] });
      expect(verdict).toBe("true");
      const told = basis?.agent_keys.map(({ fingerprint, from, receipts }) => [
        fingerprint,
        [from, receipts],
      ]);
      expect(Object.fromEntries(told ?? [])).toEqual(expected);
      expect(basis).toMatchObject({
        log_key: { verifier_key: vkey, from: "given" },
        clock: { entries: "service", witnessed_by: null },
        witnesses: [],
      });
    }
    const forged = await verifyPackFile(file("good.zip"), { logKey, keys: [first, other] });
    expect([forged.verdict, idsOf(forged, "failed")]).toEqual(["false", ["agent_keys"]]);
    const asOther = { ...first, agentId: agent.id.replace(/.$/, (last) => (last === "0" ? "1" : "0")) };
    const swapped = await verifyPackFile(file("good.zip"), { logKey, keys: [asOther] });
    expect([swapped.verdict, idsOf(swapped, "failed")]).toEqual(["false", ["agent_keys"]]);
  });

  test("shows an organisation's name as text, whatever the name contains", () => {
    const page = String(good.get("index.html"));
    expect(page).toContain("Example &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; Sons");
    expect(page).not.toMatch(/<script|javascript:|<(img|link|iframe)|(src|href)=|@import|url\(/i);
  });

  test("is true for a period before the last entries too, between two hourly checkpoints", async () => {
    const { service, org, agent, pack } = organisation;
    const report = (n: number) =>
      agent.post("/v1/events", {
        kind: "backup_failed",
        occurred_at: new Date().toISOString(),
        detail: { n },
      });
    for (let n = 0; n < 260; n += 20) await Promise.all(Array.from({ length: 20 }, (_, m) => report(n + m)));
    const hour = (hours: number) => new Date(Math.floor(Date.now() / 3_600_000 + hours) * 3_600_000);
    await emit(service, hour(0));
    const from = new Date();
    await report(1000);
    await report(1001);
    const to = new Date();
    await emit(service, hour(1));
    await report(1002);
    await save(file("between.zip"), await pack(`from=${from.toISOString()}&to=${to.toISOString()}`));
    const outcome = await verify(file("between.zip"));
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(outcome.summary?.totals).toMatchObject({ receipts: 0, events: 2 });
    const files = await filesOf(file("between.zip"));
    const range = JSON.parse(String(files.get("log/range.json"))) as LogRange;
    expect(range.from_index).toBe(256);
    expect([range.start, range.end]).toEqual([expect.anything(), expect.anything()]);
    // The last backup from before the period is there, and the agents' entries.
    expect([...files.keys()].filter((path) => path.startsWith("receipts/"))).toHaveLength(1);
    expect([...files.keys()].filter((path) => path.startsWith("events/")).length).toBeGreaterThan(4);

    const widened = new Map(files);
    editJson<Manifest>(widened, "manifest.json", ({ period }) => {
      period.from = new Date(from.getTime() - 5000).toISOString();
    });
    expect(idsOf(await verifyForged(widened), "failed")).toContain("period");
    editJson<LogRange>(files, "log/range.json", (each) => {
      each.start = null;
    });
    expect(idsOf(await verifyForged(files), "failed")).toEqual(["period"]);
    const { rows } = await service.pool.query("select 1 from log_leaves where org_id = $1", [org.id]);
    expect(rows.length).toBeGreaterThan(260);
  });
});

describe("a pack made by an operator who has every key of the service", () => {
  const failure = () => ({ kind: "backup_failed", occurred_at: new Date().toISOString(), detail: {} });

  /**
   * Makes restore tests' receipts that follow on each other, as the host does; `submit` is what the
   * operator may refuse.
   */
  function hostOf(agent: TestAgent, history: History) {
    const key = parsePublicKeyWire(agent.publicKeyWire);
    const signer = { ...agent, publicKey: key.bytes, keyFingerprint: sshFingerprint(key) };
    const [{ id, sha256 } = expect.unreachable()] = history.backups;
    return (previous: string | null, result: "passed" | "failed" = "passed") => {
      const body = signedEnvelope(
        signer,
        restoreTestOf(
          signer,
          { id, sha256, sourceId: history.sourceId, sizeBytes: 64 },
          { previous_receipt_sha256: previous, result, finished_at: new Date().toISOString() },
        ),
      );
      const { payload } = JSON.parse(String(body)) as { payload: string };
      const digest = createHash("sha256").update(Buffer.from(payload, "base64")).digest("hex");
      const submit = async (): Promise<void> => {
        const headers = { "content-type": "application/json" };
        const sent = await agent.post("/v1/receipts", undefined, { body, headers });
        expect(sent.status, String(sent.body)).toBe(201);
      };
      return { digest, submit };
    };
  }

  test(`with 64 random bytes as a backup, signed with the operator's own key, is "cannot tell"`, async () => {
    const { service } = organisation;
    const org = await service.addOrg("Made up");
    const from = new Date().toISOString();
    const { agent } = await makeHistory(service, org);
    const owner = await service.signIn(org);
    await save(file("made.zip"), (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
    const outcome = await verify(file("made.zip"), parseVerifierKey(agent.log.verifier_key), []);
    expect([outcome.verdict, idsOf(outcome, "not_checked")]).toEqual(["cannot_tell", ["agent_keys"]]);
    expect(outcome.basis?.agent_keys).toMatchObject([{ agent_id: agent.id, from: "operator", receipts: 2 }]);
    const compared = await verify(file("made.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
    expect(compared.verdict).toBe("true");
  });

  test("shows a gap where a receipt was refused at the boundary of two packs", async () => {
    const { service } = organisation;
    const org = await service.addOrg("Boundary");
    const owner = await service.signIn(org);
    const begin = new Date();
    const history = await makeHistory(service, org);
    const { agent } = history;
    const make = hostOf(agent, history);
    const first = make(null);
    await first.submit();
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const others = Array.from({ length: 256 }, () => agent.post("/v1/events", failure()));
    await Promise.all(others);
    await emit(service, new Date(hour));
    // Signed, and never taken into the log.
    const refused = make(first.digest, "failed");
    const boundary = new Date();
    const second = make(refused.digest);
    await second.submit();
    const given = { logKey: parseVerifierKey(agent.log.verifier_key), keys: [pinned(agent)] };
    const take = async (name: string, query: string): Promise<string> =>
      save(file(name), (await owner.get(`/api/orgs/${org.id}/evidence?${query}`)).body);
    const [a, b] = [
      await take("a.zip", `from=${begin.toISOString()}&to=${boundary.toISOString()}`),
      await take("b.zip", `from=${boundary.toISOString()}`),
    ];
    expect((await verifyPackFile(a, given)).checks.filter(({ result }) => result !== "held")).toEqual([]);
    const outcome = await verifyPackFile(b, given);
    expect([outcome.verdict, idsOf(outcome, "not_checked")]).toEqual(["cannot_tell", ["chains"]]);
    // A chain without a gap: what the first receipt follows on is told of by its leaf, and by
    // nothing of its content.
    const honest = make(first.digest);
    const later_ = new Date();
    await honest.submit();
    const c = await take("c.zip", `from=${later_.toISOString()}`);
    expect((await verifyPackFile(c, given)).checks.filter(({ result }) => result !== "held")).toEqual([]);
    const files = await filesOf(c);
    const [path = ""] = [...files.keys()].filter((name) => name.startsWith("predecessors/"));
    const { leaf } = JSON.parse(String(files.get(path))) as Predecessor;
    expect([path, leaf.body_sha256]).toEqual([`predecessors/${leaf.id}.json`, first.digest]);
    // Together: one log that only grew, and what lies between their periods is told.
    const join = async (...paths: string[]) => {
      const sizes = await sizesToCompare(paths.map((path) => () => openFileSource(path)));
      const outcomes: PackOutcome[] = [];
      for (const each of paths) outcomes.push(await verifyPackFile(each, { ...given, sizes }));
      return outcomes;
    };
    const resultsOf = (outcomes: PackOutcome[]) =>
      answerOfPacks(outcomes, false).joined.map(({ verdict, checks }) => [
        verdict,
        ...checks.map(({ id, result }) => `${id} ${result}`),
      ]);
    expect(resultsOf(await join(b, a))).toEqual([["true", "one_log held", "periods held", "overlaps held"]]);
    const apart = await join(a, c);
    expect(resultsOf(apart)).toEqual([
      ["cannot_tell", "one_log held", "periods not_checked", "overlaps held"],
    ]);
    const twice = answerOfPacks(await join(a, await take("whole.zip", `from=${begin.toISOString()}`)), false);
    expect(twice.joined[0]?.checks[1]?.detail).toContain("; in two packs: ");
    const [older = expect.unreachable(), newer = expect.unreachable()] = apart;
    const size = older.manifest?.log.tree_size ?? 0;
    const forked = [older, { ...newer, roots: new Map([...(newer.roots ?? []), [size, "00".repeat(32)]]) }];
    expect(resultsOf(forked)).toEqual([["false", "one_log failed", "periods not_checked", "overlaps held"]]);
    const unrelated = [older, { ...newer, roots: new Map([[newer.manifest?.log.tree_size ?? 0, "00"]]) }];
    expect(resultsOf(unrelated)).toEqual([
      ["cannot_tell", "one_log not_checked", "periods not_checked", "overlaps held"],
    ]);
    // The leaf is the log's: another one in its place has no proof.
    const forged = new Map(files);
    editJson<Predecessor>(forged, path, (each) => {
      each.leaf.body_sha256 = refused.digest;
    });
    await writeZip(
      file("d.zip"),
      await withManifest(forged, (origin, text) => service.signer.signText(origin, text)),
    );
    const failed = await verifyPackFile(file("d.zip"), given);
    expect([failed.verdict, idsOf(failed, "failed")]).toEqual(["false", ["chains"]]);
  });
});

describe("a pack changed by somebody who has only the file", () => {
  test("is false after any changed byte, and the file is named", async () => {
    for (const [path, bytes] of good) {
      const changed = Buffer.from(bytes);
      const at = Math.floor(bytes.length / 2);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const outcome = await verifyChanged(new Map(good).set(path, changed));
      expect(outcome.verdict, path).toBe("false");
      const detail = outcome.checks.find(({ id }) => id === "manifest")?.detail ?? "";
      if (!path.startsWith("manifest")) expect(detail, path).toContain(`${path} differs from the file`);
      else expect(idsOf(outcome, "failed"), path).toContainEqual(expect.stringMatching(/^manifest/));
    }
  });

  test("is false with a missing, an added or a repeated file, and the file is named", async () => {
    for (const path of good.keys()) {
      const files = new Map(good);
      files.delete(path);
      const outcome = await verifyChanged(files);
      expect(outcome.verdict, path).toBe("false");
      expect(
        outcome.checks
          .filter(({ result }) => result === "failed")
          .map(({ detail }) => detail)
          .join(),
        path,
      ).toContain(path);
    }
    const outcome = await verifyChanged(new Map(good).set("receipts/more.txt", Buffer.from("x")));
    expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["manifest"]]);
  });

  test("is false if its manifest was changed to agree, because the signature does not match", async () => {
    const files = new Map(good);
    files.set("README.txt", Buffer.from("all is well"));
    const outcome = await verifyChanged(await withManifest(files));
    expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["manifest_signature"]]);
  });
});

describe("a pack changed and signed again by the service", () => {
  test.each(FORGERIES)("is false with %s: %j", async (_what, failing, forge) => {
    const files = new Map(good);
    forge(files);
    const outcome = await verifyForged(files);
    expect(outcome.verdict).toBe("false");
    expect(idsOf(outcome, "failed")).toEqual(failing);
  });
});

test("a pack that lists a source as younger than its log entries leaves open when its backups had to begin", async () => {
  const files = new Map(good);
  const { exported_at, generator } = JSON.parse(String(good.get("manifest.json"))) as Manifest;
  const verdictOf = async (created_at: string): Promise<unknown> => {
    editJson<PackPolicy>(files, "policy.json", ({ sources }) => {
      for (const source of sources) source.created_at = created_at;
    });
    const summary = (await verifyForged(files)).summary ?? expect.unreachable();
    files.set("summary.json", Buffer.from(formatSummary(summary)));
    files.set("index.html", Buffer.from(indexPage(summary, generator)));
    const outcome = await verifyForged(files);
    expect(idsOf(outcome, "failed")).toEqual([]);
    return [outcome.verdict, idsOf(outcome, "not_checked")];
  };
  expect(await verdictOf(exported_at)).toEqual(["true", []]);
  expect(await verdictOf(later(exported_at, 61 * MINUTE_MS))).toEqual(["cannot_tell", ["summary"]]);
});

test('a pack with an agent whose key is not in the log is "cannot tell" without that key from its host', async () => {
  await save(file("later.zip"), await organisation.pack(`from=${new Date().toISOString()}`));
  const files = await filesOf(file("later.zip"));
  editJson<PackAgents>(files, "keys/agents.json", ({ agents: [agent = expect.unreachable()] }) => {
    files.delete(`events/${agent.attached_event_id}.json`);
    agent.attached_event_id = null;
  });
  const { signer } = organisation.service;
  await writeZip(
    file("unbound.zip"),
    await withManifest(files, (origin, text) => signer.signText(origin, text)),
  );
  const without = await verify(file("unbound.zip"), logKey, []);
  expect([without.verdict, idsOf(without, "not_checked")]).toEqual(["cannot_tell", ["agents", "agent_keys"]]);
  expect((await verify(file("unbound.zip"))).verdict).toBe("true");
});

describe("a scheduled run", () => {
  const SOURCE = "src_01jd3gqn5xdz2r9q8y3p0f8w6d";
  const receiptId = (digit: number): string => `rcpt_01jd3gqq8zb14p1s0a5r2h0y8${digit}`;
  const [at, deadline] = ["2026-11-20T02:00:00.000Z", "2026-11-20T04:00:00.000Z"];

  /** What there is to say against one run, of which the log has these receipts. */
  async function faultIn(
    run: Partial<ScheduledRun>,
    receipts: readonly CheckedReceipt[],
    removed_at: string | null = null,
  ): Promise<string> {
    const files = new Map(good);
    const { exported_at } = JSON.parse(String(files.get("manifest.json"))) as Manifest;
    editJson<Manifest>(files, "manifest.json", ({ period }) => {
      [period.from, period.to] = ["2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"];
    });
    setRuns(files, [
      {
        source_id: SOURCE,
        kind: "restore_test",
        scheduled_at: at,
        deadline_at: deadline,
        status: "missed",
        receipt_id: null,
        event_id: null,
        ...run,
      },
    ]);
    await writeZip(file("runs.zip"), await withManifest(files));
    const zip = await ZipReader.open(await openFileSource(file("runs.zip")));
    const findings = new Findings();
    const opened = (await PackFiles.open(zip, findings)) ?? expect.unreachable();
    const policy = JSON.parse(String(good.get("policy.json"))) as PackPolicy;
    policy.sources = policy.sources.slice(0, 1).map((source) => ({ ...source, id: SOURCE, removed_at }));
    const decisions = new RunDecisions();
    // Files are numbered by their ids.
    const byId = receipts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const [file, each] of byId.entries()) decisions.add({ ...each, file });
    // The log need not tell yet of what was removed as the pack ends.
    const bodiesUntil = removed_at ?? exported_at;
    await checkRuns(
      opened,
      findings,
      {
        decisions,
        removed: new SourceTraces(policy, bodiesUntil).removed(),
        missed: () => [],
        event: () => Promise.resolve(undefined),
        idOf: (file) => byId[file]?.id ?? expect.unreachable(),
      },
      { policy, bodiesUntil },
    );
    await zip.close();
    return findings.lines().find(({ id }) => id === "runs")?.detail ?? "";
  }

  const receipt = (
    digit: number,
    recordedAt: string,
    result: "passed" | "failed",
    finished_at = recordedAt,
  ): CheckedReceipt => {
    const statement = restoreTestStatement();
    Object.assign(statement.predicate, { source_id: SOURCE, result, finished_at });
    return {
      file: 0,
      id: receiptId(digit),
      logIndex: 0,
      recordedAt,
      bodySha256: "",
      statement: keptStatement(statement),
      keyFingerprint: "",
      isEarlier: false,
    };
  };

  test("is decided by the first receipt in its time, whatever ids the service gave", async () => {
    const failed = receipt(2, "2026-11-20T03:00:00.000Z", "failed");
    const passed = receipt(1, "2026-11-20T03:30:00.000Z", "passed");
    const asFailed = { status: "failed", receipt_id: failed.id } as const;
    expect(await faultIn(asFailed, [failed, passed])).toBe("1 scheduled run, each with 7200 s from its time");
    const asPassed = { status: "passed", receipt_id: passed.id } as const;
    expect(await faultIn(asPassed, [failed, passed])).toContain(`${failed.id} says failed`);
  });

  test("is not decided by work that ended before it was due, except five minutes for the host's clock", async () => {
    const before = receipt(1, "2026-11-20T03:00:00.000Z", "passed", "2026-11-20T01:54:59.999Z");
    const asPassed = { status: "passed", receipt_id: before.id } as const;
    expect(await faultIn(asPassed, [before])).toContain(`decided by ${before.id}, which is not the first`);
    const failed = receipt(2, "2026-11-20T03:30:00.000Z", "failed", "2026-11-20T01:55:00.000Z");
    expect(await faultIn(asPassed, [before, failed])).toContain(`${failed.id} says failed`);
    expect(await faultIn({ status: "failed", receipt_id: failed.id }, [before, failed])).toMatch(
      /^1 scheduled/,
    );
    expect(await faultIn({ status: "missed" }, [before])).toMatch(/^1 scheduled/);
  });

  test("is withdrawn by a removal if it was still open, and stays missed if it was overdue", async () => {
    const withdrawn = { status: "withdrawn" } as const;
    expect(await faultIn(withdrawn, [], "2026-11-20T04:59:59.999Z")).toMatch(/^1 scheduled/);
    expect(await faultIn(withdrawn, [], "2026-11-20T05:00:00.001Z")).toBe(
      "1 run is past its deadline without a decision",
    );
  });

  test("is not decided by a receipt that came a month later, whatever deadline is listed", async () => {
    const passed = receipt(1, "2026-12-20T03:00:00.000Z", "passed");
    const late = {
      status: "passed",
      receipt_id: passed.id,
      deadline_at: "2026-12-20T04:00:00.000Z",
    } as const;
    expect(await faultIn(late, [passed])).toContain(
      "the deadline 2026-12-20T04:00:00.000Z, which no setting allows",
    );
  });
});

test("the log shows the removal of a source, in a pack of that time and in a later one", async () => {
  const { service } = organisation;
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  // Of a removal in the last minutes it may not tell yet.
  const { from, agent, removed } = await shifted(-30 * MINUTE_MS, async () => {
    const begun = new Date();
    const made = await makeHistory(service, org, { backups: 0 });
    const answer = await owner.delete(`/api/orgs/${org.id}/sources/${made.sourceId}`);
    return { from: begun, agent: made.agent, removed: answer };
  });
  expect(removed.status, String(removed.body)).toBe(200);
  for (const begin of [from, new Date()]) {
    const answer = await owner.get(`/api/orgs/${org.id}/evidence?from=${begin.toISOString()}`);
    await save(file("removed.zip"), answer.body);
    const files = await filesOf(file("removed.zip"));
    expect(eventOf(files, "source_removed")).toMatch(/^events\//);
    const outcome = await verify(file("removed.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
    expect(idsOf(outcome, "failed")).toEqual([]);
    // No agent signed anything in it, and none cosigned its checkpoint.
    expect([outcome.verdict, idsOf(outcome, "not_checked")]).toEqual(["cannot_tell", ["agent_keys"]]);
  }
});

test("a receipt that waited on its host decides no run that was due after the work ended", async () => {
  const { service } = organisation;
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const before = new Date(Date.now() - 30 * MINUTE_MS).toISOString();
  const { agent, sourceId, backups } = await shifted(-30 * MINUTE_MS, () => makeHistory(service, org));
  await service.pool.query(
    `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at)
     values ($1, 'restore_test', $2, $3, $4)`,
    [sourceId, new Date(Date.now() - 10 * MINUTE_MS), org.id, new Date(Date.now() + 60 * MINUTE_MS)],
  );
  const key = parsePublicKeyWire(agent.publicKeyWire);
  const signer = { ...agent, publicKey: key.bytes, keyFingerprint: sshFingerprint(key) };
  const [{ id, sha256 } = expect.unreachable()] = backups;
  const statement = restoreTestOf(signer, { id, sha256, sourceId, sizeBytes: 64 }, { finished_at: before });
  const sent = await agent.post("/v1/receipts", undefined, {
    body: signedEnvelope(signer, statement),
    headers: { "content-type": "application/json" },
  });
  expect(sent.status, String(sent.body)).toBe(201);
  const answer = await owner.get(`/api/orgs/${org.id}/evidence?from=${before}`);
  await save(file("waited.zip"), answer.body);
  const runs = runsOf(await filesOf(file("waited.zip")));
  expect(runs).toMatchObject([{ status: "waiting", receipt_id: null }]);
  const outcome = await verify(file("waited.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
  expect(idsOf(outcome, "failed")).toEqual([]);
});

test("a receipt of an agent that has lost its source since is as true as others", async () => {
  const { service } = organisation;
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const from = new Date().toISOString();
  const { agent, sourceId, backups } = await makeHistory(service, org);
  const key = parsePublicKeyWire(agent.publicKeyWire);
  const signer = { ...agent, publicKey: key.bytes, keyFingerprint: sshFingerprint(key) };
  const [{ id, sha256 } = expect.unreachable()] = backups;
  const finished_at = new Date().toISOString();
  const statement = restoreTestOf(signer, { id, sha256, sourceId, sizeBytes: 64 }, { finished_at });
  const next = await service.attach(org);
  const path = `/api/orgs/${org.id}/sources/${sourceId}`;
  expect((await owner.post(`${path}/configure`, { agent_id: next.id })).status).toBe(200);
  const sent = await agent.post("/v1/receipts", undefined, {
    body: signedEnvelope(signer, statement),
    headers: { "content-type": "application/json" },
  });
  expect(sent.status, String(sent.body)).toBe(201);
  expect((await owner.get(path)).json["last_proven_at"]).toBe(finished_at);
  await save(file("late.zip"), (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
  const outcome = await verify(file("late.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
  expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
  expect(outcome.summary?.totals.restore_tests).toMatchObject({ passed: 2, failed: 0 });
});

test("a receipt whose predecessor is not in the log shows a gap, even if it is the agent's first in the pack", async () => {
  const chain = (id: string, previous: string | null, bodySha256: string): CheckedReceipt => {
    const statement = restoreTestStatement();
    statement.predicate.previous_receipt_sha256 = previous;
    const [recordedAt, keyFingerprint] = ["2026-11-20T03:00:00.000Z", ""];
    return {
      file: 0,
      id,
      logIndex: 0,
      recordedAt,
      bodySha256,
      statement: keptStatement(statement),
      keyFingerprint,
      isEarlier: false,
    };
  };
  const detailOf = async (receipts: CheckedReceipt[], otherBodies: string[] = []): Promise<string> => {
    const findings = new Findings();
    const chains = new Chains((file) => receipts[file]?.id ?? expect.unreachable());
    for (const [file, each] of receipts.entries())
      chains.add(linkOf({ ...each, file }) ?? expect.unreachable());
    await chains.check(findings, [...otherBodies, ...receipts.map(({ bodySha256 }) => bodySha256)]);
    const { result, detail } = findings.lines().find(({ id }) => id === "chains") ?? expect.unreachable();
    return `${result}: ${detail}`;
  };
  expect(await detailOf([chain("a", null, "a"), chain("b", "a", "b")])).toBe("held: of 1 agent");
  expect(await detailOf([chain("b", "a", "b"), chain("c", "b", "c")])).toMatch(
    /^not_checked: 1 receipt refers/,
  );
  expect(await detailOf([chain("b", "a", "b")], ["a"])).toBe("held: of 1 agent");
  expect(await detailOf([chain("a", null, "a"), chain("c", "b", "c")])).toMatch(
    /^not_checked: 1 receipt refers/,
  );
});

test.each([
  ["after", 2],
  ["before", -2],
])(
  "a pack with an entry dated days %s the others does not show its period to be complete",
  async (_where, days) => {
    const { service } = organisation;
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const agent = await service.attach(org);
    const from = new Date(Date.now() - MINUTE_MS);
    const body = { kind: "restore_failed", occurred_at: from.toISOString(), detail: { reason: "no space" } };
    const told = await shifted(days * 86_400_000, () => agent.post("/v1/events", body));
    expect(told.status).toBe(201);
    const answer = await owner.get(`/api/orgs/${org.id}/evidence?from=${from.toISOString()}`);
    await save(file("odd.zip"), answer.body);
    const outcome = await verify(file("odd.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
    expect(outcome.summary?.totals.events).toBe(1);
    expect([outcome.verdict, idsOf(outcome, "not_checked")]).toEqual([
      "cannot_tell",
      ["period", "agent_keys"],
    ]);
  },
);

test("a pack of a time when the service's clock was ahead is true, and the check names the entries that were dated too late", async () => {
  const { service } = organisation;
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const from = new Date(Date.now() - MINUTE_MS);
  const { agent } = await makeHistory(service, org);
  const silent = { orgId: org.id, kind: "agent_silent", actorId: "service", occurredAt: from, detail: {} };
  const append = () => service.database.transaction().execute((tx) => appendInTransaction(tx, [silent]));
  await shifted(365 * 86_400_000, append);
  await shifted(365 * 86_400_000 + 25_000, append);
  await makeHistory(service, org, { agent });
  await append();
  await save(
    file("ahead.zip"),
    (await owner.get(`/api/orgs/${org.id}/evidence?from=${from.toISOString()}`)).body,
  );
  const outcome = await verify(file("ahead.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
  expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
  expect(outcome.verdict).toBe("true");
  expect(outcome.checks.find(({ id }) => id === "period")?.detail).toMatch(
    /the service's clock was wrong: 2 entries of its own, dated too late, are named by evt_\w+$/,
  );
  const files = await filesOf(file("ahead.zip"));
  const { event } = JSON.parse(String(files.get(eventOf(files, "clock_went_back")))) as EventBundle;
  expect(event.detail).toMatchObject({ first_index: 3, last_index: 4 });
});

test("an agent that cosigned the checkpoint counts once, however many lines it has", async () => {
  const { rotated } = organisation;
  const files = new Map(good);
  const { text } = parseNote(good.get("log/checkpoint") ?? "");
  const { bytes } = parsePublicKeyWire(rotated.publicKeyWire);
  const line = cosignatureLine(
    noteVerifier(rotated.id, "cosignature/v1", bytes),
    1_795_000_000,
    sign(null, cosignatureMessage(1_795_000_000, text), rotated.privateKey),
  );
  const checkpoint = `${String(good.get("log/checkpoint"))}${line.repeat(3)}`;
  files.set("log/checkpoint", Buffer.from(checkpoint));
  for (const path of good.keys())
    if (/^(receipts|events)\//.test(path))
      editJson<ReceiptBundle | EventBundle>(files, path, (bundle) => {
        bundle.checkpoint = checkpoint;
      });
  const outcome = await verifyForged(files);
  expect(outcome.verdict).toBe("true");
  expect(outcome.checks.find(({ id }) => id === "checkpoint")?.detail).toMatch(
    /; 1 agent cosigned it, 1 of them with keys that you gave$/,
  );
  expect(outcome.basis).toMatchObject({
    clock: { witnessed_by: "2026-11-18T11:06:40Z" },
    witnesses: [{ name: rotated.id, at: "2026-11-18T11:06:40Z" }],
  });
  // Asked for, a witness has to have seen it; one that did not leaves the question open.
  const witnessKeys = [rotated, newKeyPair()].map(({ publicKeyWire }) =>
    noteVerifier(rotated.id, "cosignature/v1", parsePublicKeyWire(publicKeyWire).bytes),
  );
  const ask = async (keys: NoteVerifier[], requireWitnesses?: number, path = "changed.zip") => {
    const given = { logKey, keys: [pinned(organisation.agent)], witnessKeys: keys, requireWitnesses };
    const { verdict, checks } = await verifyPackFile(file(path), given);
    return [verdict, checks.find(({ id }) => id === "witnesses")?.result];
  };
  expect(await ask(witnessKeys.slice(0, 1))).toEqual(["true", "held"]);
  expect(await ask(witnessKeys)).toEqual(["cannot_tell", "not_checked"]);
  expect(await ask(witnessKeys, 1)).toEqual(["true", "held"]);
  expect(await ask(witnessKeys.slice(0, 1), undefined, "good.zip")).toEqual(["cannot_tell", "not_checked"]);
});

/** The same bytes, or the same JSON with other space around its parts. */
function saysTheSame(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  try {
    return isDeepStrictEqual(JSON.parse(one.toString()), JSON.parse(other.toString()));
  } catch {
    return false;
  }
}

test("the verifier survives noise in any file, and a changed entry of the log is always false", async () => {
  const paths = [...good.keys()].filter((path) => !path.startsWith("manifest"));
  const noise = fc.record({
    path: fc.constantFrom(...paths),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
    cut: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(noise, async ({ path, at, bytes, cut }) => {
      const whole = good.get(path) ?? Buffer.alloc(0);
      const place = Math.floor(at * whole.length);
      const changed = Buffer.concat([whole.subarray(0, place), bytes, whole.subarray(place + cut)]);
      const outcome = await verifyForged(new Map(good).set(path, changed));
      const isLogged = /^(receipts|events|log)\//.test(path) && !saysTheSame(whole, changed);
      if (isLogged) expect(outcome.verdict, `${path} at ${place}`).toBe("false");
    }),
    { numRuns: 50 },
  );
});

describe("attestore-verify", () => {
  const agentPub = file("agent.pub");
  beforeAll(() => save(agentPub, Buffer.from(formatPublicKeyPem(pinned(organisation.agent).publicKey))));
  const run = (...args: string[]) => {
    const main = join(import.meta.dirname, "../../packages/verifier/src/main.ts");
    return spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  };

  test("prints text for people, and exits with 0, 1 or 2", async () => {
    const { status, stdout } = run(file("good.zip"), "--log-key", vkey, "--key", agentPub);
    expect(stdout).toMatch(/^TRUE {2}.*good\.zip\n/);
    expect(stdout).toContain("not proven:");
    expect(status).toBe(0);
    for (const words of [
      `given by you (--key ${agentPub}), signed 6`,
      "by a rotation from SHA256:",
      `log key    ${vkey}: given by you`,
      "clock      the service's",
      "witnesses  none",
    ])
      expect(stdout).toContain(words);
    expect(run(file("good.zip"), "--key", agentPub).status).toBe(2);
    const unknown = run(file("good.zip"), "--log-key", vkey, "--expect-passed");
    expect([unknown.status, unknown.stdout.slice(0, 11)]).toEqual([2, "CANNOT TELL"]);
    expect(unknown.stdout).toContain("not given: known only from the operator, signed 6");
    await save(file("cut.zip"), readFileSync(file("good.zip")).subarray(0, -1));
    const cut = run(file("cut.zip"), "--log-key", vkey, "--key", agentPub);
    expect([cut.status, cut.stdout.slice(0, 5)]).toEqual([1, "FALSE"]);
  });

  test("prints JSON for programs, and counts failed and missed tests if asked", () => {
    const { status, stdout } = run(
      file("good.zip"),
      "--log-key",
      vkey,
      "--key",
      agentPub,
      "--json",
      "--expect-passed",
    );
    const answer = JSON.parse(stdout) as { packs: object[] };
    expect(answer).toMatchObject({ verdict: "true", exit_code: 1, expect_passed: "not_met" });
    expect(answer.packs[0]).toMatchObject({
      org_id: organisation.org.id,
      totals: { receipts: 8 },
      error: null,
    });
    expect(status).toBe(1);
  });

  test("refuses options that do not apply to a pack", () => {
    for (const option of [["--ciphertext", file("good.zip")], ["--require-log"], [file("no-pack.json")]])
      expect(run(file("good.zip"), ...option).status, option.join(" ")).toBe(2);
  });
});

test("the verifier reads a pack of more than 65,535 files", async () => {
  const many: Files = new Map(
    Array.from({ length: 65_540 }, (_, n) => [`receipts/${n}`, Buffer.from(String(n))]),
  );
  await writeZip(file("many.zip"), many);
  const reader = await ZipReader.open(await openFileSource(file("many.zip")));
  expect(reader.paths()).toHaveLength(65_540);
  expect(String(await reader.read("receipts/65539", 10))).toBe("65539");
  await reader.close();
});

/**
 * How tools write what they zip; each in a directory that has the pack's files in `Evidence (1)`.
 */
const ZIPPERS: [string, string][] = [
  ["Info-ZIP", "cd 'Evidence (1)' && zip -qr ../again.zip ."],
  ["Info-ZIP, the folder, stored", "zip -qr0 again.zip 'Evidence (1)'"],
  ["Info-ZIP, best, without folders and extra fields", "cd 'Evidence (1)' && zip -qrXD9 ../again.zip *"],
  ["Info-ZIP, ZIP64 everywhere", "zip -fz -qr again.zip 'Evidence (1)'"],
  ["Info-ZIP, as a stream", "cd 'Evidence (1)' && zip -qr - . | cat > ../again.zip"],
  ["7-Zip", "cd 'Evidence (1)' && 7z a -tzip ../again.zip ."],
  ["7-Zip, the folder, best, with NTFS' times", "7z a -tzip -mx=9 -mtc=on again.zip 'Evidence (1)'"],
  ["7-Zip, stored", "cd 'Evidence (1)' && 7z a -tzip -mx=0 ../again.zip *"],
  ["libarchive, as Windows 11 and macOS have it", "bsdtar --format zip -cf again.zip 'Evidence (1)'"],
  ["libarchive, from inside", "cd 'Evidence (1)' && bsdtar --format zip -cf ../again.zip ."],
  ["Python's zipfile", "cd 'Evidence (1)' && python3 -m zipfile -c ../again.zip *"],
  ["Python's shutil", 'python3 -c \'import shutil; shutil.make_archive("again", "zip", "Evidence (1)")\''],
  ["Python, to what cannot seek, ZIP64", "python3 zippers.py stream | cat > again.zip"],
  ["the way of Windows Explorer", "python3 zippers.py explorer > again.zip"],
  ["the way of PowerShell", "python3 zippers.py powershell > again.zip"],
  ["the way of macOS", "python3 zippers.py ditto | cat > again.zip"],
];

/**
 * What the tools that do not run here write: hosts, attributes, extra fields, separators, files
 * beside.
 */
const ZIPPERS_PY = String.raw`
import io, os, random, sys, zipfile
style = sys.argv[1]
top = "Evidence (1)"
paths = sorted(os.path.relpath(os.path.join(at, one), top) for at, _, names in os.walk(top) for one in names)
random.Random(1).shuffle(paths)
out = io.BytesIO()
target = sys.stdout.buffer if style in ("stream", "ditto") else out
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as z:
    def put(name, data, system, attributes, extra=b""):
        info = zipfile.ZipInfo(name, (2026, 11, 22, 10, 0, 0))
        info.filename = info.orig_filename = name
        info.create_system, info.external_attr, info.extra, info.compress_type = system, attributes, extra, zipfile.ZIP_DEFLATED
        with z.open(info, "w", force_zip64=style == "stream") as one:
            one.write(data)
    for path in paths:
        data = open(os.path.join(top, path), "rb").read()
        if style == "stream":
            put(path, data, 3, 0o600 << 16)
        elif style == "explorer":
            put(top + "/" + path, data, 0, 0x20)
        elif style == "powershell":
            put(path.replace("/", "\\"), data, 0, 0)
        else:
            put(top + "/" + path, data, 3, 0o100644 << 16, b"UX\x0c\x00" + bytes(12))
            put("__MACOSX/" + top + "/" + os.path.dirname(path) + "/._" + os.path.basename(path), bytes(120), 3, 0o100644 << 16)
    if style == "ditto":
        put(top + "/.DS_Store", bytes(6148), 3, 0o100644 << 16)
sys.stdout.buffer.write(out.getvalue())
`;

describe("packs of the same time", () => {
  const together = async (...paths: string[]) => {
    const sizes = await sizesToCompare(paths.map((path) => () => openFileSource(path)));
    const outcomes: PackOutcome[] = [];
    for (const path of paths)
      outcomes.push(await verifyPackFile(path, { logKey, keys: [pinned(organisation.agent)], sizes }));
    const [joined = expect.unreachable()] = answerOfPacks(outcomes, false).joined;
    const overlaps = joined.checks.find(({ id }) => id === "overlaps") ?? expect.unreachable();
    return { outcomes, overlaps };
  };
  let again: string;
  beforeAll(async () => {
    again = await save(file("again-later.zip"), await organisation.pack());
  });

  test("agree, entry by entry and run by run", async () => {
    const { outcomes, overlaps } = await together(file("good.zip"), again);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["true", "true"]);
    expect([overlaps.result, overlaps.detail]).toEqual([
      "held",
      "1 pairs of packs, entry by entry and run by run",
    ]);
  });

  test("are false if a receipt or a run is in only one of them", async () => {
    const { outcomes } = await together(file("good.zip"), again);
    const [one = expect.unreachable(), other = expect.unreachable()] = outcomes;
    const compared = other.compared ?? expect.unreachable();
    const receipt = [...compared.leaves.keys()].find((id) => id.startsWith("rcpt_")) ?? "";
    const leaves = new Map(compared.leaves);
    leaves.delete(receipt);
    const verdictOf = (change: Partial<typeof compared>) => {
      const { verdict, joined } = answerOfPacks(
        [one, { ...other, compared: { ...compared, ...change } }],
        false,
      );
      return [verdict, joined[0]?.checks.find(({ id }) => id === "overlaps")?.detail];
    };
    expect(verdictOf({ leaves })).toEqual([
      "false",
      expect.stringMatching(
        new RegExp(`${receipt} of .* is in .*good.zip but missing from .*again-later.zip$`),
      ),
    ]);
    expect(verdictOf({ runs: compared.runs.slice(1) })).toEqual([
      "false",
      expect.stringMatching(/^restore_test of src_\w+ at .* is in .*good.zip but missing from /),
    ]);
    // Nothing in one pack alone says that somebody had more time.
    const runs = compared.runs.map((run, n) =>
      n === 3 ? { ...run, deadline_at: later(run.deadline_at, 1) } : run,
    );
    expect(verdictOf({ runs })[0]).toBe("false");
  });

  test("are false if a run differs between them, although each is true by itself", async () => {
    const files = await filesOf(again);
    let changed = 0;
    setRuns(
      files,
      runsOf(files).map((run) => {
        if (changed > 0 || run.status !== "missed" || run.event_id !== null) return run;
        changed += 1;
        return { ...run, deadline_at: later(run.deadline_at, 1) };
      }),
    );
    const { signer } = organisation.service;
    await writeZip(
      file("otherwise.zip"),
      await withManifest(files, (origin, text) => signer.signText(origin, text)),
    );
    const { outcomes, overlaps } = await together(file("good.zip"), file("otherwise.zip"));
    expect([changed, ...outcomes.map(({ verdict }) => verdict)]).toEqual([1, "true", "true"]);
    expect(overlaps.result).toBe("failed");
  });
});

describe("a pack of a later version", () => {
  const after = async (change: (files: Files) => void): Promise<PackOutcome> => {
    const files = new Map(good);
    change(files);
    return verifyForged(files);
  };
  const FILES = [
    "summary.json",
    "policy.json",
    "keys/agents.json",
    "log/range.json",
    "manifest.json",
    "controls.json",
  ];

  test("is true with unknown members, wherever they are", async () => {
    for (const path of FILES) {
      const outcome = await after((files) =>
        editJson<object>(files, path, (value) => Object.assign(value, { more: { n: 1 } })),
      );
      expect(idsOf(outcome, "failed"), path).toEqual([]);
      expect(outcome.verdict, path).toBe("true");
    }
    const deeper = await after((files) => {
      editJson<{ sources: object[]; totals: object }>(files, "summary.json", ({ sources, totals }) => {
        for (const each of [...sources, totals]) Object.assign(each, { later: [1] });
      });
      editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
        for (const agent of agents) Object.assign(agent, { hardware: "tpm" });
      });
      setRuns(
        files,
        runsOf(files).map((run) => ({ ...run, attempts: 2 })),
      );
    });
    expect(deeper.verdict).toBe("true");
    expect(deeper.checks.find(({ id }) => id === "summary")?.detail).toMatch(
      /unknown to this verifier and not counted: .*later/,
    );
  });

  test("is compared in its known members all the same", async () => {
    const outcome = await after((files) =>
      editJson<{ sources: { backups: number }[] }>(files, "summary.json", ({ sources }) => {
        for (const source of sources) Object.assign(source, { later: 1, backups: source.backups + 1 });
      }),
    );
    expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["summary"]]);
  });

  test.each<[string, (files: Files) => void]>([
    ...FILES.slice(1, 4).map((path): [string, (files: Files) => void] => [
      `version 2 of ${path}`,
      (files) => editJson<{ v: number }>(files, path, (value) => (value.v = 2)),
    ]),
    [
      "another status of a run",
      (files) =>
        setRuns(
          files,
          runsOf(files).map((run, n) => (n === 5 ? { ...run, status: "postponed" as never } : run)),
        ),
    ],
    [
      "another format",
      (files) => {
        const changed = String(files.get("manifest.json")).replace("evidence/v1", "evidence/v2");
        files.set("manifest.json", Buffer.from(changed));
      },
    ],
  ])('is "cannot tell" with %s', async (what, change) => {
    const files = new Map(good);
    change(files);
    const outcome = what === "another format" ? await verifyChanged(files) : await verifyForged(files);
    expect(idsOf(outcome, "failed")).toEqual([]);
    expect(outcome.verdict).toBe("cannot_tell");
  });

  test('counts a leaf of another version for the root, and its content is "cannot tell"', async () => {
    const files = new Map(good);
    const { path, leaves } = tileOf(files);
    const index = leaves.length - 1;
    const known = JSON.parse(Buffer.from(leaves[index] ?? []).toString()) as { id: string };
    leaves[index] = Buffer.from(JSON.stringify({ ...known, v: 2, more: "of which nothing is known here" }));
    const hashes = leaves.map(leafHash);
    // A log of its own: the service signs no head of what is not committed.
    const { log } = JSON.parse(String(files.get("manifest.json"))) as Manifest;
    const keys = newKeyPair();
    const own = noteVerifier(log.origin, "ed25519", parsePublicKeyWire(keys.publicKeyWire).bytes);
    const signText = async (_origin: string, text: string): Promise<string> =>
      Promise.resolve(
        formatNote(text, [noteSignatureLine(own, sign(null, Buffer.from(text), keys.privateKey))]),
      );
    files.set("keys/log.vkey", Buffer.from(`${formatVerifierKey(own)}\n`));
    const root = rootOf(hashes);
    const checkpoint = await signText(
      log.origin,
      `${log.origin}\n${leaves.length}\n${Buffer.from(root, "hex").toString("base64")}\n`,
    );
    files.set(path, Buffer.from(encodeEntryBundle(leaves)));
    files.set("log/checkpoint", Buffer.from(checkpoint));
    for (const each of good.keys())
      if (/^(receipts|events)\//.test(each))
        editJson<ReceiptBundle | EventBundle>(files, each, (bundle) => {
          bundle.checkpoint = checkpoint;
          bundle.log.verifier_key = formatVerifierKey(own);
          bundle.inclusion_proof.hashes = proofOf(hashes, bundle.inclusion_proof.log_index);
          if (bundle.leaf.id === known.id) Object.assign(bundle.leaf, { v: 2 });
        });
    editJson<Manifest>(files, "manifest.json", (manifest) => {
      manifest.log.root_hash = root;
    });
    await writeZip(file("later-leaf.zip"), await withManifest(files, signText));
    const outcome = await verify(file("later-leaf.zip"), own);
    expect(idsOf(outcome, "failed")).toEqual([]);
    expect(idsOf(outcome, "held")).toEqual(expect.arrayContaining(["checkpoint", "range"]));
    expect([outcome.verdict, outcome.checks.find(({ id }) => id === "complete")?.detail]).toEqual([
      "cannot_tell",
      `leaf ${index}: the leaf is of version 2, and 1 is known here`,
    ]);
  });

  test("has rotations with unknown members checked like others", async () => {
    const { service } = organisation;
    const org = await service.addOrg();
    const owner = await service.signIn(org);
    const from = new Date().toISOString();
    const { agent } = await makeHistory(service, org);
    const next = newKeyPair();
    const asked = signedRotation(agent, agent, next, undefined, { hardware: "tpm" });
    expect((await agent.post("/v1/agent/key", asked)).status).toBe(200);
    await save(file("rotated.zip"), (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
    const outcome = await verify(file("rotated.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
  });
});

/** The hashes of an inclusion proof (RFC 9162 section 2.1.3.1). */
function proofOf(hashes: readonly string[], index: number): string[] {
  if (hashes.length <= 1) return [];
  let split = 1;
  while (split * 2 < hashes.length) split *= 2;
  const [left, right] = [hashes.slice(0, split), hashes.slice(split)];
  return index < split
    ? [...proofOf(left, index), rootOf(right)]
    : [...proofOf(right, index - split), rootOf(left)];
}

describe("a pack that was zipped again", () => {
  const shell = (command: string, cwd: string) =>
    spawnSync("bash", ["-euo", "pipefail", "-c", command], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  let unpacked: string;
  beforeAll(async () => {
    unpacked = mkdtempSync(join(directory, "again-"));
    execFileSync("unzip", ["-q", file("good.zip"), "-d", join(unpacked, "Evidence (1)")]);
    await save(join(unpacked, "zippers.py"), Buffer.from(ZIPPERS_PY));
  });

  test.each(ZIPPERS)("by %s is as true as before", async (_what, command) => {
    const again = join(unpacked, "again.zip");
    rmSync(again, { force: true });
    const { status, stderr } = shell(command, unpacked);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(readFileSync(again).equals(readFileSync(file("good.zip")))).toBe(false);
    const outcome = await verify(again);
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(outcome.verdict).toBe("true");
  });

  test("is still false if something was changed, added or removed before", async () => {
    for (const change of [
      "sed -i s/passed/PASSED/ summary.json",
      "echo more > more.txt",
      "rm index.html",
      "ln -sf README.txt link.txt",
    ]) {
      const changed = mkdtempSync(join(directory, "changed-"));
      const { status, stderr } = shell(
        `unzip -q ${file("good.zip")} && ${change} && zip -qry ../changed-again.zip .`,
        changed,
      );
      expect([status, stderr]).toEqual([0, ""]);
      expect((await verify(file("changed-again.zip"))).verdict, change).toBe("false");
      rmSync(file("changed-again.zip"));
    }
  });
});

describe("a pack opened without our programs", () => {
  test("opens with unzip and Python's zipfile, which find nothing wrong", () => {
    expect(execFileSync("unzip", ["-tq", file("good.zip")], { encoding: "utf8" })).toContain(
      "No errors detected",
    );
    const script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()))";
    expect(execFileSync("python3", ["-c", script, file("good.zip")], { encoding: "utf8" })).toBe(
      `None ${good.size}\n`,
    );
  });

  test("has a README.txt whose commands verify it, and refuse a changed pack", () => {
    const unpacked = file("unpacked");
    execFileSync("unzip", ["-q", file("good.zip"), "-d", unpacked]);
    const commands = [...String(good.get("README.txt")).matchAll(/^ {4}(\S.*)$/gm)]
      .map(([, command]) => command ?? "")
      .filter((command) => !command.startsWith("attestore-verify"));
    expect(commands).toHaveLength(6);
    const shell = () =>
      spawnSync("bash", ["-euo", "pipefail", "-c", ["cp keys/log.vkey .", ...commands].join("\n")], {
        cwd: unpacked,
        encoding: "utf8",
        // From a socket bash would take this for a login over the network, and read what people
        // have for those.
        stdio: ["ignore", "pipe", "pipe"],
      });
    const { status, stdout, stderr } = shell();
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toContain("Signature Verified Successfully");
    const [digest] = /[0-9a-f]{64}/.exec(stdout) ?? [];
    expect(stdout.split(digest ?? "none")).toHaveLength(3);
    execFileSync("sed", ["-i", "s/passed/PASSED/", join(unpacked, "summary.json")]);
    expect(shell()).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("summary.json: FAILED") as string,
    });
  });
});

describe("events that an agent signed", () => {
  let agent: TestAgent;
  let owner: TestUser;
  let orgId: string;
  let from: string;
  let log: NoteVerifier;
  let last: string | null;
  let history: History;

  const submit = async (path: string, body: Buffer): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const answer = await agent.post(path, undefined, { body, headers });
    expect(answer.status, String(answer.body)).toBe(201);
    return (answer.json["event_id"] ?? answer.json["receipt_id"]) as string;
  };
  const follow = (payload: string): void => {
    last = createHash("sha256").update(Buffer.from(payload, "base64")).digest("hex");
  };
  const receipt = async (result: "passed" | "failed" = "passed"): Promise<void> => {
    const key = parsePublicKeyWire(agent.publicKeyWire);
    const signer = { ...agent, publicKey: key.bytes, keyFingerprint: sshFingerprint(key) };
    const [{ id, sha256 } = expect.unreachable()] = history.backups;
    const statement = restoreTestOf(
      signer,
      { id, sha256, sourceId: history.sourceId, sizeBytes: 64 },
      { result, finished_at: new Date().toISOString(), previous_receipt_sha256: last },
    );
    const body = signedEnvelope(signer, statement);
    await submit("/v1/receipts", body);
    follow((JSON.parse(String(body)) as { payload: string }).payload);
  };
  const signed = (reason: string) => {
    const event = {
      kind: "restore_failed",
      source_id: history.sourceId,
      occurred_at: new Date().toISOString(),
      detail: { reason },
    };
    const { body } = signedEventBody(agent, event, { previous_receipt_sha256: last });
    follow(body.envelope.payload);
    return Buffer.from(JSON.stringify(body));
  };
  const told = (reason: string): Promise<string> => submit("/v1/events", signed(reason));
  const packOf = async (): Promise<PackOutcome> => {
    await save(file("signed.zip"), (await owner.get(`/api/orgs/${orgId}/evidence?from=${from}`)).body);
    return verify(file("signed.zip"), log, [agent]);
  };
  const lineOf = ({ checks }: PackOutcome, id: string) => checks.find((check) => check.id === id);

  beforeEach(async () => {
    const { service } = organisation;
    const org = await service.addOrg();
    orgId = org.id;
    owner = await service.signIn(org);
    from = new Date(Date.now() - MINUTE_MS).toISOString();
    history = await makeHistory(service, org);
    agent = history.agent;
    log = parseVerifierKey(agent.log.verifier_key);
    last = null;
  });

  test("are links of its chain, and a pack with all of them is true", async () => {
    await receipt();
    await told("no space left");
    await told("no space left yet");
    await receipt();
    const outcome = await packOf();
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(lineOf(outcome, "events")?.detail).not.toContain("not signed");
    // The next pack begins behind it: its first receipt follows on an event that is before the
    // period.
    await told("the last one before");
    from = new Date().toISOString();
    await receipt();
    expect((await packOf()).checks.filter(({ result }) => result !== "held")).toEqual([]);
  });

  test("show an event that was dropped between two receipts", async () => {
    await receipt();
    // The service answered it, or never did, and did not log it.
    signed("no space left");
    await receipt();
    const outcome = await packOf();
    expect(outcome.verdict).toBe("cannot_tell");
    expect(lineOf(outcome, "chains")).toMatchObject({ result: "not_checked" });
  });

  test("show an event that was invented in the agent's name", async () => {
    await told("no space left");
    const event = {
      kind: "backup_failed",
      occurred_at: new Date().toISOString(),
      detail: { reason: "none" },
    };
    const id = await submit("/v1/events", Buffer.from(JSON.stringify(event)));
    const outcome = await packOf();
    expect(outcome.verdict).toBe("cannot_tell");
    expect(lineOf(outcome, "events")?.detail).toContain(id);
    expect(outcome.basis?.events).toMatchObject({
      signed: 1,
      unsigned: [{ agent_id: agent.id, count: 1, ids: [id] }],
    });
  });

  test("are distinguished from those of an agent that never signed one, which the service could invent", async () => {
    const event = {
      kind: "restore_failed",
      occurred_at: new Date().toISOString(),
      detail: { reason: "made up" },
    };
    const id = await submit("/v1/events", Buffer.from(JSON.stringify(event)));
    await receipt();
    const outcome = await packOf();
    expect(outcome.verdict).toBe("true");
    expect(outcome.basis?.events).toMatchObject({
      signed: 0,
      unsigned: [{ agent_id: agent.id, count: 1, ids: [id] }],
    });
    expect(lineOf(outcome, "events")?.detail).toContain("1 of them, attributed to an agent, are not signed");
    const words = packsText(answerOfPacks([outcome], false), (_style, text) => text);
    expect(words).toContain(
      `unsigned   1 event attributed to ${agent.id}, which the operator could have invented: ${id}`,
    );
  });

  test("with receipts of passed tests are a green TRUE on a terminal, and not with one of a failed test", async () => {
    const shown = (outcome: PackOutcome): string =>
      packsText(answerOfPacks([outcome], false), (style, text) => `<${String(style)}>${text}`);
    await receipt();
    expect(shown(await packOf())).toMatch(/^<green>TRUE /);
    await receipt("failed");
    expect(shown(await packOf())).toMatch(/^<bold>TRUE /);
  });

  test("cannot be changed in their detail, by another key's signature, or by leaving out the signature", async () => {
    const id = await told("no space left");
    await packOf();
    const files = await filesOf(file("signed.zip"));
    const path = `events/${id}.json`;
    const { signer } = organisation.service;
    const forged = async (change: (bundle: EventBundle) => EventBundle): Promise<PackOutcome> => {
      const changed = new Map(files);
      const bundle = change(JSON.parse(String(files.get(path))) as EventBundle);
      changed.set(path, Buffer.from(JSON.stringify(bundle)));
      await writeZip(
        file("forged.zip"),
        await withManifest(changed, (origin, text) => signer.signText(origin, text)),
      );
      return verify(file("forged.zip"), log, [agent]);
    };
    expect(idsOf(await forged((bundle) => bundle), "failed")).toEqual([]);
    const stranger = { ...agent, ...newKeyPair() };
    for (const change of [
      (bundle: EventBundle) => ({ ...bundle, event: { ...bundle.event, detail: { reason: "other" } } }),
      (bundle: EventBundle) => {
        const { envelope, ...unsigned } = bundle;
        expect(envelope).toBeDefined();
        return unsigned;
      },
      (bundle: EventBundle) => {
        const event = { ...bundle.event, detail: { reason: "other" } };
        return { ...bundle, event, envelope: signedEventBody(stranger, event).body.envelope };
      },
    ]) {
      const outcome = await forged(change);
      expect(outcome.verdict).toBe("false");
      expect(idsOf(outcome, "failed")).toContain("events");
    }
  });

  test("do not count as the agent's if they are signed with a key that the service's operator made", async () => {
    const own = { ...agent, ...newKeyPair() };
    const event = {
      kind: "restore_failed",
      occurred_at: new Date().toISOString(),
      detail: { reason: "none" },
    };
    const id = await told("no space left");
    // As the operator can: the log's own entry is of what another key signed.
    const { body, sha256 } = signedEventBody(own, event);
    const { pool } = organisation.service;
    const refused = await agent.post("/v1/events", body);
    expect([refused.status, refused.json["error"]]).toEqual([422, "receipt_signature_invalid"]);
    await pool.query("update events set envelope = $2, payload_sha256 = decode($3, 'hex') where id = $1", [
      id,
      Buffer.from(JSON.stringify(body.envelope)),
      sha256,
    ]);
    expect((await packOf()).verdict).toBe("false");
  });
});
