/** A service of two workers, with its own PostgreSQL, whose processes are replaced and killed. */
import { randomBytes, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import type { ClientRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  declareSource,
  heartbeatBody,
  put,
  uploadUrl,
  type UploadUrl,
  writeEncryptedDump,
  type BackupRecord,
} from "../e2e/harness/backups.ts";
import { exchange } from "../e2e/harness/https.ts";
import { attach, createAuthKey, createOrganisation, type WireAgent } from "../e2e/harness/organisation.ts";
import { descendants, type Process } from "../e2e/harness/processes.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";
import { signUp } from "../e2e/harness/session.ts";
import { until } from "../e2e/harness/wait.ts";
import { ReceiptStream, type Acknowledged } from "./receipt-stream.ts";
import { SeenHeads } from "./seen-heads.ts";
import { storedReceipts } from "./stored-receipts.ts";

const WORKERS = 2;

let server: Server;
let submitters: { agent: WireAgent; backup: BackupRecord }[];
const acknowledged: Acknowledged[] = [];

beforeAll(async () => {
  server = await startServer({
    ATTESTORE_WORKERS: String(WORKERS),
    ATTESTORE_RATE_DEFAULT: "1000000/60",
    ATTESTORE_SHUTDOWN_S: "2",
  });
  submitters = [];
  for (let n = 0; n < 2; n++) {
    const agent = await attach(await createOrganisation(server));
    submitters.push({ agent, backup: await writeEncryptedDump(agent, await declareSource(agent)) });
  }
});
afterAll(() => server.remove());

/** A client whose every call is a connection of its own: the workers take them in turn. */
const unpooled = (): Server => ({ ...server, connections: new Agent({ keepAlive: false }) });

const started = (): Process[] => descendants(server.pid() ?? NaN);
const workers = (): number[] =>
  started()
    .filter(({ command }) => command.includes("serve --worker"))
    .map(({ pid }) => pid);

async function allListen(): Promise<void> {
  await until("each worker answers", async () => {
    const shown = await samples("process_start_time_seconds");
    return workers().length === WORKERS && shown.length === WORKERS;
  });
}

/** Lines of the metric. */
async function samples(name: string): Promise<string[]> {
  const answer = await exchange(unpooled(), { method: "GET", path: "/metrics" });
  const lines = answer.body.toString().split("\n");
  return lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
}

const values = async (name: string): Promise<number[]> =>
  (await samples(name)).map((line) => Number(line.slice(line.lastIndexOf(" "))));
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

test("each worker's metrics have its label, and the service's metrics are there once", async () => {
  await allListen();
  expect((await samples("process_start_time_seconds")).map((line) => line.replace(/ \S+$/, ""))).toEqual([
    'process_start_time_seconds{worker="1"}',
    'process_start_time_seconds{worker="2"}',
  ]);
  expect(await samples("attestore_database_up")).toEqual(["attestore_database_up 1"]);
  expect(await samples("attestore_certificate_not_after_timestamp_seconds")).toHaveLength(1);
  const text = (await exchange(server, { method: "GET", path: "/metrics" })).body.toString();
  const names = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const series = names.map((line) => line.slice(0, line.lastIndexOf(" ")));
  expect(series.length).toBe(new Set(series).size);
});

test("an agent that waits at one worker hears of a command that came to another", async () => {
  const person = await signUp([server]);
  const agent = await attach({
    server,
    id: person.orgId,
    authKey: await createAuthKey(server, person.orgId),
  });
  const path = `/api/orgs/${person.orgId}/sources/${await declareSource(agent)}/trigger`;
  const trigger = /worker="(\d)",method="POST",route="\/api\/orgs\/:orgID\/sources\/:sourceID\/trigger"/;
  const handled = async (): Promise<string[]> => {
    const lines = await samples("attestore_http_request_duration_seconds_count");
    return lines.filter((line) => trigger.test(line));
  };
  let hasCrossed = false;
  // Connections go to the workers in turn, also those that ask for metrics.
  for (let n = 0; n < 20 && !hasCrossed; n++) {
    if (n % 2 === 1) await exchange(unpooled(), { method: "GET", path: "/healthz" });
    const held = exchange(unpooled(), { method: "GET", path: "/v1/commands?wait_s=50", token: agent.token });
    await until("a worker holds it", async () => sum(await values("attestore_agents_waiting")) === 1);
    const holder = (await samples("attestore_agents_waiting")).find((line) => line.endsWith(" 1"));
    const before = await handled();
    const asked = await exchange(unpooled(), {
      method: "POST",
      path,
      token: person.token,
      json: { kind: "backup" },
      idempotencyKey: randomUUID(),
    });
    expect(asked.status).toBe(202);
    // Without word from the other worker it would be told `false`, after the 50 seconds.
    expect((await held).json()).toEqual({ queued: true });
    const by = (await handled()).find((line) => !before.includes(line));
    hasCrossed = by !== undefined && holder?.includes(`worker="${trigger.exec(by)?.[1]}"`) === false;
    const taken = await agent.call("POST", "/v1/heartbeat", heartbeatBody({}));
    const acks = taken.json<{ commands: { id: string }[] }>().commands.map(({ id }) => ({ command_id: id }));
    await agent.call("POST", "/v1/heartbeat", heartbeatBody({ acks }));
  }
  expect(hasCrossed).toBe(true);
});

test("an object that is sent again to another worker is stored, and the first sender is let go", async () => {
  const { agent } = submitterOf(0);
  const bytes = randomBytes(50_000);
  for (let n = 0; n < WORKERS; n++) {
    const { upload, ended } = await beginUpload(agent, bytes);
    expect((await put({ ...agent, server: unpooled() }, upload, bytes)).status).toBe(200);
    expect(await ended).not.toBe(200);
    await until("nothing of it is left", () => incoming().length === 0);
  }
});

test("SIGHUP replaces the workers one by one, and no request fails", async () => {
  const before = workers();
  await using stream = new ReceiptStream(submitters, 4);
  await using fresh = new ReceiptStream(
    submitters.map((one) => ({ ...one, agent: { ...one.agent, server: unpooled() } })),
    1,
  );
  const { agent } = submitterOf(0);
  const bytes = randomBytes(50_000);
  const begun = await beginUpload(agent, bytes);
  await Promise.all([stream.advance(20), fresh.advance(10)]);
  process.kill(server.pid() ?? NaN, "SIGHUP");
  await until("the workers were replaced", () => server.talk().includes('"the workers were replaced"'));
  await Promise.all([stream.advance(20), fresh.advance(10)]);
  // One of the former workers is there until this has ended.
  expect(workers()).toHaveLength(WORKERS + 1);
  begun.request.end(bytes.subarray(begun.sent));
  expect(await begun.ended).toBe(200);
  await until("the former workers have ended", () => workers().length === WORKERS);
  await stream.stop();
  await fresh.stop();
  expect([stream.disturbed, fresh.disturbed]).toEqual([0, 0]);
  expect(workers().filter((pid) => before.includes(pid))).toEqual([]);
  await requireAllThere([...stream.acknowledged, ...fresh.acknowledged]);
});

test("kill -9 of each worker under load: nothing acknowledged is lost, and another takes its place", async () => {
  for (const [round, kept] of workers().entries()) {
    const before = workers();
    await using stream = new ReceiptStream(submitters, 4);
    await stream.advance(20);
    const killed = before.find((pid) => pid !== kept) ?? NaN;
    process.kill(killed, "SIGKILL");
    await stream.advance(20);
    await until(
      "another worker has started",
      () => !workers().includes(killed) && workers().length === WORKERS,
    );
    await allListen();
    await stream.advance(20);
    await stream.stop();
    expect(server.talk().match(/a worker ended unexpectedly/g)).toHaveLength(round + 1);
    await requireAllThere(stream.acknowledged);
  }
});

test("a stopped worker is killed and replaced, and receipts are accepted meanwhile", async () => {
  const [stopped = NaN] = workers();
  await using stream = new ReceiptStream(
    submitters.map((one) => ({ ...one, agent: { ...one.agent, server: unpooled() } })),
    1,
    { idle_ms: 2000 },
  );
  await stream.advance(20);
  process.kill(stopped, "SIGSTOP");
  await stream.advance(20);
  // One that started a moment ago, and was asked nothing yet, has a minute.
  const another = async (): Promise<boolean> => {
    await stream.advance(1);
    return !workers().includes(stopped) && workers().length === WORKERS;
  };
  await until("it was killed, and another has started", another, 180);
  // What it wrote arrives through a pipe, which may be read after the new process is seen.
  await until("the primary has said why", () =>
    server.talk().includes("a worker no longer answers, and is killed"),
  );
  await allListen();
  await stream.stop();
  await requireAllThere(stream.acknowledged);
});

test("a worker that stands still while it starts is killed and replaced too", async () => {
  const before = workers();
  const [killed = NaN] = before;
  process.kill(killed, "SIGKILL");
  const starting = await until("another starts", () => workers().find((pid) => !before.includes(pid)));
  process.kill(starting, "SIGSTOP");
  await until(
    "a third one has started",
    () => !workers().includes(starting) && workers().length === WORKERS,
    180,
  );
  await allListen();
});

test("workers that cannot start leave the others as they are, and come back when they can", async () => {
  const key = join(server.data, "keys", "log-signing.pem");
  const before = workers();
  renameSync(key, `${key}.away`);
  process.kill(server.pid() ?? NaN, "SIGHUP");
  await until("the new one was refused", () =>
    server.talk().includes("a worker was not replaced: the new one did not start"),
  );
  expect(server.talk()).toContain("log-signing.pem is missing");
  expect(workers()).toEqual(before);
  const [killed = NaN] = before;
  process.kill(killed, "SIGKILL");
  const ends = (): number => server.talk().match(/a worker ended unexpectedly/g)?.length ?? 0;
  const seen = ends();
  await until("several attempts have failed", () => ends() >= seen + 3);
  expect((await exchange(unpooled(), { method: "GET", path: "/readyz" })).status).toBe(200);
  renameSync(`${key}.away`, key);
  await allListen();
});

test("SIGTERM cuts off what does not end, and leaves no process", async () => {
  const all = started();
  const { ended } = await beginUpload(submitterOf(0).agent, randomBytes(50_000));
  const { code, stdout } = await server.stop();
  expect(await ended).toBeInstanceOf(Error);
  expect([code, stdout]).toEqual([0, expect.stringContaining("requests still in flight were cut off")]);
  expect(left(all)).toEqual([]);
  expect(incoming()).toEqual([]);
  await server.start();
});

test("kill -9 of the primary ends its workers and PostgreSQL, and the next start continues", async () => {
  await allListen();
  const all = started();
  expect(all.length).toBeGreaterThan(WORKERS);
  await using stream = new ReceiptStream(submitters, 4);
  await stream.advance(20);
  await server.kill();
  await until("all its processes have ended", () => left(all).length === 0);
  await server.start();
  await stream.advance(20);
  await stream.stop();
  await requireAllThere(stream.acknowledged);
});

/** Those that still run: a zombie waits for somebody to ask how it ended. */
function left(processes: readonly Process[]): Process[] {
  return processes.filter(({ pid }) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return !stat.slice(stat.lastIndexOf(")")).startsWith(") Z");
    } catch {
      return false;
    }
  });
}

function submitterOf(n: number): { agent: WireAgent; backup: BackupRecord } {
  const submitter = submitters[n];
  if (submitter === undefined) throw new Error(`there are ${submitters.length} submitters`);
  return submitter;
}

interface BegunUpload {
  upload: UploadUrl;
  request: ClientRequest;
  /** Bytes that the service has already. */
  sent: number;
  /** The answer's status, or the error that ended it. */
  ended: Promise<number | Error>;
}

/** On a connection of its own, and stalled after its first part has arrived. */
async function beginUpload(agent: WireAgent, bytes: Buffer): Promise<BegunUpload> {
  const upload = await uploadUrl(agent, await declareSource(agent), bytes);
  const request = httpsRequest(upload.upload_url, {
    method: "PUT",
    headers: upload.headers,
    ca: server.ca,
    agent: new Agent({ keepAlive: false }),
  });
  const ended = new Promise<number | Error>((resolve) => {
    request.once("error", resolve);
    request.once("response", (response) => resolve(response.resume().statusCode ?? 0));
  });
  const sent = bytes.length / 2;
  request.write(bytes.subarray(0, sent));
  await until("it is being received", () => incoming().length === 1);
  return { upload, request, sent, ended };
}

function incoming(): string[] {
  return readdirSync(join(server.data, "objects", ".incoming"));
}

/** Each acknowledged receipt is stored at its place, and all heads that were seen are one log's. */
async function requireAllThere(more: readonly Acknowledged[]): Promise<void> {
  acknowledged.push(...more);
  for (const { agent } of submitters) {
    const seen = new SeenHeads(agent);
    for (const one of acknowledged) if (one.agent.id === agent.id) seen.take(one);
    await seen.requireExtended(seen.sizes.slice(-5));
  }
  const stored = await storedReceipts(server.data);
  expect(stored.size).toBe(acknowledged.length);
  for (const { receipt, envelopeSha256 } of acknowledged)
    expect(stored.get(receipt.receipt_id)).toEqual({
      log_index: receipt.log_index,
      envelope: envelopeSha256,
    });
  const fsck = await server.cliJson<{ ok: boolean; findings: unknown[] }>("fsck");
  expect(fsck).toMatchObject({ ok: true, findings: [] });
}
