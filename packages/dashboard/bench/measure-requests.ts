import { exchange } from "../../../tests/e2e/harness/https.ts";
import { descendants } from "../../../tests/e2e/harness/processes.ts";
import type { Server } from "../../../tests/e2e/harness/server.ts";
import { cpuSeconds } from "../../orchestrator/bench/cpu-time.ts";

export interface RequestFigures {
  call: string;
  p50_ms: number;
  p95_ms: number;
  bytes: number;
  /** CPU time per call, including anything else the service does meanwhile. */
  service_ms: number;
  postgres_ms: number;
}

const ROUNDS = 100;
const WARM_UP = 10;

/** The home page's calls, one at a time on an open connection. */
export async function measureRequests(
  server: Server,
  orgId: string,
  token: string,
): Promise<RequestFigures[]> {
  const calls = [
    `/api/orgs/${orgId}/overview?days=30`,
    `/api/orgs/${orgId}/overview?days=90`,
    "/api/auth/me",
  ];
  const figures: RequestFigures[] = [];
  const service = descendants(process.pid).find(({ command }) => command.endsWith("main.ts serve"));
  if (service === undefined) throw new Error("the service's process is not there");
  for (const path of calls) {
    const took: number[] = [];
    let bytes = 0;
    let before = cpuSeconds(service.pid);
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      if (round === WARM_UP) before = cpuSeconds(service.pid);
      const started = performance.now();
      const answer = await exchange(server, { method: "GET", path, token });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
      if (round >= WARM_UP) took.push(performance.now() - started);
      bytes = answer.body.length;
    }
    const after = cpuSeconds(service.pid);
    took.sort((a, b) => a - b);
    figures.push({
      call: path.replace(/org_\w+/, "…"),
      p50_ms: took[ROUNDS >> 1] ?? Number.NaN,
      p95_ms: took[Math.floor(ROUNDS * 0.95)] ?? Number.NaN,
      bytes,
      service_ms: ((after.own - before.own) * 1000) / ROUNDS,
      postgres_ms: ((after.postgres - before.postgres) * 1000) / ROUNDS,
    });
  }
  return figures;
}
