/**
 * The service's heartbeats and requests for commands as they are in production: embedded PostgreSQL
 * with fsync, the whole request pipeline, row-level security. Attaches `<agents>` agents in
 * `<organisations>` organisations, each with one source. `node heartbeats-server.ts <tls directory>
 * <agents> <organisations> [owner]`; with `owner` it works as the one role that owns the tables, in
 * place of the service's own.
 */
import { randomBytes } from "node:crypto";
import { commandWaitRoutes } from "../src/features/command-wait/routes.ts";
import { WaitingAgents } from "../src/features/command-wait/waiting-agents.ts";
import { heartbeatRoutes } from "../src/features/heartbeat/routes.ts";
import { readNewestCheckpoint } from "../src/log/heads/heads.ts";
import { withSession } from "../src/platform/database/sql-session.ts";
import { openLogWorld } from "../test/log/log-world.ts";
import { createWitness } from "../src/log/witnesses/witness.ts";
import { systemClock } from "../src/platform/clock.ts";
import { connectDatabase } from "../src/platform/database/database.ts";
import { buildApp } from "../src/platform/http/app.ts";
import { RATE_LIMITS } from "../src/platform/http/route/rate-limits.ts";
import { createSealer } from "../src/platform/http/sealer.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { loadServerTls } from "../src/platform/tls/server-tls.ts";
import { reportListening } from "./report.ts";

/** An agent that beats: what it needs to make a heartbeat. */
export interface Beating {
  id: string;
  token: string;
  /** PEM. */
  privateKey: string;
  publicKey: string;
  slug: string;
  /** The head that it holds. */
  checkpoint: string;
}

const [directory = "", agents = "1", organisations = "1", role = "service"] = process.argv.slice(2);
const tls = await loadServerTls({ directory, hostnames: [] }, silentLogger);
const world = await openLogWorld();
const access =
  role === "owner"
    ? connectDatabase({ connection: world.connection, log: silentLogger })
    : connectDatabase({ connection: world.service, log: silentLogger, way: "requests" });
const { signer } = world.addReplica();
const waiting = new WaitingAgents({
  db: access.database,
  connection: world.service,
  logger: silentLogger,
  clock: systemClock,
  heartbeatInterval_s: 60,
});
const app = buildApp({
  db: access.database,
  sealer: createSealer(randomBytes(32)),
  logger: silentLogger,
  tls: tls.options,
  routes: [
    ...heartbeatRoutes({
      db: access.database,
      signer,
      heartbeatInterval_s: 60,
      silentAfterIntervals: 10,
      clock: systemClock,
      acceptWitness: createWitness({ db: access.database, signer, logger: silentLogger }),
    }),
    ...commandWaitRoutes({ waiting }),
  ],
  rateLimits: { ...RATE_LIMITS, command_wait: { ...RATE_LIMITS.command_wait, limit: 1_000_000 } },
  shutdown: new AbortController().signal,
  publicUrl: "https://localhost",
  appendImpersonatedCall: () => Promise.reject(new Error("nobody is impersonated here")),
  firstAgentCall: () => Promise.resolve(),
});

const orgs: { id: string; checkpoint: string }[] = [];
for (let n = 0; n < Number(organisations); n++) {
  const id = await world.addOrg();
  const head = await withSession(world.pool, (session) => readNewestCheckpoint(session, signer, id));
  orgs.push({ id, checkpoint: head.checkpoint });
}
const beating: Beating[] = [];
for (let n = 0; n < Number(agents); n++) {
  const org = orgs[n % orgs.length];
  if (org === undefined) throw new Error("there is no organisation");
  const agent = await world.addAgent(org.id);
  const { sourceId } = await world.addBackup(agent);
  beating.push({
    id: agent.id,
    token: agent.token,
    privateKey: agent.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    publicKey: Buffer.from(agent.publicKey).toString("base64"),
    slug: sourceId,
    checkpoint: org.checkpoint,
  });
}
await app.listen({ host: "127.0.0.1", port: 0 });
reportListening(app.server.address(), { beating });
process.once("message", () => {
  void app
    .close()
    .then(() => access.close())
    .then(() => world.close())
    .then(() => process.exit());
});
