import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  hashFromHex,
  openLogCheckpoint,
  parseBundle,
  parsePublicKeyWire,
  parseVerifierKey,
  verifyReceipt,
} from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setBack } from "../../../test/log/set-back.ts";
import { makeHistory, type History } from "../../../test/history.ts";
import {
  heartbeat,
  startTestService,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";
import { beginNextGeneration } from "../../log/recovery/recover-log.ts";
import { findCutLogs } from "../../log/recovery/lost-heads.ts";

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let history: History;
let directory: string;
let lostHead: string;
/** What a member was told while the log was read-only. */
let readOnly: unknown[];
const whatIsSaid = async (): Promise<unknown[]> => [
  (await owner.get(`/api/orgs/${org.id}/log`)).json["read_only"],
  ((await owner.get(`/api/orgs/${org.id}/overview`)).json["log"] as { is_read_only: boolean }).is_read_only,
];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "log-generations-"));
  service = await startTestService();
  org = await service.addOrg("Cut");
  owner = await service.signIn(org);
  history = await makeHistory(service, org, { backups: 2 });
  const event = () => ({ kind: "backup_failed", occurred_at: new Date().toISOString(), detail: {} });
  await setBack(service.pool, org.id, async () => {
    await history.agent.post("/v1/events", event());
    lostHead = (await history.agent.get("/v1/log/head")).json["checkpoint"] as string;
  });
  // The agent brings its head, and the log is read-only.
  await history.agent.post("/v1/heartbeat", heartbeat({ log_head: lostHead }));
  expect((await history.agent.post("/v1/events", event())).status).toBe(503);
  readOnly = await whatIsSaid();
  const [cut] = await findCutLogs(service.pool, new Map());
  await service.database.transaction().execute((tx) =>
    beginNextGeneration(tx, {
      orgId: org.id,
      left: { size: cut!.left!.size, rootHash: hashFromHex(cut!.left!.root) },
      lost: cut!.lost.map(({ root, ...head }) => ({ ...head, rootHash: hashFromHex(root) })),
      by: "alice",
      because: "failover",
    }),
  );
  expect((await history.agent.post("/v1/events", event())).status).toBe(201);
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

test("a member sees that the log is read-only, until it continues", async () => {
  expect([readOnly, await whatIsSaid()]).toEqual([
    [true, true],
    [false, false],
  ]);
});

test("a receipt of before the loss is true in the second generation, with the events that began it", async () => {
  const { body } = await owner.get(`/api/receipts/${history.backups[0]?.receipts.restore_test ?? ""}/bundle`);
  const bundle = parseBundle(body);
  expect(bundle.log.origin).toBe(`${history.agent.log.origin}/2`);
  const { verdict, checks } = await verifyReceipt({
    bundle,
    publicKey: parsePublicKeyWire(history.agent.publicKeyWire),
    logKey: parseVerifierKey(history.agent.log.verifier_key),
  });
  expect(verdict).toBe("true");
  expect(checks.find(({ id }) => id === "generation")?.detail).toContain("by alice: failover");
});

test("an evidence pack says how the generation began, and attestore-verify finds it true", async () => {
  const { status, body } = await owner.get(`/api/orgs/${org.id}/evidence`);
  expect(status).toBe(200);
  const pack = join(directory, "pack.zip");
  await writeFile(pack, body);
  const key = join(directory, "agent.pub");
  await writeFile(key, history.agent.publicKeyWire);
  const logKey = join(directory, "log.vkey");
  await writeFile(logKey, history.agent.log.verifier_key);
  const { stdout } = await run(pack, "--key", key, "--log-key", logKey, "--json");
  const text = stdout;
  expect(text).not.toMatch(/"(result|verdict)": ?"(failed|false)"/);
  expect(text).toContain("1 lost head named, by alice: failover");
});

test("an agent and a member read how the generation began; another organisation reads nothing", async () => {
  for (const json of [
    (await history.agent.get("/v1/log/generations")).json,
    (await owner.get(`/api/orgs/${org.id}/log/generations`)).json,
  ])
    expect([(json["began"] as unknown[]).length, json["lost"]]).toEqual([1, []]);
  const stranger = await service.attach(await service.addOrg());
  expect((await stranger.get("/v1/log/generations")).json).toEqual({ began: [], lost: [] });
  const other = await service.signIn(await service.addOrg());
  expect((await other.get(`/api/orgs/${org.id}/log/generations`)).status).toBe(404);
  // Nor does another organisation's agent say anything of this log.
  await stranger.post("/v1/heartbeat", heartbeat({ log_head: lostHead }));
  expect((await history.agent.get("/v1/log/generations")).json["lost"]).toEqual([]);
  const keys = (await owner.get(`/api/orgs/${org.id}/log`)).json;
  expect(keys["log_id"]).toBe(`${history.agent.log.origin}/2`);
  const head = (await history.agent.get("/v1/log/head")).json["checkpoint"] as string;
  const opened = await openLogCheckpoint(head, parseVerifierKey(keys["verifier_key"] as string));
  expect(opened.generation).toBe(2);
});

test("entries that came into the log again are counted: those from before the loss, and no others", async () => {
  const again = async () => (await owner.get(`/api/orgs/${org.id}/log`)).json["handed_in_again"];
  expect(await again()).toEqual([{ generation: 2, receipts: 0, events: 0 }]);
  // As a receipt that its agent hands in again; no proof holds for it.
  await service.pool.query(
    "update receipts set happened_at = '2026-01-01', log_index = 100, id = 'rcpt_7' || substring(id from 7) where id = $1",
    [history.backups[1]?.receipts.restore_test],
  );
  expect(await again()).toEqual([{ generation: 2, receipts: 1, events: 0 }]);
});

/** attestore-verify, whatever it answers. */
function run(...args: string[]): Promise<{ stdout: string }> {
  const program = join(import.meta.dirname, "../../../../verifier/src/main.ts");
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { encoding: "utf8" }, (error, stdout, stderr) => {
      if (stdout === "") reject(new Error(stderr, { cause: error }));
      else resolve({ stdout });
    });
  });
}
