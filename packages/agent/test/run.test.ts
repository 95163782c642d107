import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import {
  done,
  kinds,
  outcome,
  reasons,
  root,
  service,
  startAgent,
  useRunningAgent,
} from "./running-agent.ts";
import { runCli } from "./service/cli.ts";
import { until } from "./until.ts";

useRunningAgent();

it("attestore run runs each command of the service once and submits its result", async () => {
  const agent = await startAgent();
  const backup = service.command("backup", "invoices", "sqlite");
  await until("the command is done and 1 receipt", () => done(backup.id) && service.receipts.length === 1);
  const test = service.command("restore_test", "invoices", "sqlite");
  await until("the command is done and 2 receipts", () => done(test.id) && service.receipts.length === 2);
  expect(kinds()).toEqual(["backup", "passed"]);
  // Acked, so that the service has stopped delivering them.
  await until("no command waits", () => service.commands.length === 0);

  // Told again, whatever for: acked again, and not run.
  const beats = service.heartbeats.length;
  service.commands.push({ ...backup, attempt: 2 }, { ...test, attempt: 2 });
  await until(
    "no command waiting and further heartbeats",
    () => service.commands.length === 0 && service.heartbeats.length > beats + 2,
  );
  expect(service.receipts).toHaveLength(2);
  const last = service.heartbeats.at(-1);
  expect(last).toMatchObject({
    sources: [{ slug: "invoices", engine: "sqlite" }],
    log_head: expect.any(String),
  });
  expect(last?.cosignature).toMatch(/^— agent_/);

  // A service that does not know waiting is not asked each time.
  expect(service.calls.filter(({ route }) => route === "GET /v1/commands").length).toBeLessThan(2);

  const second = await runCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  expect(second.code).toBe(2);
  expect(second.stderr).toContain("`attestore run` (process");
  agent.process.kill("SIGTERM");
  expect((await agent.finished).code).toBe(0);
});

it("attestore run runs a command at once although its next heartbeat is an hour away, and ends at once too", async () => {
  service.intervalS = 3600;
  service.letsWait = true;
  const agent = await startAgent();
  const asked = (): number => service.calls.filter(({ route }) => route === "GET /v1/commands").length;
  for (const number of [1, 2]) {
    await until(
      "a first heartbeat and as many questions",
      () => service.heartbeats.length > 0 && asked() >= number,
    );
    const backup = service.command("backup", "invoices", "sqlite");
    await until(
      "the command is done, its receipt arrived and no command waits",
      () => done(backup.id) && service.receipts.length === number && service.commands.length === 0,
    );
  }
  expect(service.heartbeats.map(({ acks }) => acks.length)).toEqual([0, 0, 1, 0, 1]);
  await until("the service was asked", () => asked() === 3);
  agent.process.kill("SIGTERM");
  expect((await agent.finished).code).toBe(0);
});

it("after kill -9 the agent continues with a complete ciphertext, and does not dump a second time", async () => {
  const first = await startAgent();
  service.interfere = ({ route }) => {
    if (!route.startsWith("PUT ")) return undefined;
    first.process.kill("SIGKILL");
    return "cut";
  };
  const command = service.command("backup", "invoices", "sqlite");
  expect((await first.finished).code).toBe("SIGKILL");
  const [blob] = readdirSync(root.layout.blobs).filter((name) => name.endsWith(".age"));
  service.interfere = () => undefined;
  await startAgent();
  await until("the command is done and 1 receipt", () => done(command.id) && service.receipts.length === 1);
  expect([...service.backups.values()].map(({ sha256 }) => `${sha256}.age`)).toEqual([blob]);
  expect(service.events).toEqual([]);
});

it("attestore run reports a restore test that kill -9 cut off as interrupted, and does not run it again", async () => {
  await runCli(["backup"], { env: { ATTESTORE_HOME: root.layout.root } });
  const first = await startAgent();
  service.interfere = ({ route }) => {
    if (!route.startsWith("GET /objects/")) return undefined;
    first.process.kill("SIGKILL");
    return "cut";
  };
  const command = service.command("restore_test", "invoices", "sqlite");
  expect((await first.finished).code).toBe("SIGKILL");
  service.interfere = () => undefined;
  const agent = await startAgent();
  await until(
    "1 event and no command waits",
    () => service.events.length === 1 && service.commands.length === 0,
  );
  expect(reasons()).toEqual([["restore_failed", command.id, "interrupted"]]);
  expect(outcome(command.id)).toBe("interrupted");
  const beats = service.heartbeats.length;
  await until("further heartbeats", () => service.heartbeats.length > beats + 2);
  expect(kinds()).toEqual(["backup"]);
  agent.process.kill("SIGINT");
  expect((await agent.finished).code).toBe(130);
});

it("at SIGTERM the agent ends its run cleanly, and reports it before it exits", async () => {
  await runCli(["backup"], { env: { ATTESTORE_HOME: root.layout.root } });
  const agent = await startAgent();
  const reached = new Promise<void>((resolve) => {
    service.interfere = ({ route }) => {
      if (!route.startsWith("GET /objects/")) return undefined;
      resolve();
      return { status: 503, body: "", headers: { "retry-after": "5" } };
    };
  });
  const command = service.command("restore_test", "invoices", "sqlite");
  await reached;
  agent.process.kill("SIGTERM");
  expect((await agent.finished).code).toBe(0);
  expect(reasons()).toEqual([["restore_failed", command.id, "interrupted"]]);
  expect(readdirSync(root.layout.scratch)).toEqual([]);
});

it("attestore run runs the commands that it knows from a newer service, and reports each unknown kind once", async () => {
  const unheard = service.command("backup", "invoices", "sqlite");
  Object.assign(unheard, { kind: "move_mountains", params: { mountain: 1 } });
  const fine = service.command("backup", "invoices", "sqlite");
  const agent = await startAgent();
  await until("the command is done and 1 receipt", () => done(fine.id) && service.receipts.length === 1);
  const beats = service.heartbeats.length;
  await until("further heartbeats", () => service.heartbeats.length > beats + 1);
  // Nothing here will answer for it, so the service hears no ack, and it may come again to an agent
  // that knows it.
  expect(service.commands.map(({ id }) => id)).toEqual([unheard.id]);
  agent.process.kill("SIGTERM");
  const { code, stdout, stderr } = await agent.finished;
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`.split(`${unheard.id}: `)).toEqual([
    expect.anything(),
    expect.stringMatching(/^this agent does not know the command kind "move_mountains"/),
  ]);
});
