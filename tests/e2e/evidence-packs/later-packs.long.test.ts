import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type EventBundle,
  formatSummary,
  indexPage,
  type Manifest,
  type PackAgents,
  type PackPolicy,
  parseVerifierKey,
  type ReceiptBundle,
} from "@attestore/proof";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeHistory, testAgain, type History } from "../../../packages/orchestrator/test/history.ts";
import {
  startTestService,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../packages/orchestrator/test/service.ts";
import { sizesToCompare } from "../../../packages/verifier/src/pack/files/log-sizes.ts";
import { answerOfPacks } from "../../../packages/verifier/src/pack/answer-of-packs.ts";
import type { PackOutcome } from "../../../packages/verifier/src/pack/verify-pack.ts";
import { verifyPackFile } from "../../../packages/verifier/src/pack/verify-pack-file.ts";
import { openFileSource } from "../../../packages/verifier/src/zip/file-source.ts";
import { eventOf } from "../harness/forgeries.ts";
import { editJson, type Files, filesOf, save, withManifest, writeZip } from "../harness/packs.ts";
import { pinned } from "./good-pack.ts";

/**
 * What the operator leaves out of a later pack, which nothing in that pack misses: an earlier pack
 * of the same log has it.
 */
const directory = mkdtempSync(join(tmpdir(), "attestore-later-packs-"));
const file = (name: string): string => join(directory, name);
let service: TestService;
let org: TestOrg;
let owner: TestUser;
let orders: History;
let users: History;
let earlier: string;
let later: string;
/** The earlier period, exported after the later one. */
let earlierAgain: string;

beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg("Example");
  owner = await service.signIn(org);
  const from = new Date().toISOString();
  orders = await makeHistory(service, org, { slug: "orders" });
  const { agent } = orders;
  users = await makeHistory(service, org, { slug: "users", agent });
  const configured = await owner.post(`/api/orgs/${org.id}/sources/${users.sourceId}/configure`, {
    schedule: { restore_test_cron: "0 2 * * *" },
  });
  expect(configured.status).toBe(200);
  const gone = await service.attach(org);
  await owner.post(`/api/orgs/${org.id}/agents/${gone.id}/revoke`);
  const boundary = new Date().toISOString();
  earlier = await pack("earlier.zip", `from=${from}&to=${boundary}`);
  await testAgain(orders, orders.backups[0] ?? expect.unreachable(), "passed");
  later = await pack("later.zip", `from=${boundary}`);
  await testAgain(orders, orders.backups[0] ?? expect.unreachable(), "passed");
  earlierAgain = await pack("earlier-again.zip", `from=${from}&to=${boundary}`);
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

async function pack(name: string, query: string): Promise<string> {
  return save(file(name), (await owner.get(`/api/orgs/${org.id}/evidence?${query}`)).body);
}

async function verify(...paths: string[]) {
  const { agent } = orders;
  const sizes = await sizesToCompare(paths.map((path) => () => openFileSource(path)));
  const given = { logKey: parseVerifierKey(agent.log.verifier_key), keys: [pinned(agent)], sizes };
  const outcomes: PackOutcome[] = [];
  for (const path of paths) outcomes.push(await verifyPackFile(path, given));
  const [joined] = answerOfPacks(outcomes, false).joined;
  return {
    outcomes,
    alone: outcomes.map(({ verdict }) => verdict),
    joined: joined?.verdict,
    others: joined?.checks.filter(({ result }) => result !== "held") ?? [],
  };
}

/** The service signs what it changed, with the summary and the page that follow from it. */
async function forged(name: string, change: (files: Files) => void): Promise<string> {
  const files = await filesOf(later);
  change(files);
  const path = file(name);
  const write = async (): Promise<void> =>
    writeZip(path, await withManifest(files, (origin, text) => service.signer.signText(origin, text)));
  await write();
  const [outcome] = (await verify(path)).outcomes;
  const summary = outcome?.summary ?? expect.unreachable();
  const { generator } = JSON.parse(String(files.get("manifest.json"))) as Manifest;
  files.set("summary.json", Buffer.from(formatSummary(summary)));
  files.set("index.html", Buffer.from(indexPage(summary, generator)));
  await write();
  return path;
}

/** Leaves out what the pack has about the source that did nothing in its period. */
function withoutUsers(files: Files): void {
  for (const [path, bytes] of files) {
    if (!/^(?:events|receipts)\//.test(path)) continue;
    const { event, envelope } = JSON.parse(String(bytes)) as Partial<EventBundle & ReceiptBundle>;
    const told = event ?? Buffer.from(envelope?.payload ?? "", "base64").toString();
    if (JSON.stringify(told).includes(users.sourceId)) files.delete(path);
  }
}

/** Whichever of the two packs was made first. */
async function expectSettings(path: string, verdict: string, result: string): Promise<void> {
  for (const other of [earlier, earlierAgain]) {
    const { alone, joined, others } = await verify(other, path);
    expect([alone, joined]).toEqual([["true", "true"], verdict]);
    expect(others).toMatchObject([{ id: "settings", result }]);
  }
}

test("packs that follow on each other are true", async () => {
  expect(await verify(earlier, later)).toMatchObject({ alone: ["true", "true"], joined: "true" });
  expect(await verify(earlierAgain, later)).toMatchObject({ alone: ["true", "true"], joined: "true" });
});

test("a source of the earlier pack is not left out of the later one", async () => {
  const path = await forged("source.zip", (files) => {
    withoutUsers(files);
    editJson<PackPolicy>(files, "policy.json", (policy) => {
      policy.sources = policy.sources.filter(({ id }) => id !== users.sourceId);
    });
  });
  await expectSettings(path, "false", "failed");
});

test("a schedule that the earlier pack shows is not left out of the later one", async () => {
  const path = await forged("schedule.zip", (files) => {
    withoutUsers(files);
    editJson<PackPolicy>(files, "policy.json", ({ sources }) => {
      for (const source of sources) if (source.id === users.sourceId) source.schedule = null;
    });
  });
  await expectSettings(path, "cannot_tell", "not_checked");
});

test("an agent's revocation is not left out of a pack", async () => {
  const path = await forged("revocation.zip", (files) => {
    files.delete(eventOf(files, "agent_revoked"));
    editJson<PackAgents>(files, "keys/agents.json", ({ agents }) => {
      for (const agent of agents) {
        agent.valid_until = null;
        agent.revoked_event_id = null;
      }
    });
  });
  await expectSettings(path, "false", "failed");
});

test("a failed test that came after the earlier pack, and is dated before its end, is counted in one of them", async () => {
  const from = new Date(Date.now() - 60_000).toISOString();
  const client = await service.pool.connect();
  await client.query("begin");
  await client.query("select from logs where org_id = $1 for no key update", [org.id]);
  const [backup = expect.unreachable()] = orders.backups;
  // Dated when it came, and appended once the log is free.
  const sent = testAgain(orders, backup, "failed");
  const waiting = "select from pg_locks where not granted and locktype = 'transactionid'";
  await vi.waitFor(async () => expect((await client.query(waiting)).rowCount).toBe(1), { timeout: 90_000 });
  const boundary = new Date(Date.now() + 1).toISOString();
  const query = `from=${from}&to=${boundary}`;
  await vi.waitFor(() => expect(new Date().toISOString() > boundary).toBe(true));
  const before = await pack("before.zip", query);
  await client.query("rollback");
  client.release();
  const receipt = await sent;
  const after = await pack("after.zip", `from=${boundary}`);
  const { outcomes, alone, joined, others } = await verify(before, after);
  expect(outcomes.map(({ summary }) => summary?.totals.restore_tests.failed)).toEqual([0, 0]);
  expect([alone, joined]).toEqual([["true", "true"], "cannot_tell"]);
  expect(others).toMatchObject([{ id: "periods", result: "not_checked" }]);
  expect(others[0]?.detail).toContain(receipt);
  // Exported again, the first pack has it.
  const again = await verify(await pack("before.zip", query), after);
  expect(again.outcomes[0]?.summary?.totals.restore_tests.failed).toBe(1);
  expect(again.joined).toBe("true");
});

test("a change after the period is not one of the pack, and does not stand for the one before it", async () => {
  const from = new Date().toISOString();
  await testAgain(orders, orders.backups[0] ?? expect.unreachable(), "passed");
  const boundary = new Date().toISOString();
  const path = `/api/orgs/${org.id}/sources/${users.sourceId}/configure`;
  expect((await owner.post(path, { retention: { keep_last: 7 } })).status).toBe(200);
  // Its policy is that of the export, and no hourly checkpoint ends its leaves before that.
  later = await pack("period.zip", `from=${from}&to=${boundary}`);
  const [honest] = (await verify(later)).outcomes;
  expect([honest?.verdict, honest?.checks.filter(({ result }) => result !== "held")]).toEqual(["true", []]);
  const since = await filesOf(await pack("since.zip", `from=${boundary}`));
  const before = eventOf(await filesOf(later), "source_configured");
  since.delete(before);
  const change = eventOf(since, "source_configured");
  const forgery = await forged("moved.zip", (files) => {
    files.delete(before);
    files.set(change, since.get(change) ?? expect.unreachable());
  });
  const [outcome] = (await verify(forgery)).outcomes;
  const line = outcome?.checks.find(({ id }) => id === "schedules");
  expect(line).toMatchObject({ result: "not_checked", detail: expect.stringContaining("unknown: users") });
});
