import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  type EvidenceSummary,
  type LogRange,
  type Manifest,
  openCheckpoint,
  openNote,
  parseBundle,
  parseEventBundle,
  parseManifest,
  parsePublicKeyWire,
  parseVerifierKey,
  verifyReceipt,
} from "@attestore/proof";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makeHistory, type History } from "../../../test/history.ts";
import { endless } from "../../../test/endless-windows.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { packFiles } from "./pack-files.ts";
import { readSnapshot } from "./snapshot.ts";

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let history: History;
const directory = mkdtempSync(join(tmpdir(), "attestore-evidence-"));
beforeAll(async () => {
  service = await startTestService({ rateLimits: endless("evidence") });
  org = await service.addOrg("Example & Sons");
  owner = await service.signIn(org);
  history = await makeHistory(service, org, { backups: 2 });
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

const path = (query = "", id = org.id): string => `/api/orgs/${id}/evidence${query}`;

async function filesOf(user: TestUser, query = "", id = org.id): Promise<Map<string, Buffer>> {
  const answer = await user.get(path(query, id));
  expect(answer.status, answer.body.toString("latin1").slice(0, 300)).toBe(200);
  const zip = join(directory, "pack.zip");
  writeFileSync(zip, answer.body);
  const unpacked = mkdtempSync(join(directory, "pack-"));
  execFileSync("unzip", ["-q", zip, "-d", unpacked]);
  const names = execFileSync("unzip", ["-Z1", zip], { encoding: "utf8" }).trim().split("\n");
  return new Map(names.map((name) => [name, readFileSync(join(unpacked, name))]));
}

const json = <T>(files: Map<string, Buffer>, name: string): T => JSON.parse(String(files.get(name))) as T;

/** Such as 2026-11-21: the day `days` days from now. */
const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe("a pack", () => {
  test("has every receipt and event with its proof in one checkpoint, and a signed manifest of all files", async () => {
    const files = await filesOf(owner);
    const key = parseVerifierKey(history.agent.log.verifier_key);
    const checkpoint = String(files.get("log/checkpoint"));
    const { size } = await openCheckpoint(checkpoint, key);
    expect(size).toBe(5n);
    const receipts = history.backups.flatMap(({ receipts }) => Object.values(receipts));
    for (const id of receipts) {
      const bundle = parseBundle(files.get(`receipts/${id}.json`) ?? "");
      expect(bundle.checkpoint).toBe(checkpoint);
      const publicKey = parsePublicKeyWire(history.agent.publicKeyWire);
      expect((await verifyReceipt({ bundle, publicKey, logKey: key })).verdict).toBe("true");
    }
    const [event = ""] = [...files.keys()].filter((name) => name.startsWith("events/"));
    const { leaf } = parseEventBundle(files.get(event) ?? Buffer.alloc(0));
    expect(leaf).toMatchObject({ kind: "agent_attached", org_id: org.id });
    const manifest: Manifest = parseManifest(files.get("manifest.json") ?? Buffer.alloc(0));
    const unlisted = ["manifest.json", "manifest.note"];
    expect([...manifest.files.map((file) => file.path), ...unlisted]).toEqual([...files.keys()]);
    const { text } = await openNote(files.get("manifest.note") ?? "", [key]);
    const digest = hash("sha256", files.get("manifest.json") ?? "", "hex");
    expect(text).toBe(`${manifest.format}\n${manifest.log.origin}\n${digest}\n`);
    expect(json<EvidenceSummary>(files, "summary.json").totals).toMatchObject({
      receipts: 4,
      events: 1,
      backups: 2,
      restore_tests: { passed: 2, failed: 0 },
    });
  });

  test("is made of some receipts at a time: each may be large", async () => {
    const other = await service.addOrg();
    await makeHistory(service, other, { backups: 20 });
    const asked: number[] = [];
    const db = service.database.withPlugin({
      transformQuery: ({ node }) => {
        const ids = JSON.stringify(node).match(/rcpt_[0-9a-z]{26}/g) ?? [];
        asked.push(ids.length);
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    const now = new Date();
    const period = { from: new Date(now.getTime() - 86_400_000), to: now };
    const snapshot = await readInOrg(service.database, other.id, (tx) =>
      readSnapshot(tx, service.signer, { orgId: other.id, period, now }),
    );
    const paths: string[] = [];
    for await (const file of packFiles(
      { db, signer: service.signer, envelopes: service.envelopes },
      snapshot,
    ))
      paths.push(file.path);
    expect(paths.filter((name) => name.startsWith("receipts/"))).toHaveLength(40);
    expect(asked.reduce((sum, ids) => sum + ids, 0)).toBe(40);
    expect(Math.max(...asked)).toBeLessThanOrEqual(32);
  });

  test("is a file to save, that nothing in between keeps", async () => {
    const from = dayIn(-10);
    const { headers } = await owner.get(path(`?from=${from}T00:00:00Z`));
    expect(headers["content-type"]).toBe("application/zip");
    expect(headers["content-disposition"]).toMatch(
      new RegExp(`^attachment; filename="evidence-${org.id}-${from}-\\d{4}-\\d\\d-\\d\\d\\.zip"$`),
    );
    expect(headers["cache-control"]).toBe("no-store");
  });

  test("of a period in which nothing was has the policy, and says that nothing is shown", async () => {
    const files = await filesOf(owner, "?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z");
    const summary = json<EvidenceSummary>(files, "summary.json");
    expect(summary.totals).toMatchObject({ receipts: 0, events: 0, sources: 0 });
    expect(summary.not_proven[0]).toContain("There are no sources");
    expect(json<Manifest>(files, "manifest.json").period).toEqual({
      from: "2020-01-01T00:00:00.000Z",
      to: "2020-02-01T00:00:00.000Z",
    });
  });

  test("neither begins nor ends with an hourly head that a wrong clock dated: entries of the period would be missing", async () => {
    const { database } = service;
    const head = await database
      .selectFrom("log_heads")
      .selectAll()
      .where("org_id", "=", org.id)
      .where("tree_size", "=", 2)
      .executeTakeFirstOrThrow();
    const dated = (days: number) => {
      const at = new Date(Date.now() + days * 86_400_000);
      const { org_id, tree_size, root_hash } = head;
      return { org_id, tree_size, root_hash, hour: at, emitted_at: at, checkpoint: "" };
    };
    await database
      .insertInto("log_emissions")
      .values([dated(-2), dated(1)])
      .execute();
    try {
      const range = async (query: string) => json<LogRange>(await filesOf(owner, query), "log/range.json");
      const day = 86_400_000;
      const from = encodeURIComponent(new Date(Date.now() - day).toISOString());
      expect(await range(`?from=${from}`)).toMatchObject({ start: null, end: null, to_index: 5 });
      // A year later, when the wrong time is over.
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * day });
      expect(
        await range(`?to=${encodeURIComponent(new Date(Date.now() - day).toISOString())}`),
      ).toMatchObject({ end: null });
    } finally {
      vi.useRealTimers();
      await database.deleteFrom("log_emissions").where("checkpoint", "=", "").execute();
    }
  });

  test("of an organisation in which nothing ever was is one too", async () => {
    const empty = await service.addOrg();
    const files = await filesOf(await service.signIn(empty), "", empty.id);
    expect(json<Manifest>(files, "manifest.json").log.tree_size).toBe(0);
    expect(json<EvidenceSummary>(files, "summary.json").not_proven[0]).toContain("There are no sources");
  });

  test("has the state at the time of the request, whatever comes while it is downloaded", async () => {
    const outgoing = request({
      host: "127.0.0.1",
      servername: "localhost",
      port: service.port,
      ca: service.ca,
      path: path(),
      headers: { authorization: `Bearer ${owner.token}` },
    }).end();
    const [incoming] = (await once(outgoing, "response")) as [NodeJS.ReadableStream];
    await makeHistory(service, org, { agent: history.agent });
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    writeFileSync(join(directory, "read-late.zip"), Buffer.concat(chunks));
    const listed = execFileSync("unzip", ["-Z1", join(directory, "read-late.zip")], { encoding: "utf8" });
    expect(listed.match(/^receipts\//gm)).toHaveLength(4);
    expect(listed).toContain("log/tile/entries/000.p/5\n");
  });

  test("that nobody reads to its end leaves no file and no connection behind", async () => {
    const spools = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("attestore-pack-"));
    const before = spools();
    for (let n = 0; n < 12; n += 1) {
      const outgoing = request({
        host: "127.0.0.1",
        servername: "localhost",
        port: service.port,
        ca: service.ca,
        path: path(),
        headers: { authorization: `Bearer ${(await service.signIn(org)).token}` },
        agent: false,
      }).end();
      await once(outgoing, "response");
      outgoing.destroy();
    }
    // There are ten connections to the database: a call needs one of them.
    expect((await owner.get(`/api/orgs/${org.id}/receipts`)).status).toBe(200);
    expect(spools()).toEqual(before);
  });
});

test("is refused while two others are being downloaded, until one of them has ended", async () => {
  const open = async (token: string) => {
    const outgoing = request({
      host: "127.0.0.1",
      servername: "localhost",
      port: service.port,
      ca: service.ca,
      path: path(),
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    }).end();
    outgoing.on("error", () => undefined);
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    return { outgoing, status: response.statusCode };
  };
  const user = await service.signIn(org);
  // A small pack is sent whole before anybody reads it: the database's lock keeps these from being
  // made.
  const client = await service.pool.connect();
  let held: ReturnType<typeof open>[] = [];
  try {
    await client.query("begin");
    await client.query("lock table receipts in access exclusive mode");
    held = [open(user.token), open(user.token)];
    const waiting = async () =>
      (await client.query("select from pg_locks where not granted and database is not null")).rowCount;
    await vi.waitFor(async () => expect(await waiting()).toBe(2), { timeout: 30_000 });
    const refused = await user.get(path());
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "30"]);
  } finally {
    await client.query("rollback");
    client.release();
  }
  for (const { outgoing, status } of await Promise.all(held)) {
    expect(status).toBe(200);
    outgoing.destroy();
  }
  await vi.waitFor(async () => expect((await user.get(path())).status).toBe(200), { timeout: 30_000 });
});

describe("a period", () => {
  test.each([
    ["?from=yesterday", "/from"],
    ["?to=2026-02-30T00:00:00Z", "/to"],
    ["?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "/to"],
    ["?from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z", "/to"],
    ["?from=2999-01-01T00:00:00Z", "/from"],
    ["?from=2020-01-01T00:00:00Z&to=2021-03-01T00:00:00Z", "/from"],
    ["?since=2026-01-01T00:00:00Z", ""],
  ])("%s is refused", async (query, place) => {
    const answer = await owner.get(path(query));
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
    const { issues } = answer.json["details"] as { issues: { path: string }[] };
    expect(issues[0]?.path).toContain(place);
  });

  test("that is not over ends now", async () => {
    const files = await filesOf(owner, `?from=${dayIn(-10)}T00:00:00Z&to=${dayIn(30)}T00:00:00Z`);
    const { period, exported_at } = json<Manifest>(files, "manifest.json");
    expect(period.to <= exported_at).toBe(true);
  });
});

describe("who may", () => {
  test("owners, admins and auditors; nobody else, and nobody of another organisation", async () => {
    for (const role of ["owner", "admin", "auditor"] as const)
      expect((await (await service.signIn(org, role)).get(path())).status, role).toBe(200);
    const stranger = await service.signIn(await service.addOrg());
    expect((await stranger.get(path())).status).toBe(404);
    expect((await (await service.signIn(null)).get(path())).status).toBe(403);
    expect((await history.agent.get(path())).status).toBe(401);
    expect((await service.call({ method: "GET", path: path() })).status).toBe(401);
  });

  test("twenty times an hour", async () => {
    const user = await service.signIn(org);
    const old = path("?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z");
    for (let n = 0; n < 20; n += 1) expect((await user.get(old)).status).toBe(200);
    const answer = await user.get(old);
    expect([answer.status, answer.json["error"]]).toEqual([429, "rate_limited"]);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  });

  test("each call is in the API log", async () => {
    const user = await service.signIn(org, "auditor");
    await user.get(path());
    await expect
      .poll(async () => {
        const { json: body } = await owner.get(`/api/orgs/${org.id}/api-logs`);
        return (body["items"] as { route: string; actor: { id: string }; status: number }[]).some(
          ({ route, actor, status }) =>
            route === "/api/orgs/:orgID/evidence" && actor.id === user.id && status === 200,
        );
      })
      .toBe(true);
  });
});
