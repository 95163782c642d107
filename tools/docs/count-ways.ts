/**
 * Counts the files and functions that run on the two ways of docs/architecture.md:
 *
 *   npx node tools/docs/count-ways.ts [--list]
 *
 * - a receipt: from the request's bytes to the answer, in the service, by the third receipt of an
 *   agent (the first ones fill caches)
 * - a backup: from the start of the dump of a SQLite file to the ciphertext in blobs/, in the agent
 *
 * A file counts if one of its functions runs, whatever else it holds. Tests' own files do not
 * count.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Session } from "node:inspector/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { parseSourceConfig } from "../../packages/agent/src/config/source-config.ts";
import { writeEncryptedDump } from "../../packages/agent/src/runs/write-encrypted-dump.ts";
import { prepareReceipts } from "../../packages/orchestrator/bench/envelopes.ts";
import { receiptRoutes } from "../../packages/orchestrator/src/features/receipts/routes.ts";
import { openLogWorld } from "../../packages/orchestrator/test/log/log-world.ts";
import { connectDatabase } from "../../packages/orchestrator/src/platform/database/database.ts";
import { buildApp } from "../../packages/orchestrator/src/platform/http/app.ts";
import { RATE_LIMITS } from "../../packages/orchestrator/src/platform/http/route/rate-limits.ts";
import { createSealer } from "../../packages/orchestrator/src/platform/http/sealer.ts";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { loadServerTls } from "../../packages/orchestrator/src/platform/tls/server-tls.ts";

const PACKAGES = fileURLToPath(new URL("../../packages/", import.meta.url));
const isListing = process.argv.includes("--list");
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** Runs some work and prints which files of packages it went through. */
async function count(way: string, work: () => Promise<unknown>): Promise<void> {
  await inspector.post("Profiler.takePreciseCoverage");
  await work();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const files = result.flatMap(({ url, functions }) => {
    const path = url.startsWith("file://") ? fileURLToPath(url) : "";
    const ran = functions.filter(
      ({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0,
    );
    if (
      !path.startsWith(PACKAGES) ||
      !path.includes("/src/") ||
      path.includes("/testing/") ||
      ran.length === 0
    )
      return [];
    return [{ path: path.slice(PACKAGES.length), functions: ran.length }];
  });
  const packages = Map.groupBy(files, ({ path }) => path.split("/")[0]);
  const parts = [...packages].map(([name, group]) => `${group.length} of ${name}`);
  const functions = files.reduce((sum, each) => sum + each.functions, 0);
  process.stdout.write(`${way}: ${files.length} files (${parts.join(", ")}), ${functions} named functions\n`);
  if (isListing) for (const each of files) process.stdout.write(`  ${each.path} ${each.functions}\n`);
}

const directory = await mkdtemp(join(tmpdir(), "attestore-ways-"));
const tls = await loadServerTls({ directory, hostnames: [] }, silentLogger);
const world = await openLogWorld();
const access = connectDatabase({ connection: world.service, log: silentLogger, way: "requests" });
const { sequencer } = world.addReplica();
const app = buildApp({
  db: access.database,
  sealer: createSealer(randomBytes(32)),
  logger: silentLogger,
  tls: tls.options,
  routes: receiptRoutes({ sequencer, db: access.database }),
  shutdown: new AbortController().signal,
  rateLimits: RATE_LIMITS,
  publicUrl: "https://localhost",
  appendImpersonatedCall: () => Promise.reject(new Error("nobody is impersonated here")),
  firstAgentCall: () => Promise.resolve(),
});
const agent = await world.addAgent(await world.addOrg());
const receipts = prepareReceipts(
  [
    {
      orgId: agent.orgId,
      agentId: agent.id,
      token: agent.token,
      keyid: agent.keyFingerprint,
      privateKey: agent.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
      backup: await world.addBackup(agent),
    },
  ],
  3,
  1,
);
await app.listen({ host: "127.0.0.1", port: 0 });
const { port } = app.server.address() as AddressInfo;
const submit = async ({ body, headers }: (typeof receipts)[number]): Promise<void> => {
  const sent = request({ port, method: "POST", path: "/v1/receipts", headers, rejectUnauthorized: false });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  for await (const _ of answer);
  if (answer.statusCode !== 201) throw new Error(`the receipt was answered ${answer.statusCode}`);
};
const [first, second, third] = receipts;
for (const receipt of [first, second]) if (receipt !== undefined) await submit(receipt);
await count("a receipt", async () => {
  if (third !== undefined) await submit(third);
});
await app.close();
await access.close();
await world.close();

const path = join(directory, "orders.db");
const database = new DatabaseSync(path);
database.exec("create table orders (id integer primary key); insert into orders values (1), (2), (3)");
database.close();
const recipient = await identityToRecipient(await generateX25519Identity());
const source = parseSourceConfig("orders", { engine: "sqlite", path }, directory);
await count("a backup", () =>
  writeEncryptedDump({
    source,
    recipients: [recipient],
    blobsDir: join(directory, "blobs"),
    signal: new AbortController().signal,
  }),
);
await rm(directory, { recursive: true });
