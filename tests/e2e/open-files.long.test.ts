import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { api, exchange } from "./harness/https.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

/** A service that may open hardly any more files: the system itself tells it nothing. */

const FEW = "this process may open hardly any more files and connections";

let server: Server;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.remove());

const pid = (): string => String(server.pid());
const limit = (files: number): void => void execFileSync("prlimit", ["--pid", pid(), `--nofile=${files}:`]);
const opened = (): number => readdirSync(`/proc/${pid()}/fd`).length;
const ready = async () => (await api(server, { method: "GET", path: "/readyz" })).json<object>();

test("the log, readyz, doctor and the metrics say that a service may open few more files", async () => {
  expect(await ready()).toEqual({ status: "ready", warnings: [] });
  // Again and again, because the service closes connections that it does not need.
  await until("the service logs it", () => {
    limit(opened() + 2);
    return server.talk().includes(FEW);
  });
  // It says so for another minute.
  limit(1024);
  expect(await ready()).toEqual({ status: "ready", warnings: ["few_open_files_left"] });
  const doctor = await server.cli("doctor");
  expect(doctor.stdout).toMatch(
    /WARNING +service +It runs on .* may open hardly any more files\.\n +→ Raise/i,
  );
  const metrics = (await exchange(server, { method: "GET", path: "/metrics" })).body.toString();
  expect(metrics).toMatch(/^attestore_open_files \d+$/m);
  expect(metrics).toMatch(/^attestore_open_files_limit \d+$/m);
  expect(server.talk().split(FEW)).toHaveLength(2);
});

test("connections beyond what a service may open are refused, logged, and harm it no longer when they are gone", async () => {
  limit(128);
  const idle = Array.from({ length: 400 }, (): Socket => {
    const socket = connect(server.port, "127.0.0.1");
    return socket.on("error", () => undefined);
  });
  try {
    await until("most are refused", () => idle.filter(({ closed }) => closed).length > 250);
    await until("the service logs it", () => server.talk().includes(FEW));
    const doctor = await server.cli("doctor");
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/FAILED +service .* accepts connections and closes them/);
  } finally {
    for (const socket of idle) socket.destroy();
  }
  limit(1024);
  await until("it answers again", async () => (await ready().catch(() => null)) !== null);
});
