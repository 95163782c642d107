/**
 * `npm run dev`: the service, started again when one of its sources changes, and the dashboard from
 * its sources, changed in the browser as you save. Everything is at one address,
 * ATTESTORE_PUBLIC_URL; data is in data/dev.
 */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { endChildrenOnSignals, startChild } from "../run/children.ts";
import { freePort } from "../../tests/e2e/harness/free-port.ts";
import { openFront } from "./front.ts";
import { runService } from "./service.ts";

const ROOT = join(import.meta.dirname, "../..");
const data = resolve(process.env["ATTESTORE_DATA"] ?? join(ROOT, "data/dev"));
const publicUrl = new URL(process.env["ATTESTORE_PUBLIC_URL"] ?? "https://localhost:8443");
const say = (line: string): void => void process.stdout.write(`dev: ${line}\n`);

endChildrenOnSignals(() => process.exit());
// The service serves a build's page; in its place comes what Vite makes of the sources. A process
// of its own, as a build sets NODE_ENV.
if (!existsSync(join(ROOT, "packages/dashboard/dist/index.html")))
  await once(
    startChild(process.execPath, [join(ROOT, "tools/dashboard/build.ts")], { stdio: "inherit" }),
    "close",
  );
const servicePort = await freePort();
const service = runService(
  {
    // Missed runs show soon.
    ATTESTORE_SCHEDULE_GRACE_S: "60",
    ATTESTORE_SIGNUP: "open",
    ...process.env,
    ATTESTORE_DATA: data,
    ATTESTORE_LISTEN: `127.0.0.1:${servicePort}`,
    ATTESTORE_PUBLIC_URL: publicUrl.origin,
  },
  servicePort,
  say,
);
await service.listens();
const read = (name: string): string => readFileSync(join(data, "tls", name), "utf8");
const { server } = await openFront({
  service,
  servicePort,
  publicUrl,
  tls: { key: read("server.pem"), cert: read("server.pem"), ca: read("ca.pem") },
});
server.listen(Number(publicUrl.port || 443), "127.0.0.1", () => {
  say(`open ${publicUrl.origin} (data in ${relative(process.cwd(), data)}; npm run seed fills it)`);
});
