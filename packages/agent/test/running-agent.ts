import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { envelopeFromJson, parseStatement } from "@attestore/proof";
import { afterEach, beforeEach } from "vitest";
import { startCli, type Running } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

export let service: TestService;
export let root: TestRoot;
let agents: Running[];

/** Of a file whose tests run an agent: a service, and a root with the source invoices. */
export function useRunningAgent(): void {
  beforeEach(async () => {
    service = await TestService.start();
    root = await attachedRoot(service, "  invoices: { engine: sqlite, path: invoices.db }\n");
    agents = [];
    const database = new DatabaseSync(join(root.layout.root, "invoices.db"));
    database.exec(
      "create table invoices (id integer primary key); insert into invoices values (1), (2), (3)",
    );
    database.close();
  });
  afterEach(async () => {
    for (const agent of agents) {
      agent.process.kill("SIGKILL");
      await agent.finished;
    }
    root.remove();
    await service.stop();
  });
}

/** It has begun; what still runs when its test ends is killed. */
export async function startAgent(): Promise<Running> {
  const agent = startCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  agents.push(agent);
  await agent.said("attestore runs as");
  return agent;
}

/** What the receipts say that came: a backup, or the result of a restore test. */
export const kinds = (): string[] =>
  service.receipts.map(({ envelope }) => {
    const parsed = parseStatement(envelopeFromJson(envelope).payload);
    if (!parsed.ok) return "invalid";
    return "result" in parsed.statement.predicate ? parsed.statement.predicate.result : "backup";
  });
/** Whether a command is done, as the journal has it. */
export const done = (id: string): boolean => existsSync(join(root.layout.commandsDone, `${id}.json`));
export const outcome = (id: string): unknown =>
  (JSON.parse(readFileSync(join(root.layout.commandsDone, `${id}.json`), "utf8")) as { outcome: unknown })
    .outcome;
export const reasons = () =>
  service.events.map(({ event }) => [event.kind, event.command_id, event.detail["reason"]]);
