import { createPrivateKey, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  DRAW_DECLARED,
  drawCommitment,
  formatEventStatement,
  openDraw,
  parseVerifierKey,
  toHex,
  type Draw,
  type LogProof,
} from "@attestore/proof";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seal } from "./harness/dsse.ts";
import { attachedHost, type Host, type StoredReceipt } from "./harness/host.ts";
import { api, exchange, type Answer } from "./harness/https.ts";
import { attach, type Organisation } from "./harness/organisation.ts";
import { run, type Finished } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";
import type { EventAccepted, ReceiptAccepted, Statement } from "./harness/statements.ts";

/**
 * Somebody who runs the agent's host, has its key, and would rather test a good backup than the
 * drawn one. Their receipts are signed and in the log; verifiers see through them.
 */

let server: Server;
let org: Organisation;
let session: string;
let host: Host;
let directory: string;
const from = new Date(Date.now() - 60_000).toISOString();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "attestore-e2e-draw-"));
  server = await startServer({});
  const person = await signUp([server]);
  session = person.token;
  const minted = await asOwner("POST", `/api/orgs/${person.orgId}/auth-keys`, {});
  org = { server, id: person.orgId, authKey: minted.json<{ auth_key: string }>().auth_key };
  host = await attachedHost(org);
  const database = new DatabaseSync(join(host.root, "invoices.db"));
  database.exec("create table invoices (id integer primary key); insert into invoices values (1), (2)");
  database.close();
  host.addSources("  invoices: { engine: sqlite, path: invoices.db, restore_test: { pick: random } }\n");
  for (let i = 0; i < 4; i++) await succeeds("backup");
});
afterAll(async () => {
  host.remove();
  rmSync(directory, { recursive: true });
  await server.remove();
});

const asOwner = (method: string, path: string, json?: unknown): Promise<Answer> =>
  api(server, { method, path, token: session, json });

const asHost = (method: string, path: string, json?: unknown): Promise<Answer> =>
  api(server, { method, path, token: readFileSync(join(host.root, "keys/token"), "utf8").trim(), json });

async function succeeds(...args: string[]): Promise<Finished> {
  const done = await host.run(...args);
  expect(done.code, done.stdout + done.stderr).toBe(0);
  return done;
}

const key = (name: string): string => join(host.root, "keys", name);
const logKey = () => parseVerifierKey(readFileSync(key("log.vkey"), "utf8").trim());
const drawOf = ({ statement }: StoredReceipt): Draw => statement.predicate["draw"] as Draw;
const drawnReceipts = (): StoredReceipt[] =>
  host.receipts().filter(({ statement }) => "draw" in statement.predicate);

function verify(file: string): Promise<Finished> {
  return run("attestore-verify", [file, "--key", key("agent.pub"), "--log-key", key("log.vkey"), "--json"]);
}

/** The draws' line of a pack of everything so far. */
async function drawsInPack(): Promise<{ result: string; detail: string } | undefined> {
  const path = `/api/orgs/${org.id}/evidence?from=${from}`;
  const answer = await exchange(server, { method: "GET", path, token: session });
  expect(answer.status).toBe(200);
  const file = join(directory, "pack.zip");
  writeFileSync(file, answer.body);
  const { stdout } = await verify(file);
  const { packs } = JSON.parse(stdout) as {
    packs: { checks: { id: string; result: string; detail: string }[] }[];
  };
  return packs[0]?.checks.find(({ id }) => id === "draws");
}

/** Signs anything with the host's own key. */
function signed(statement: unknown) {
  const privateKey = createPrivateKey(readFileSync(key("agent.key")));
  const { keyid = "" } = host.receipts()[0]?.bundle.envelope.signatures[0] ?? {};
  const signer = { keyid, sign: (message: Uint8Array) => sign(null, message, privateKey) };
  return seal(signer as Parameters<typeof seal>[0], statement);
}

/** The verdict on a receipt that the host's key signed, and the service took. */
async function verdictOn(statement: unknown): Promise<{ verdict: string; draw: string }> {
  const answer = await asHost("POST", "/v1/receipts", signed(statement));
  expect(answer.status, answer.body.toString()).toBe(201);
  const { receipt_id } = answer.json<ReceiptAccepted>();
  const bundle = await asOwner("GET", `/api/receipts/${receipt_id}/bundle`);
  const file = join(directory, `${receipt_id}.json`);
  writeFileSync(file, bundle.body);
  const { stdout } = await verify(file);
  const [receipt] = (
    JSON.parse(stdout) as {
      receipts: { verdict: string; checks: { id: string; detail: string }[] }[];
    }
  ).receipts;
  const draw = receipt?.checks.find(({ id }) => id === "draw")?.detail ?? "";
  return { verdict: receipt?.verdict ?? "", draw };
}

function ofBackup(statement: Statement, backup: Statement): Statement {
  const backup_id = backup.predicate["backup_id"];
  return { ...statement, subject: backup.subject, predicate: { ...statement.predicate, backup_id } };
}

it("the drawn backup is tested even while others write to the log, and a pack shows the draw", async () => {
  const neighbour = await attach(org, { name: "neighbour" });
  let isOver = false;
  const noise = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const event = { kind: "backup_failed", occurred_at: new Date().toISOString(), detail: {} };
      await neighbour.call("POST", "/v1/events", event);
    }
  });
  try {
    for (let i = 0; i < 3; i++) await succeeds("restore-test");
  } finally {
    isOver = true;
    await Promise.all(noise);
  }
  const receipts = drawnReceipts();
  expect(receipts).toHaveLength(3);
  const backups = host.receipts().filter(({ statement }) => statement.predicateType.endsWith("/backup/v1"));
  for (const receipt of receipts) {
    const verified = await verify(receipt.file);
    expect(verified.code, verified.stdout).toBe(0);
    const { backupId, candidates, logIndex } = await openDraw(drawOf(receipt), logKey());
    expect(receipt.statement.predicate["backup_id"]).toBe(backupId);
    expect(candidates).toEqual(
      backups.map(({ statement }) => String(statement.predicate["backup_id"])).toSorted(),
    );
    expect(drawOf(receipt).checkpoint.split("\n")[1]).toBe(String(logIndex + 1));
  }
  expect(await drawsInPack()).toMatchObject({
    result: "held",
    detail: "3 draws, 3 tests of drawn backups",
  });
});

it("a pack in which another backup than the drawn one was tested is false", async () => {
  const [receipt = expect.unreachable()] = drawnReceipts();
  const other = host
    .receipts()
    .map(({ statement }) => statement)
    .find(
      ({ predicate, predicateType }) =>
        predicateType.endsWith("/backup/v1") &&
        predicate["backup_id"] !== receipt.statement.predicate["backup_id"],
    );
  const { verdict, draw } = await verdictOn(ofBackup(receipt.statement, other ?? expect.unreachable()));
  expect([verdict, draw]).toEqual(["false", expect.stringContaining("the draw chose")]);
});

it("a pack whose draw was decided by a later head is false, because by waiting one could choose the head", async () => {
  const [receipt = expect.unreachable()] = drawnReceipts();
  const draw = drawOf(receipt);
  const head = (await asHost("GET", "/v1/log/head")).json<{ tree_size: number }>();
  const path = `/v1/log/proof?leaf=${draw.log_index}&tree_size=${head.tree_size}`;
  const { inclusion, checkpoint } = (await asHost("GET", path)).json<LogProof>();
  const waited = { ...draw, hashes: inclusion.hashes, checkpoint };
  const { statement } = receipt;
  const said = await verdictOn({ ...statement, predicate: { ...statement.predicate, draw: waited } });
  expect([said.verdict, said.draw]).toEqual(["false", expect.stringContaining("the first head")]);
});

it("a draw that was repeated until it suited is detected, and so is one that counts twice", async () => {
  const [receipt = expect.unreachable()] = drawnReceipts();
  const { org_id, agent_id, source_id, backup_id } = receipt.statement.predicate as Record<string, string>;
  const { candidates } = await openDraw(drawOf(receipt), logKey());
  const declare = async (): Promise<Draw> => {
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const event = {
      kind: DRAW_DECLARED,
      source_id: source_id ?? "",
      occurred_at: new Date().toISOString(),
      detail: { v: 1, candidates, commitment: drawCommitment(secret) },
    };
    const payload = formatEventStatement({
      ...event,
      org_id: org_id ?? "",
      agent_id: agent_id ?? "",
      agent_version: "0.1.0",
      previous_receipt_sha256: null,
    });
    const envelope = signed(payload);
    const answer = await asHost("POST", "/v1/events", { ...event, envelope });
    expect(answer.status, answer.body.toString()).toBe(201);
    const { leaf, log_index, inclusion_proof, checkpoint } = answer.json<EventAccepted>();
    expect(inclusion_proof.tree_size).toBe(log_index + 1);
    return {
      v: 1,
      statement: envelope.payload,
      leaf: leaf as unknown as Draw["leaf"],
      log_index,
      hashes: inclusion_proof.hashes,
      checkpoint,
      secret: toHex(secret),
    };
  };
  // The good backup is the one that the receipt already is of.
  let draw = await declare();
  while ((await openDraw(draw, logKey())).backupId === backup_id) draw = await declare();
  const unwanted = draw.leaf.id;
  while ((await openDraw(draw, logKey())).backupId !== backup_id) draw = await declare();
  const { statement } = receipt;
  const good = { ...statement, predicate: { ...statement.predicate, draw } };
  expect((await verdictOn(good)).verdict).toBe("true");
  const told = await drawsInPack();
  expect(told?.result).toBe("not_checked");
  expect(told?.detail).toContain("whoever may repeat a draw can choose");
  expect(unwanted).toMatch(/^evt_/);

  const twice = { ...good, predicate: { ...good.predicate, finished_at: new Date().toISOString() } };
  expect((await verdictOn(twice)).verdict).toBe("true");
  expect(await drawsInPack()).toMatchObject({
    result: "failed",
    detail: expect.stringContaining("already"),
  });
});
