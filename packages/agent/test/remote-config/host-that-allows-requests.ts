import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfigAnswer, newId } from "@attestore/contract";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type SourcePostgres, startSourcePostgres } from "../runs/source-postgres.ts";
import { runCli, type Running, startCli } from "../service/cli.ts";
import { attachedRoot, type TestRoot } from "../service/test-root.ts";
import { TestService } from "../service/test-service.ts";
import { until } from "../until.ts";

export const PASSWORD = "a-word-that-stays-here";
export const ASKED_BY = newId("user");

export let directory: string;
let server: SourcePostgres;
export let service: TestService;
export let root: TestRoot;
export let agents: Running[];

const SOURCES = `  # the first one, by Jo
  main: { engine: postgresql, connection: "file:keys/main.url" } # stays
`;

/** Of a file whose tests send requests to the agent of a host, a new one for each test. */
export function useHostThatAllowsRequests(): void {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "attestore-remote-"));
    server = await startSourcePostgres(directory);
    server.sql(`create role keeper login superuser password '${PASSWORD}';
      create database shop;
      \\c shop
      create table orders (id int primary key, note text, placed_at timestamptz not null);
      insert into orders select n, case when n % 2 = 0 then 'a note' end, now() - n * interval '3 hours' from generate_series(1, 500) n;
      create table "Odd ""Name" (x int);`);
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true });
  });
  beforeEach(async () => {
    service = await TestService.start();
    service.letsWait = true;
    root = await attachedRoot(service, SOURCES);
    agents = [];
    writeFileSync(join(root.layout.keys, "main.url"), server.url("keeper", PASSWORD), { mode: 0o600 });
    allow(true);
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

export const configText = (): string => readFileSync(root.layout.config, "utf8");
export const LINE = "allow_remote_config: true # agreed on Monday\n";

export function allow(isOn: boolean): void {
  writeFileSync(root.layout.config, (isOn ? LINE : "") + configText().replace(LINE, ""));
}

export async function startAgent(): Promise<Running> {
  const agent = startCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  agents.push(agent);
  await agent.said("attestore runs as");
  return agent;
}

export function send(request: object, more: object = {}): string {
  const id = newId("configRequest");
  service.configRequests.push({ id, asked_by: ASKED_BY, request, ...more });
  return id;
}

export const answerTo = (id: string): Promise<ConfigAnswer> =>
  until("the answer to the request", () => service.configAnswers.get(id));

export type Result<Kind extends string> = Extract<ConfigAnswer, { result: object }>["result"] & {
  kind: Kind;
};

export async function done<Kind extends string>(
  kind: Kind,
  more: object = {},
): Promise<[Result<Kind>, string]> {
  const id = send({ kind, ...more });
  const answer = await answerTo(id);
  expect(answer).toMatchObject({ result: { kind } });
  return [(answer as { result: Result<Kind> }).result, id];
}

export async function refusal(request: object, more: object = {}): Promise<string> {
  const answer = await answerTo(send(request, more));
  expect(answer).toHaveProperty("refusal");
  const { reason, message } = (answer as { refusal: { reason: string; message: string } }).refusal;
  return `${reason}: ${message}`;
}

export const changes = () =>
  service.events.filter(({ event }) => event.kind === "config_changed").map(({ event }) => event.detail);
export const SHOP = { place: "source:main", database: "shop" };

/** On the host itself. */
export const command = (...args: string[]) => runCli(args, { env: { ATTESTORE_HOME: root.layout.root } });
