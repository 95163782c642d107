/**
 * What people and programs read of receipts whose envelopes are in the archive: the same as before.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { formatPublicKeyPem, publicKeyFromBytes } from "@attestore/proof";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { archiveReceipts } from "../../log/archive/archive-receipts.ts";
import { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import { FetchFirst } from "../../platform/database/fetch-first.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { insertAgent, insertBackup, type TestAgent, type TestBackup } from "../../../test/log/log-world.ts";
import { addOldReceipts } from "../../../test/log/old-receipts.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";
import { lastRunAfter } from "../agents/latest-run.ts";
import { archiveJob } from "./archive-job.ts";
import { findReceipt } from "./queries.ts";
import type { ReceiptEntry } from "./receipt-entry.ts";

const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let agent: TestAgent;
let backups: TestBackup[];
let entries: ReceiptEntry[];
let before: Record<string, string>;
let pack: Map<string, Buffer>;
let directory: string;

beforeAll(async () => {
  service = await startTestService();
  directory = await mkdtemp(join(tmpdir(), "attestore-archived-"));
  org = await service.addOrg();
  owner = await service.signIn(org);
  agent = await insertAgent(service.database, org.id);
  const first = await insertBackup(service.database, agent);
  const more = [await insertBackup(service.database, agent), await insertBackup(service.database, agent)];
  backups = [first, ...more.map((backup) => ({ ...backup, sourceId: first.sourceId }))];
  await service.pool.query("update backups set source_id = $1 where org_id = $2", [first.sourceId, org.id]);
  await service.pool.query("update sources set created_at = now() - interval '210 days'");
  entries = await addOldReceipts(service.pool, agent, {
    backups,
    count: 300,
    from: daysAgo(200),
    every_ms: 60_000,
  });
  before = await readAll();
  pack = await readPack();
  expect(await archive(org.id)).toMatchObject({ files: 1, receipts: 256 });
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

const archive = (orgId: string) =>
  archiveReceipts(
    { db: service.byClock, files: service.objects.files, requireStore: () => Promise.resolve() },
    { orgId, before: daysAgo(100), signal: new AbortController().signal },
  );

const idAt = (n: number): string => entries[n]?.id ?? "";

/** Every call that shows something of an envelope, about old receipts and newer ones. */
function paths(): string[] {
  const source = `/api/orgs/${org.id}/sources/${backups[0]?.sourceId ?? ""}`;
  const ids = [0, 1, 255, 256, 299].map(idAt);
  return [
    ...ids.flatMap((id) =>
      ["", "/bundle", "/bundle?format=sigstore", "/bundle?format=tlog-proof"].map(
        (more) => `/api/receipts/${id}${more}`,
      ),
    ),
    `${source}/restore-tests?limit=200`,
    `${source}/drift`,
    `/api/orgs/${org.id}/receipts?limit=200`,
  ];
}

async function readAll(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of paths()) {
    const answer = await owner.get(path);
    found[path] = `${answer.status} ${answer.body.toString()}`;
  }
  return found;
}

async function readPack(): Promise<Map<string, Buffer>> {
  const [from, to] = [daysAgo(201), daysAgo(198)].map((day) => day.toISOString().slice(0, 10));
  const answer = await owner.get(`/api/orgs/${org.id}/evidence?from=${from}T00:00:00Z&to=${to}T00:00:00Z`);
  expect(answer.status, answer.body.toString("latin1").slice(0, 300)).toBe(200);
  const zip = join(directory, "pack.zip");
  await writeFile(zip, answer.body);
  const unpacked = await mkdtemp(join(directory, "pack-"));
  execFileSync("unzip", ["-q", zip, "-d", unpacked]);
  const names = execFileSync("unzip", ["-Z1", zip], { encoding: "utf8" }).trim().split("\n");
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(unpacked, name))] as const)),
  );
}

test("each call answers as before, byte for byte", async () => {
  expect(Object.values(before).map((answer) => answer.slice(0, 3))).toEqual(paths().map(() => "200"));
  const { rows } = await service.pool.query("select from receipts where org_id = $1 and envelope is null", [
    org.id,
  ]);
  expect(rows).toHaveLength(256);
  expect(await readAll()).toEqual(before);
});

test("a pack of that time has the same receipts, and verifies", async () => {
  const now = await readPack();
  const receipts = [...pack.keys()].filter((name) => name.startsWith("receipts/"));
  expect(receipts).toHaveLength(300);
  for (const name of receipts)
    expect(now.get(name)?.equals(pack.get(name) ?? Buffer.alloc(0)), name).toBe(true);
  expect([...now.keys()]).toEqual([...pack.keys()]);
  const bundle = JSON.parse(now.get(receipts[0] ?? "")?.toString() ?? "") as {
    log: { verifier_key: string };
  };
  await writeFile(join(directory, "log.vkey"), `${bundle.log.verifier_key}\n`);
  await writeFile(join(directory, "agent.pem"), formatPublicKeyPem(publicKeyFromBytes(agent.publicKey)));
  const { stdout } = await promisify(execFile)(process.execPath, [
    inject("programs")["attestore-verify"],
    join(directory, "pack.zip"),
    "--log-key",
    join(directory, "log.vkey"),
    "--key",
    join(directory, "agent.pem"),
  ]);
  for (const line of [
    "receipts signed by their agents and in the log: 300 receipts",
    "everything recorded in the period is there: 300 entries",
  ])
    expect(stdout).toMatch(new RegExp(`held +\\w+ +${line}`));
  expect(stdout).toMatch(/^TRUE /);
});

test("when an agent's last run ended is known as before, also if all of its receipts are archived", async () => {
  const last = (of: TestAgent) =>
    service.database.transaction().execute((tx) => lastRunAfter(tx, of.id, daysAgo(201)));
  expect((await last(agent))?.toISOString()).toBe(entries.at(-1)?.statement.predicate.finished_at);
  const other = await insertAgent(service.database, (await service.addOrg()).id);
  const old = await addOldReceipts(service.pool, other, {
    backups: [await insertBackup(service.database, other)],
    count: 256,
    from: daysAgo(200),
    every_ms: 60_000,
  });
  expect(await archive(other.orgId)).toMatchObject({ receipts: 256 });
  expect((await last(other))?.toISOString()).toBe(old.at(-1)?.statement.predicate.finished_at);
});

test("the job archives what is old enough, in each log, and does nothing twice", async () => {
  const { id } = await service.addOrg();
  const other = await insertAgent(service.database, id);
  await addOldReceipts(service.pool, other, {
    backups: [await insertBackup(service.database, other)],
    count: 256,
    from: daysAgo(200),
    every_ms: 1000,
  });
  const run = (after_days: number) =>
    archiveJob({
      db: service.byClock,
      files: service.objects.files,
      logger: service.logger,
      requireDeletable: () => Promise.resolve(),
      after_days,
    }).run({
      now: new Date(),
      runningSince: new Date(),
      signal: new AbortController().signal,
    });
  const count = async (): Promise<number> =>
    (await service.pool.query("select from archive_files where org_id = $1", [id])).rows.length;
  await run(250);
  expect(await count()).toBe(0);
  await run(90);
  await run(90);
  expect(await count()).toBe(1);
  const told = service.logger.lines.filter(({ message }) => message === "archived receipts");
  expect(told.map(({ fields }) => fields)).toMatchObject([{ org_id: id, files: 1, receipts: 256 }]);
});

test("whoever waits for something to be fetched has neither a connection nor a turn", async () => {
  let holding = 0;
  const inTurn = async <T>(run: () => Promise<T>): Promise<T> => {
    holding += 1;
    return run().finally(() => (holding -= 1));
  };
  const meanwhile: number[] = [];
  const read = () => {
    if (meanwhile.length > 0) return Promise.resolve("read");
    throw new FetchFirst(async () => {
      meanwhile.push(holding, service.pool.totalCount - service.pool.idleCount);
    });
  };
  expect(await readInOrg(service.database, org.id, read, inTurn)).toBe("read");
  expect(meanwhile).toEqual([0, 0]);
});

test("what one transaction needs is there in the end, also if nothing is remembered for others", async () => {
  const forgetful = new ArchivedEnvelopes(service.objects.files, 0);
  const found = await readInOrg(service.database, org.id, async (tx) => {
    const ids: string[] = [];
    // Each asks for its envelope by itself.
    for (const n of [0, 10, 20, 30]) ids.push((await findReceipt(tx, forgetful, org.id, idAt(n)))?.id ?? "");
    return ids;
  });
  expect(found).toEqual([0, 10, 20, 30].map(idAt));
});

test("another organisation sees nothing of it", async () => {
  const stranger = await service.signIn(await service.addOrg());
  expect((await stranger.get(`/api/receipts/${idAt(0)}`)).status).toBe(404);
});

test("a file that is damaged or gone is our defect, and never another receipt", async () => {
  const root = join(dirname(service.objectFile("x")), ".attestore", "archive", org.id);
  const [name = ""] = await readdir(root);
  const sound = await readFile(join(root, name));
  // Nothing is in memory yet.
  const read = (n: number) => {
    const envelopes = new ArchivedEnvelopes(service.objects.files);
    return readInOrg(service.database, org.id, (tx) => findReceipt(tx, envelopes, org.id, idAt(n)));
  };
  const swapped = Buffer.from(sound);
  // The first envelope's bytes where the fifth's are: both are of a backup, and equally long.
  const { length } = entries[0]?.envelope ?? Buffer.alloc(0);
  expect(entries[4]?.envelope).toHaveLength(length);
  const start = entries.slice(0, 4).reduce((sum, { envelope }) => sum + envelope.length + 1, 0);
  swapped.set(sound.subarray(0, length), start);
  await writeFile(join(root, name), swapped);
  await expect(read(4)).rejects.toThrow("has another envelope at its place");
  expect((await read(0))?.id).toBe(idAt(0));
  await rm(join(root, name));
  await expect(read(0)).rejects.toThrow("is missing or too short");
  const replica = await service.listen();
  expect(
    (await replica.call({ method: "GET", path: `/api/receipts/${idAt(0)}`, token: owner.token })).status,
  ).toBe(500);
  await replica.close();
  await writeFile(join(root, name), sound);
  expect((await read(4))?.envelope.equals(entries[4]?.envelope ?? Buffer.alloc(0))).toBe(true);
});
