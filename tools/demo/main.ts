/**
 * `npm run demo`: the whole product once, for real, on embedded defaults. Two databases are backed
 * up, restored into throw-away places, checked, receipted and verified; then a stored backup is
 * damaged, and the next test must catch it. Exit code 0 only if every step succeeded.
 */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { endChildrenOnSignals, Stopped } from "../run/children.ts";
import { freePort } from "../../tests/e2e/harness/free-port.ts";
import { run, runJson, startServer, type Server } from "./programs.ts";
import { findPostgres, openShop, writeInvoices, type Shop } from "./shop.ts";
import { expectThat, heading, say, step, StepFailed } from "./story.ts";

const home = resolve(process.env["ATTESTORE_DATA"] ?? "data", "demo");
const serverData = join(home, "server");
const root = join(home, "agent");
const OWNER = "demo@example.org";
const at = (path: string): string => relative(process.cwd(), path) || ".";

const started = performance.now();
let server: Server | undefined;
let shop: Shop | undefined;

endChildrenOnSignals();
try {
  await tell();
} catch (error) {
  if (!(error instanceof StepFailed || error instanceof Stopped)) throw error;
  process.stderr.write(`\nThe demo stopped: ${error.message}\n`);
  process.exitCode ??= 1;
} finally {
  await server?.stop();
  await shop?.stop();
}

async function tell(): Promise<void> {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true, mode: 0o755 });
  const port = await freePort();
  const serverEnv = {
    ATTESTORE_DATA: serverData,
    ATTESTORE_LISTEN: `127.0.0.1:${port}`,
    ATTESTORE_PUBLIC_URL: `https://localhost:${port}`,
  };
  const agentEnv: Record<string, string> = { ATTESTORE_HOME: root };
  const sources: string[] = [];

  heading("Two databases to protect");
  const postgres = prepareDatabases();
  if (postgres) {
    await step("PostgreSQL: a shop", async () => {
      shop = await openShop(postgres);
      agentEnv["SHOP_URL"] = shop.url;
      sources.push("shop");
      return `${shop.orders.toLocaleString("en")} orders`;
    });
  } else {
    say(
      "  - PostgreSQL is left out: its server and pg_dump are not installed. On Debian 12: sudo tools/setup demo",
    );
  }
  await step("SQLite: its invoices", async () => {
    sources.push("invoices");
    return `${writeInvoices(join(home, "invoices.db")).toLocaleString("en")} invoices`;
  });

  heading("The orchestrator and an agent");
  await step("start attestore-server", async () => {
    server = await startServer(serverEnv);
    return `TLS 1.3, embedded PostgreSQL, objects on disk, all in ${at(serverData)}`;
  });
  await step("create an organisation and an auth key", async () => {
    const { json: org } = await runJson<{ id: string }>(
      "attestore-server",
      ["org", "add", "Demo Shop", "--owner", OWNER],
      serverEnv,
    );
    const { json: key } = await runJson<{ auth_key: string }>(
      "attestore-server",
      ["auth-key", "create", "--org", org.id],
      serverEnv,
    );
    agentEnv["ATTESTORE_AUTH_KEY"] = key.auth_key;
    return org.id;
  });
  await step("attach the agent", async () => {
    const ca = join(serverData, "tls", "ca.pem");
    const { json } = await runJson<{ agent_id: string }>(
      "attestore",
      [
        "init",
        "--root",
        root,
        "--service",
        `https://localhost:${port}`,
        "--ca-file",
        ca,
        "--name",
        "demo-host",
      ],
      agentEnv,
    );
    delete agentEnv["ATTESTORE_AUTH_KEY"];
    appendFileSync(join(root, "config.yaml"), sourcesYaml(sources));
    return `${json.agent_id}, keys and config in ${at(root)}`;
  });

  heading("Backed up, then restored for real");
  for (const source of sources) {
    await step(`back up ${source}`, async () => {
      const { json } = await runJson<{ size_bytes: number }>(
        "attestore",
        ["backup", "--source", source],
        agentEnv,
      );
      return `${Math.ceil(json.size_bytes / 1024)} kB of age ciphertext stored, receipt in the log`;
    });
  }
  for (const source of sources) {
    await step(`restore ${source} into a throw-away place and check it`, async () => {
      const { json } = await runJson<{ result: string; checks: unknown[] }>(
        "attestore",
        ["restore-test", "--source", source],
        agentEnv,
      );
      expectThat(json.result === "passed", `the result of the restore test of ${source} is ${json.result}`);
      return `${json.checks.length} checks passed, receipt in the log`;
    });
  }

  heading("Verified with the orchestrator stopped");
  await step("stop attestore-server", async () => {
    await server?.stop();
    server = undefined;
    return undefined;
  });
  const receipts = receiptFiles();
  const logKey = join(root, "keys", "log.vkey");
  const verify = [...receipts, "--key", join(root, "keys", "agent.pub"), "--log-key", logKey];
  await step("attestore-verify every receipt, offline", async () => {
    expectThat(
      receipts.length === sources.length * 2,
      `expected ${sources.length * 2} receipts, found ${receipts.length}`,
    );
    const { code, stdout, stderr } = await run("attestore-verify", verify);
    expectThat(code === 0, `attestore-verify exited with ${code}:\n${stdout}${stderr}`);
    return `${receipts.length} receipts are true: signature, statement, inclusion, checkpoint`;
  });
  await step("attestore-verify a receipt with one character changed", async () => {
    const forged = join(home, "forged.json");
    writeFileSync(forged, forge(readFileSync(receipts[0] ?? "", "utf8")));
    const { code } = await run("attestore-verify", [
      forged,
      "--key",
      join(root, "keys", "agent.pub"),
      "--log-key",
      logKey,
    ]);
    expectThat(code === 1, `attestore-verify exited with ${code} for a forged receipt`);
    return "refused";
  });

  heading("A damaged backup is found");
  const victim = sources[0] ?? "";
  await step("start attestore-server again, and flip one bit of a stored ciphertext", async () => {
    flipOneBit(oldestCiphertext());
    server = await startServer(serverEnv);
    return undefined;
  });
  await step(`the next restore test of ${victim}`, async () => {
    const { code, json } = await runJson<{ result: string; reason?: string }>(
      "attestore",
      ["restore-test", "--source", victim],
      agentEnv,
      [1],
    );
    expectThat(
      code === 1 && json.result === "failed",
      `the damage was not found: the result is ${json.result}`,
    );
    return `FAILED, as it should: ${json.reason ?? "no reason given"}`;
  });
  await step("check the log by rebuilding it from its leaves", async () => {
    const { code, stderr } = await run("attestore-server", ["fsck"], serverEnv);
    expectThat(code === 0, `fsck exited with ${code}:\n${stderr}`);
    return "every leaf, tile and head matches";
  });

  heading(`Every step succeeded, in ${((performance.now() - started) / 1000).toFixed(0)} s. Look around:`);

  say(`  ATTESTORE_HOME=${at(root)} npx attestore status`);
  say(
    `  npx attestore-verify ${at(receipts[0] ?? "")} --key ${at(join(root, "keys", "agent.pub"))} --log-key ${at(logKey)}`,
  );
  say(`  ATTESTORE_DATA=${at(serverData)} npx attestore-server fsck`);
  say(`  ATTESTORE_DATA=${at(serverData)} ATTESTORE_LISTEN=127.0.0.1:${port} npm start`);
  say(
    `Then open https://localhost:${port} and sign in as ${OWNER}; the code is printed where the service runs.`,
  );
  if (postgres)
    say("The shop's database ended with the demo: its backups can be tested, and no more can be made.");
}

function prepareDatabases(): string | null {
  if (!findPostgres() && process.getuid?.() === 0) spawnSync("tools/setup", ["demo"], { stdio: "inherit" });
  return findPostgres();
}

function sourcesYaml(sources: string[]): string {
  const blocks: Record<string, string> = {
    shop: `  shop:
    engine: postgresql
    connection: env:SHOP_URL
    checks:
      - { id: orders-are-there, query: "select count(*) as orders, max(placed_at) > now() - interval '1 day' as fresh from orders", expect: "orders >= 20000 and fresh = true" }
      - { id: no-orphans, query: "select count(*) as n from order_lines l left join orders o on o.id = l.order_id where o.id is null", expect: "n = 0" }
`,
    invoices: `  invoices:
    engine: sqlite
    path: ${join(home, "invoices.db")}
    checks:
      - { id: invoices-are-there, query: "select count(*) as n, sum(cents) as total from invoices", expect: "n = 5000 and total > 0" }
`,
  };
  return `sources:\n${sources.map((source) => blocks[source]).join("")}`;
}

function receiptFiles(): string[] {
  const directory = join(root, "receipts");
  return readdirSync(directory)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => join(directory, name));
}

/** Changes a signed receipt, as somebody who wants a pass would. */
function forge(bundle: string): string {
  const parsed = JSON.parse(bundle) as { envelope: { payload: string } };
  const payload = Buffer.from(parsed.envelope.payload, "base64").toString();
  parsed.envelope.payload = Buffer.from(payload.replace(/"finished_at":"2/, '"finished_at":"3')).toString(
    "base64",
  );
  return JSON.stringify(parsed);
}

function oldestCiphertext(): string {
  const objects = join(serverData, "objects");
  const files = readdirSync(objects, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".age"))
    .map((name) => join(objects, name))
    .toSorted((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
  const [oldest] = files;
  expectThat(oldest !== undefined, `no ciphertext under ${objects}`);
  return oldest;
}

function flipOneBit(path: string): void {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  const middle = Math.floor(statSync(path).size / 2);
  readSync(file, byte, 0, 1, middle);
  byte.writeUInt8(byte.readUInt8() ^ 1);
  writeSync(file, byte, 0, 1, middle);
  closeSync(file);
}
