/**
 * The baselines: Fastify over TLS that answers a POST with its own body. At /verified only after it
 * has verified the envelope's Ed25519 signature in the thread pool, which is the least that taking
 * a receipt costs; nothing is stored, looked up or checked besides. Told Submitters, it verifies
 * with their keys. `node echo-server.ts <tls directory>`
 */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { pae, type EnvelopeJson } from "@attestore/proof";
import { fastify } from "fastify";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { loadServerTls } from "../src/platform/tls/server-tls.ts";
import type { Submitter } from "./envelopes.ts";
import { reportListening } from "./report.ts";

const keys = new Map<string, KeyObject>();
process.on("message", (submitters: Submitter[]) => {
  for (const { token, privateKey } of submitters) keys.set(`Bearer ${token}`, createPublicKey(privateKey));
});

const tls = await loadServerTls({ directory: process.argv[2] ?? "", hostnames: [] }, silentLogger);
const app = fastify({ https: tls.options });
app.post("/v1/receipts", (request, reply) => reply.code(201).send(request.body));
app.post("/verified", async (request, reply) => {
  const holds = await verified(request.body as EnvelopeJson, keys.get(request.headers.authorization ?? ""));
  return reply.code(holds ? 201 : 401).send(request.body);
});
await app.listen({ host: "127.0.0.1", port: 0 });
reportListening(app.server.address());

function verified({ payloadType, payload, signatures }: EnvelopeJson, key?: KeyObject): Promise<boolean> {
  const message = pae(payloadType, Buffer.from(payload, "base64"));
  const signature = Buffer.from(signatures[0].sig, "base64");
  return new Promise((resolve, reject) => {
    if (key === undefined) return resolve(false);
    verify(null, message, key, signature, (error, holds) => (error ? reject(error) : resolve(holds)));
  });
}
