import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runningServer } from "../../tools/seed/running-server.ts";
import { buildDashboard } from "./dashboard/build-dashboard.ts";
import { mailedCodes } from "./dashboard/mailed-codes.ts";
import { startBrowser } from "./harness/browser.ts";
import { api } from "./harness/https.ts";
import { descendants } from "./harness/processes.ts";
import { repositoryCopy, type RepositoryCopy } from "./harness/repository-copy.ts";
import { freePort } from "./harness/free-port.ts";
import type { Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

let copy: RepositoryCopy;
let dev: ChildProcess;
let talk = "";
let url: string;
let browser: Browser;

beforeAll(async () => {
  await buildDashboard();
  copy = repositoryCopy();
  url = `https://localhost:${await freePort()}`;
  dev = spawn("npm", ["run", "dev"], {
    cwd: copy.directory,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [dev.stdout, dev.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (talk += text));
  browser = await startBrowser();
  await until("npm run dev says its address", () => running() && talk.includes(`open ${url}`), 120);
});

afterAll(async () => {
  await browser.close();
  const started = descendants(dev.pid ?? 0);
  const ended = once(dev, "exit");
  dev.kill("SIGTERM");
  await ended;
  await until("nothing of it runs any more", () => !started.some(({ pid }) => isAlive(pid)), 30);
  copy.remove();
});

function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|ATTESTORE_|NODE_ENV)/.test(name),
  );
  return { ...Object.fromEntries(inherited), ATTESTORE_PUBLIC_URL: url };
}

function running(): true {
  if (dev.exitCode !== null) throw new Error(`npm run dev ended:\n${talk}`);
  return true;
}

function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

function edit(file: string, from: string, to: string): void {
  const path = join(copy.directory, file);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

async function get(path: string): Promise<{ status: number | undefined; policy: string; text: string }> {
  const ca = readFileSync(join(copy.directory, "data/dev/tls/ca.pem"));
  return new Promise((resolve, reject) => {
    request(url + path, { ca, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () =>
        resolve({
          status: answer.statusCode,
          policy: String(answer.headers["content-security-policy"]),
          text,
        }),
      );
    })
      .on("error", reject)
      .end();
  });
}

async function openPage(path: string): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(url + path);
  return { page, complaints };
}

test("a changed page appears in the browser at once, keeps typed text, and follows the service's policy", async () => {
  const file = "packages/dashboard/src/pages/login/signup-page.tsx";
  const { page, complaints } = await openPage("/signup");
  await page.getByLabel("E-mail").waitFor();
  // The first time Vite may find a library only now, and load the page once more.
  edit(file, "title={strings.signup.title}", 'title="Changed while it was open"');
  await page.getByRole("heading", { name: "Changed while it was open" }).waitFor();
  await page.getByLabel("E-mail").fill("typed@example.org");
  edit(file, 'title="Changed while it was open"', 'title="Changed once more"');
  await page.getByRole("heading", { name: "Changed once more" }).waitFor();
  expect(await page.getByLabel("E-mail").inputValue(), talk).toBe("typed@example.org");
  expect(complaints).toEqual([]);
  const { policy } = await get("/signup");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
});

test("npm run seed makes an organisation with passed, failed and missed runs, and with changes", async () => {
  const { stdout } = await promisify(execFile)("npm", ["run", "--silent", "seed"], {
    cwd: copy.directory,
    env: environment(),
  });
  const [, home = ""] = /ATTESTORE_HOME=(\S+)/.exec(stdout) ?? [];
  try {
    const email = /as (\S+@harbour\.example)\./.exec(stdout)?.[1] ?? "";
    const server = runningServer(join(copy.directory, "data/dev"), url);
    const earlier = mailedCodes(talk, email).length;
    await api(server, { method: "POST", path: "/api/auth/login", json: { email } });
    const code = await until("the code is mailed", () => mailedCodes(talk, email).slice(earlier).at(-1));
    const verified = await api(server, { method: "POST", path: "/api/auth/verify", json: { email, code } });
    const { org, session_token: token } = verified.json<{ org: { id: string }; session_token: string }>();
    const items = async (path: string): Promise<Record<string, unknown>[]> =>
      (await api(server, { method: "GET", path: `/api/orgs/${org.id}${path}`, token })).json<{
        items: Record<string, unknown>[];
      }>().items;
    const results = (await items("/receipts?kind=restore_test&limit=200")).map(({ result }) => result);
    expect(results.filter((result) => result === "passed").length).toBeGreaterThan(90);
    expect(results.filter((result) => result === "failed")).toHaveLength(4);
    const sources = await items("/sources?limit=200");
    const idOf = (slug: string): unknown => sources.find((source) => source["slug"] === slug)?.["id"];
    expect(sources).toHaveLength(10);
    expect(JSON.stringify(await driftOf(server, org.id, token, idOf("billing-db")))).toContain("schema_hash");
    // Calls of a credential are limited: thirty a minute are far from that.
    await expect
      .poll(async () => (await items("/incidents")).map(({ kind, source_id }) => ({ kind, source_id })), {
        timeout: 240_000,
        interval: 2000,
      })
      .toContainEqual({ kind: "backup_missed", source_id: idOf("wiki") });
    server.connections.destroy();
  } finally {
    rmSync(dirname(home), { recursive: true, force: true });
  }
});

async function driftOf(server: Server, orgId: string, token: string, sourceId: unknown): Promise<unknown> {
  const path = `/api/orgs/${orgId}/sources/${String(sourceId)}/drift`;
  return (await api(server, { method: "GET", path, token })).json();
}

test("a changed service answers the next request, even after a version that did not start", async () => {
  const routes = "packages/orchestrator/src/platform/health/health-routes.ts";
  const sane = readFileSync(join(copy.directory, routes), "utf8");
  writeFileSync(join(copy.directory, routes), `${sane}\nthrow new Error("a typing mistake");\n`);
  await until("the service did not start", () => running() && talk.includes("The service ended"), 60);
  writeFileSync(join(copy.directory, routes), sane);
  // This request waits until the service is there again.
  expect((await get("/healthz")).status).toBe(200);
  edit(
    "packages/orchestrator/src/features/dashboard/page-routes.ts",
    `"referrer-policy": "no-referrer",`,
    `"referrer-policy": "no-referrer", "x-changed": "yes",`,
  );
  await until("the service starts again", () => talk.split("the service starts again").length > 3, 60);
  expect((await get("/login")).status).toBe(200);
});
