/**
 * The service's receipt path as it is in production: embedded PostgreSQL with fsync, the whole
 * request pipeline, the log. Attaches `<organisations>` agents, one in each, with a backup to be
 * proven. `node receipts-server.ts <tls directory> <organisations> [owner]`; with `owner` it works
 * as the one role that owns the tables, in place of the service's own.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { receiptRoutes } from "../src/features/receipts/routes.ts";
import { SignedHeads } from "../src/log/checkpoints/signed-heads.ts";
import { openLogWorld } from "../test/log/log-world.ts";
import { connectDatabase } from "../src/platform/database/database.ts";
import { buildApp } from "../src/platform/http/app.ts";
import { RATE_LIMITS } from "../src/platform/http/route/rate-limits.ts";
import { createSealer } from "../src/platform/http/sealer.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { loadServerTls } from "../src/platform/tls/server-tls.ts";
import type { Submitter } from "./envelopes.ts";
import { reportListening } from "./report.ts";

const [directory = "", organisations = "1", role = "service"] = process.argv.slice(2);
const tls = await loadServerTls({ directory, hostnames: [] }, silentLogger);
const world = await openLogWorld();
const isOwner = role === "owner";
const connection = isOwner ? world.connection : world.service;
const access = connectDatabase({
  connection,
  log: silentLogger,
  ...(isOwner ? {} : { way: "requests" as const }),
});
// Each group of heads is on the disk before its signatures leave, as in production.
const signed = await SignedHeads.open(join(directory, `signed-heads-${organisations}-${role}`));
const { sequencer, signer } = world.addReplica({}, connection, signed, isOwner ? undefined : "log");
const app = buildApp({
  db: access.database,
  sealer: createSealer(randomBytes(32)),
  logger: silentLogger,
  tls: tls.options,
  routes: receiptRoutes({ sequencer, db: access.database }),
  shutdown: new AbortController().signal,
  // Counted as always, but never reached.
  rateLimits: { ...RATE_LIMITS, default: { ...RATE_LIMITS.default, limit: Number.MAX_SAFE_INTEGER } },
  publicUrl: "https://localhost",
  appendImpersonatedCall: () => Promise.reject(new Error("nobody is impersonated here")),
  firstAgentCall: () => Promise.resolve(),
});

const submitters: Submitter[] = [];
for (let n = 0; n < Number(organisations); n++) {
  const agent = await world.addAgent(await world.addOrg());
  const backup = await world.addBackup(agent);
  submitters.push({
    orgId: agent.orgId,
    agentId: agent.id,
    token: agent.token,
    keyid: agent.keyFingerprint,
    privateKey: agent.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    backup,
  });
}
await app.listen({ host: "127.0.0.1", port: 0 });
const noteKey = Buffer.from(signer.identity.notePublicKey).toString("base64");
reportListening(app.server.address(), { noteKey, submitters });
process.once("message", () => {
  void app
    .close()
    .then(() => access.close())
    .then(() => world.close())
    .then(() => signed.close())
    .then(() => process.exit());
});
