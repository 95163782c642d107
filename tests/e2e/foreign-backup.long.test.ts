import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { put, registration, uploadUrl, type BackupRecord } from "./harness/backups.ts";
import { createShop, startDatabaseServer, type DatabaseServer } from "./harness/database.ts";
import { attachedHost, type Host } from "./harness/host.ts";
import { api, type Answer } from "./harness/https.ts";
import { attach, type Organisation, type WireAgent } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";
import { accepted, backupStatement } from "./harness/statements.ts";
import { until } from "./harness/wait.ts";

/**
 * Somebody who has an admin's session and no host: what they may have a host restore. The host's
 * own config.yaml says whose backups it tests, and the service does not.
 */

let server: Server;
let org: Organisation;
let session: string;
let database: DatabaseServer;
let victim: Host;
let mine: WireAgent;
let source: string;
let loot: string;

const asAdmin = (method: string, path: string, json?: unknown): Promise<Answer> =>
  api(server, { method, path, token: session, json });

beforeAll(async () => {
  server = await startServer({ ATTESTORE_HEARTBEAT_INTERVAL_S: "1" });
  const person = await signUp([server]);
  session = person.token;
  const minted = await asAdmin("POST", `/api/orgs/${person.orgId}/auth-keys`, {});
  expect(minted.status, minted.body.toString()).toBe(201);
  org = { server, id: person.orgId, authKey: minted.json<{ auth_key: string }>().auth_key };
  database = await startDatabaseServer();
  createShop(database, "shop");
  victim = await attachedHost(org, { SHOP_URL: database.url("shop") });
  victim.addSources('  shop: { engine: postgresql, connection: "env:SHOP_URL" }\n');
  const made = await victim.run("backup", "--source", "shop");
  expect(made.code, made.stdout + made.stderr).toBe(0);
  source = String(victim.receipts()[0]?.statement.predicate["source_id"]);
  mine = await attach(org, { name: "mine" });
  loot = mkdtempSync(join(tmpdir(), "attestore-e2e-loot-"));
  spawnSync("chmod", ["1777", loot]);
});
afterAll(async () => {
  victim.remove();
  rmSync(loot, { recursive: true, force: true });
  await database.stop();
  await server.remove();
});

/**
 * A dump in SQL that runs a command where it is loaded, encrypted to the host: its recipient stands
 * in each of its receipts.
 */
function hostileDump(marker: string): Buffer {
  const [receipt] = victim.receipts();
  const cipher = receipt?.statement.predicate["cipher"] as { recipients: string[] };
  const sql = `-- PostgreSQL database dump
create table loot (line text);
copy loot from program 'id > ${marker}; echo taken';
-- PostgreSQL database dump complete
`;
  const [recipient = ""] = cipher.recipients;
  const sealed = spawnSync("sh", ["-c", 'zstd -qc | age -r "$1"', "sh", recipient], { input: sql });
  if (sealed.status !== 0) throw new Error(sealed.stderr.toString());
  return sealed.stdout;
}

const agentOf = (host: Host): string =>
  /id: (agent_\w+)/.exec(readFileSync(join(host.root, "config.yaml"), "utf8"))?.[1] ?? "";

/**
 * Has the service ask for a restore test, lets the host run until it is done, and answers its end
 * as the host keeps it.
 */
async function testedBy(host: Host, backupId: string): Promise<string> {
  const triggered = await asAdmin("POST", `/api/orgs/${org.id}/sources/${source}/trigger`, {
    kind: "restore_test",
    backup_id: backupId,
  });
  expect(triggered.status, triggered.body.toString()).toBe(202);
  const { command_id } = triggered.json<{ command_id: string }>();
  const file = join(host.root, "commands", "done", `${command_id}.json`);
  const running = host.start("run");
  try {
    await until("the command is done", () => existsSync(file) || running.child.exitCode !== null, 60);
    expect(existsSync(file), running.talk()).toBe(true);
    return (JSON.parse(readFileSync(file, "utf8")) as { outcome: string }).outcome;
  } finally {
    running.child.kill("SIGTERM");
    await running.finished;
  }
}

it("a backup's receipt identifies its PostgreSQL database by cluster identifier, name and number", () => {
  const identifier = database.sql(
    "shop",
    "create role clerk; set role clerk; select system_identifier from pg_control_system()",
  );
  const oid = database.sql("shop", "select oid from pg_database where datname = current_database()");
  const metadata = victim.receipts()[0]?.statement.predicate["source_metadata"] as Record<string, unknown>;
  expect(metadata["source"]).toEqual({
    slug: "shop",
    identity: { system_identifier: identifier.trim(), database: "shop", database_oid: oid.trim() },
  });
});

describe("a backup that somebody else uploads for a source that an admin moved to them", () => {
  it("is not restored by the host, whatever the service says about it", async () => {
    const configured = await asAdmin("POST", `/api/orgs/${org.id}/sources/${source}/configure`, {
      agent_id: mine.id,
      test_agent_id: agentOf(victim),
    });
    expect(configured.status, configured.body.toString()).toBe(200);
    const marker = join(loot, "ran");
    const bytes = hostileDump(marker);
    const upload = await uploadUrl(mine, source, bytes);
    expect((await put(mine, upload, bytes)).status).toBe(200);
    const registered = await mine.call("POST", "/v1/backups", {
      ...registration(upload, source),
      source_metadata: {
        engine: "postgresql",
        // Of another major version its schema is not compared.
        engine_version: "14.0",
        dump_format: "pg_dump-plain",
        schema_hash: "00".repeat(32),
        table_count: 1,
        tables: [{ name: "public.loot", rows: 1 }],
      },
    });
    expect(registered.status, registered.body.toString()).toBe(201);
    const backup = registered.json<BackupRecord>();
    // Signed and in the log, by a key that the log knows as an agent's.
    await accepted(mine, backupStatement(mine, backup));
    const outcome = await testedBy(victim, backup.id);
    const taken = existsSync(marker) ? readFileSync(marker, "utf8") : null;
    expect({ outcome, taken }).toMatchObject({ taken: null });
    expect(outcome).toContain("test_for: shop");
    // The host was stopped once the command was done, which may be before it has sent the event.
    expect((await victim.run("sync")).code).toBe(0);
    const { items } = (await asAdmin("GET", `/api/orgs/${org.id}/events?kind=restore_failed`)).json<{
      items: { detail: { reason: string } }[];
    }>();
    expect(items.map(({ detail }) => detail.reason)).toEqual(["maker_not_trusted"]);
  });
});

describe("a host that tests another host's backups", () => {
  it("tests them only if its own config.yaml names the maker's key, and not because the service asks", async () => {
    const tester = await attachedHost(org);
    try {
      const key = join(tester.root, "keys", "shop.key");
      copyFileSync(join(victim.root, "keys", "age.key"), key);
      const config = join(tester.root, "config.yaml");
      const before = readFileSync(config, "utf8");
      writeFileSync(config, before.replace(/keys\/age\.key/, "keys/shop.key"));
      tester.addSources('  shop: { engine: postgresql, connection: "env:NOT_NEEDED_HERE" }\n');
      const configured = await asAdmin("POST", `/api/orgs/${org.id}/sources/${source}/configure`, {
        agent_id: agentOf(victim),
        test_agent_id: agentOf(tester),
      });
      expect(configured.status, configured.body.toString()).toBe(200);
      const backup = String(victim.receipts()[0]?.statement.predicate["backup_id"]);
      expect(await testedBy(tester, backup)).toContain("test_for: shop");
      const printed = (await victim.run("keys", "export")).stdout;
      const [fingerprint = ""] = /SHA256:[\w+/]+/.exec(printed) ?? [];
      appendFileSync(config, `test_for:\n  shop: { keys: ["${fingerprint}"] }\n`);
      expect(await testedBy(tester, backup)).toBe("restore test passed");
      expect(tester.receipts().map(({ statement }) => statement.predicate["result"])).toEqual(["passed"]);
    } finally {
      tester.remove();
    }
  });
});
