import {
  parsePublicKeyWire,
  parseVerifierKey,
  type EventBundle,
  type Manifest,
  type PackPolicy,
  type ScheduledRun,
  sshFingerprint,
} from "@attestore/proof";
import { describe, expect, test, vi } from "vitest";
import { restoreTestStatement } from "../../../packages/proof/test/receipt-fixture.ts";
import type { CheckedReceipt } from "../../../packages/verifier/src/pack/entries/check-receipt.ts";
import { keptStatement } from "../../../packages/verifier/src/pack/entries/kept-statement.ts";
import { RunDecisions } from "../../../packages/verifier/src/pack/runs/run-decisions.ts";
import { SourceTraces } from "../../../packages/verifier/src/pack/entries/source-traces.ts";
import { checkRuns } from "../../../packages/verifier/src/pack/runs/check-runs.ts";
import { Findings } from "../../../packages/verifier/src/pack/findings.ts";
import { PackFiles } from "../../../packages/verifier/src/pack/files/pack-files.ts";
import { openFileSource } from "../../../packages/verifier/src/zip/file-source.ts";
import { ZipReader } from "../../../packages/verifier/src/zip/zip-reader.ts";
import {
  restoreTestStatement as restoreTestOf,
  signedEnvelope,
} from "../../../packages/orchestrator/test/log/signed-receipt.ts";
import { makeHistory } from "../../../packages/orchestrator/test/history.ts";
import { appendInTransaction } from "../../../packages/orchestrator/src/log/events/append-in-transaction.ts";
import { eventOf, runsOf, setRuns } from "../harness/forgeries.ts";
import { editJson, filesOf, MINUTE_MS, save, withManifest, writeZip } from "../harness/packs.ts";
import { idsOf, makeGoodPack } from "./good-pack.ts";

// The database's clock cannot be set, and the log would notice that it does not go along.
vi.mock("../../../packages/orchestrator/src/log/clock-off.ts", async (original) => ({
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

const { organisation, good, file, verify } = await makeGoodPack();

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
