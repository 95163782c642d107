/** The baseline: Fastify over TLS that answers a POST with its own body. `node echo-server.ts <tls directory>` */
import { fastify } from "fastify";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { loadServerTls } from "../src/platform/tls/server-tls.ts";
import { reportListening } from "./report.ts";

const tls = await loadServerTls({ directory: process.argv[2] ?? "", hostnames: [] }, silentLogger);
const app = fastify({ https: tls.options });
app.post("/v1/receipts", (request, reply) => reply.code(201).send(request.body));
await app.listen({ host: "127.0.0.1", port: 0 });
reportListening(app.server.address());
