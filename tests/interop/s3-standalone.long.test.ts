import { randomBytes } from "node:crypto";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { s3Store } from "../../packages/agent/src/backends/standalone/s3/s3-store.ts";
import { runCli, type Finished } from "../../packages/agent/test/service/cli.ts";
import { startProxy } from "../../packages/agent/test/service/proxy.ts";
import { startS3Server, type S3Server } from "../e2e/harness/s3-server.ts";

/** A standalone root whose storage is a bucket of a real S3 server. */

let s3: S3Server;
let base: string;
let root: string;

beforeAll(async () => {
  s3 = await startS3Server({ tls: true });
  base = mkdtempSync(join(tmpdir(), "attestore-s3-lone-"));
  root = join(base, "root");
});
afterAll(async () => {
  rmSync(base, { recursive: true });
  await s3.remove();
});

const credentials = () => ({
  AWS_ACCESS_KEY_ID: s3.settings.accessKeyId,
  AWS_SECRET_ACCESS_KEY: s3.settings.secretAccessKey,
});
const cli = (args: readonly string[], env: Record<string, string> = {}): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root, ...credentials(), ...env }, cwd: base });

async function json<T = Record<string, unknown>>(
  args: readonly string[],
  code = 0,
  env: Record<string, string> = {},
): Promise<T> {
  const done = await cli([...args, "--json"], env);
  expect(done.code, `${args.join(" ")}\n${done.stdout}${done.stderr}`).toBe(code);
  return JSON.parse(done.stdout) as T;
}

/** Below the root's prefix. */
async function stored(): Promise<string[]> {
  const { body } = await s3.send({ method: "GET", query: { "list-type": "2", prefix: "db-1/" } });
  return [...body.toString().matchAll(/<Key>db-1\/([^<]+)<\/Key>/g)].map(([, key = ""]) => key);
}

function writeOrders(rows: number): void {
  rmSync(join(base, "orders.db"), { force: true });
  const database = new DatabaseSync(join(base, "orders.db"));
  database.exec("create table orders (id integer primary key)");
  const insert = database.prepare("insert into orders values (?)");
  for (let row = 0; row < rows; row++) insert.run(row);
  database.close();
}

it("backs up to a bucket, proves, restores and prunes, and does not pass a damaged backup", async () => {
  const place = ["--storage", "s3://backups/db-1", "--s3-endpoint", s3.settings.endpoint];
  await json(["init", "--standalone", ...place, "--s3-region", s3.settings.region]);
  writeFileSync(join(root, "keys/s3-ca.pem"), s3.certificate ?? "");
  const file = join(root, "config.yaml");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(/( +)endpoint:/, "$1ca_file: keys/s3-ca.pem\n$1endpoint:"),
  );
  writeOrders(200);
  await json(["source", "add", "orders", "--engine", "sqlite", "--path", join(base, "orders.db"), "--yes"]);
  expect((await cli(["doctor"])).stdout).toMatch(/✓ storage +s3:\/\/backups\/db-1/);

  const first = await json<{ backup_id: string }>(["backup"]);
  expect(await stored()).toEqual([`orders/${first.backup_id}.age`]);
  expect(readdirSync(join(root, "blobs")).filter((name) => name.endsWith(".age"))).toEqual([]);
  expect(await json(["restore-test"])).toMatchObject({ result: "passed", backup_id: first.backup_id });
  await json(["restore", "--output", join(base, "restored.db")]);
  const database = new DatabaseSync(join(base, "restored.db"), { readOnly: true });
  expect(database.prepare("select count(*) as n from orders").get()).toEqual({ n: 200 });
  database.close();

  // Behind a proxy, as everything else.
  const proxy = await startProxy();
  try {
    await json(["backup"], 0, { HTTPS_PROXY: proxy.url });
    expect(new Set(proxy.connected())).toEqual(new Set([new URL(s3.settings.endpoint).host]));
  } finally {
    await proxy.stop();
  }
  const third = await json<{ backup_id: string }>(["backup"]);
  await json(["restore-test"]);
  expect(await stored()).toHaveLength(3);
  await json(["prune", "--keep-last", "1", "--yes"]);
  expect(await stored()).toEqual([`orders/${third.backup_id}.age`]);

  const key = `db-1/orders/${third.backup_id}.age`;
  const { body } = await s3.send({ method: "GET", key });
  body[body.length - 20] = (body[body.length - 20] ?? 0) ^ 1;
  await s3.send({ method: "PUT", key, body });
  expect(await json(["restore-test"], 1)).toMatchObject({ result: "failed" });
  await s3.send({ method: "DELETE", key });
  expect(await json(["restore-test"], 2)).toMatchObject({ error: "object_refused" });
  expect(await json(["receipts", "verify"])).toMatchObject({ wrong: [] });
});

it("keeps a backup that the bucket refuses, and names the fault of its credentials", async () => {
  const wrong = { AWS_SECRET_ACCESS_KEY: "not-the-secret" };
  const failed = await cli(["backup"], wrong);
  expect(failed.code).toBe(2);
  expect(failed.stderr).toContain("queued in blobs/");
  expect(failed.stderr + failed.stdout).not.toContain("not-the-secret");
  expect((await cli(["doctor"], wrong)).code).toBe(1);
  const before = await stored();
  expect(await json(["sync"])).toMatchObject({ backups_delivered: 1 });
  expect(await stored()).toHaveLength(before.length + 1);
});

it("continues an upload in parts where the connection broke", async () => {
  const MiB = 1024 ** 2;
  const bytes = randomBytes(40 * MiB);
  const file = join(base, "large");
  writeFileSync(file, bytes);
  const far = new URL(s3.settings.endpoint);
  let carries = 25 * MiB;
  let carried = 0;
  const line = createServer((near) => {
    const store = connect(Number(far.port), "127.0.0.1");
    for (const socket of [near, store]) socket.on("error", () => socket.destroy());
    near.on("close", () => store.destroy());
    store.on("close", () => near.end());
    store.pipe(near);
    near.on("data", (chunk: Buffer) => {
      carries -= chunk.length;
      carried += chunk.length;
      if (carries < 0) near.destroy();
      else store.write(chunk);
    });
  }).listen(0, "127.0.0.1");
  await once(line, "listening");
  const { bucket, region } = s3.settings;
  mkdirSync(join(base, "secrets"));
  for (const [name, text] of Object.entries(credentials())) writeFileSync(join(base, "secrets", name), text);
  const store = await s3Store(
    {
      bucket,
      region,
      prefix: "db-1",
      endpoint: new URL(`https://localhost:${(line.address() as AddressInfo).port}`),
      caFile: join(root, "keys/s3-ca.pem"),
      accessKeyId: { kind: "file", path: join(base, "secrets/AWS_ACCESS_KEY_ID") },
      secretAccessKey: { kind: "file", path: join(base, "secrets/AWS_SECRET_ACCESS_KEY") },
    },
    { backoff: { tries: 1, first_ms: 1, longest_ms: 1 }, singlePutBytes: MiB },
  );
  try {
    const object = {
      key: "orders/bkp_large.age",
      sha256: createHash("sha256").update(bytes).digest("hex"),
      sizeBytes: bytes.length,
    };
    const options = { signal: new AbortController().signal };
    await expect(store.put(object, file, options)).rejects.toMatchObject({ code: "unreachable" });
    expect(await stored()).not.toContain(object.key);
    [carries, carried] = [Number.POSITIVE_INFINITY, 0];
    await store.put(object, file, options);
    // At least the first part was there already.
    expect(carried).toBeLessThan(30 * MiB);
    expect((await s3.send({ method: "GET", key: `db-1/${object.key}` })).body.equals(bytes)).toBe(true);
    // Once more, as after a crash that came before anybody wrote down that it is stored.
    carried = 0;
    await store.put(object, file, options);
    expect(carried).toBeLessThan(MiB);
  } finally {
    store.close();
    line.close();
  }
});
