import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { join } from "node:path";
import { run, runJson } from "../../tests/e2e/harness/programs.ts";
import type { Server } from "../../tests/e2e/harness/server.ts";

/**
 * A service that runs already, as the tests' harness knows one; it can't be stopped through this.
 */
export function runningServer(data: string, url: string): Server {
  const env = { ATTESTORE_DATA: data, ATTESTORE_PUBLIC_URL: url };
  const caFile = join(data, "tls/ca.pem");
  const notOurs = (): never => {
    throw new Error("the seed neither starts nor stops this service");
  };
  return {
    port: Number(new URL(url).port),
    url,
    data,
    caFile,
    ca: readFileSync(caFile, "utf8"),
    connections: new Agent({ keepAlive: true, maxSockets: 8 }),
    talk: () => "",
    pid: () => null,
    cli: (...args) => run("attestore-server", args, env),
    cliJson: (...args) => runJson("attestore-server", args, env),
    start: notOurs,
    stop: notOurs,
    kill: notOurs,
    remove: notOurs,
  };
}
