import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatSshLine, parsePublicKeyFile } from "@attestore/proof";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declareSource, writeEncryptedDump } from "../harness/backups.ts";
import { attachedHost, type Host } from "../harness/host.ts";
import { exchange } from "../harness/https.ts";
import { attach, type WireAgent } from "../harness/organisation.ts";
import { run } from "../harness/programs.ts";
import { accepted, backupStatement, restoreTestStatement } from "../harness/statements.ts";
import { until } from "../harness/wait.ts";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  screenshotsOf,
} from "./open-dashboard.ts";
import { neverReuse } from "./reused-pages.ts";
import { checksThat, heading, verdictIs } from "./verdicts.ts";

let base: string;
let dashboard: Dashboard;
let org: DashboardOrg;
/** A host with the real agent: its receipts say that invoices was backed up and restored. */
let host: Host;
/** An agent that only makes the calls; its restore test failed. */
let wire: WireAgent;
let failedReceipt: string;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-receipts-"));
  dashboard = await openDashboard();
  org = await dashboard.addOrg("Invoices & Co");
  host = await attachedHost(org);
  const database = join(base, "invoices.db");
  shell(
    base,
    `sqlite3 '${database}' "create table invoices (number integer primary key, cents int);
     with recursive n (i) as (select 1 union all select i + 1 from n where i < 500) insert into invoices select i, i * 7 from n;"`,
  );
  host.addSources(`  invoices:
    engine: sqlite
    path: ${database}
    checks:
      - { id: has-invoices, query: "select count(*) as n from invoices", expect: "n >= 100" }
`);
  for (const command of ["backup", "restore-test"]) {
    const { code, stderr } = await host.run(command, "--source", "invoices");
    expect(code, stderr).toBe(0);
  }
  wire = await attach(org, { name: "wire-host" });
  const backup = await writeEncryptedDump(wire, await declareSource(wire, "orders"));
  await accepted(wire, backupStatement(wire, backup));
  failedReceipt = (await accepted(wire, restoreTestStatement(wire, backup, "failed"))).receipt_id;
});
afterAll(async () => {
  host.remove();
  await dashboard.close();
  rmSync(base, { recursive: true, force: true });
});

/** Runs shell commands as typed; returns their output. */
function shell(directory: string, script: string): string {
  const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd: directory,
    encoding: "utf8",
  });
  expect(status, `${script}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

const BROKEN = { error: "internal", message: "It broke.", request_id: "req_1", details: {} };

const line = (page: Page, check: string) => page.locator(`[data-check="${check}"]`);
const verdict = (page: Page) => page.locator("[data-verdict]");

const agentKey = (): string => readFileSync(join(host.root, "keys/agent.pub"), "utf8");
const logKey = (): string => readFileSync(join(host.root, "keys/log.vkey"), "utf8");

interface Detail {
  result: string;
  source_id: string;
  backup_id: string;
  envelope: { payload: string };
}

interface Listed {
  id: string;
  kind: string;
  result: string | null;
  backup_id: string;
}

async function receiptsOf(agentId: string): Promise<Listed[]> {
  const answer = await wire.call("GET", `/api/orgs/${org.id}/receipts?agent_id=${agentId}`, undefined, {
    token: org.owner.token,
  });
  return answer.json<{ items: Listed[] }>().items;
}

async function bundleOf(id: string): Promise<string> {
  const answer = await wire.call("GET", `/api/receipts/${id}/bundle`, undefined, {
    token: org.owner.token,
  });
  return answer.body.toString();
}

/** The real agent's receipt of its restore test. */
async function passed(): Promise<Listed> {
  const [statement] = host.receipts().map(({ statement: { predicate } }) => predicate);
  const found = (await receiptsOf(String(statement?.["agent_id"]))).find(({ result }) => result === "passed");
  if (found === undefined) throw new Error("the agent's restore test has no receipt");
  return found;
}

const marks = (page: Page): Promise<string[]> =>
  page.getByRole("region", { name: "Certificate" }).getByRole("listitem").allTextContents();
const sealOf = (page: Page): Promise<string | null> => page.locator("[data-seal]").getAttribute("data-seal");

/** The service answers a call with something else than it has. */
async function misstate(page: Page, path: string, change: (answer: Detail) => void): Promise<void> {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as Detail;
    change(answer);
    await route.fulfill({ response, json: answer });
  });
}

describe("receipts", () => {
  test("receipts are listed, filtered, and explained in plain words", async () => {
    const page = await dashboard.open(org.owner, "/receipts");
    await heading(page, "Receipts").waitFor();
    await page.getByRole("link", { name: "Restore test passed" }).waitFor();
    await expect.poll(() => page.getByRole("table", { name: "Receipts" }).getByRole("row").count()).toBe(5);
    await expectAccessible(page);
    await screenshotsOf(page, "receipts");

    await page.getByLabel("Result").selectOption("failed");
    await page.getByRole("link", { name: "Restore test FAILED" }).waitFor();
    await expect.poll(() => page.getByRole("table", { name: "Receipts" }).getByRole("row").count()).toBe(2);
    expect(new URL(page.url()).searchParams.get("result")).toBe("failed");
    await page.getByLabel("Kind").selectOption("backup");
    await page.getByText("No receipt matches the filter.").waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await page.getByLabel("Source").selectOption({ label: "invoices" });
    await page.getByRole("link", { name: "Restore test FAILED" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Restore test passed" }).click();

    await heading(page, "Restore test passed").waitFor();
    await page.getByText(/restored it into SQLite .*, and all \d+ checks held/).waitFor();
    const checks = page.getByRole("table", { name: "Checks" });
    const invoices = checks.getByRole("row", { name: /held has-invoices .*n >= 100 n = 500/ });
    await invoices.getByText(/^Last shown to fail on .*, by an empty invoices$/).waitFor();
    await page.getByText("Restoring").waitFor();
    // What this browser verified by itself; nobody has cosigned.
    const certificate = page.getByRole("region", { name: "Certificate" });
    await expect
      .poll(() => certificate.getByRole("status").getByRole("listitem").allTextContents())
      .toEqual(["Signature valid", "In the log", "No witness checked"]);
    await certificate.getByText("with keys that the service gave").waitFor();
    await certificate.getByText("Details", { exact: true }).click();
    await certificate.getByText("SHA-256 of the ciphertext").waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "receipt");
  });

  test("the receipt of a failed test says first that the test failed, and why", async () => {
    const page = await dashboard.open(org.owner, `/receipts/${failedReceipt}`);
    await heading(page, "Restore test FAILED").waitFor();
    await page.getByText("1 of 1 check did not hold").waitFor();
    await page.getByText("check has-orders failed").waitFor();
    await page.getByRole("row", { name: /did NOT hold has-orders/ }).waitFor();
    await page.getByRole("button", { name: "Verify here" }).click();
    // With keys that the service itself serves, no verdict is true.
    await verdictIs(page, "cannot_tell");
    await page.getByText("It says that the restore test FAILED.").waitFor();
    await screenshotsOf(page, "receipt-failed");
    // A true receipt of a failed test is neither "True" nor green.
    await page.getByRole("button", { name: "Use your own keys" }).click();
    await page.getByLabel("Agent's public key").fill(wire.signer.wire);
    await page.getByLabel("Log's verifier key").fill(logKey());
    await page.getByRole("button", { name: "Verify again" }).click();
    await verdictIs(page, "true");
    await verdict(page).getByText("Authentic", { exact: true }).waitFor();
    expect(await verdict(page).textContent()).not.toContain("True");
    const [colour, neutral] = await verdict(page).evaluate((banner) =>
      ["--verdict", "--status-none"].map((name) => getComputedStyle(banner).getPropertyValue(name)),
    );
    expect(colour).toBe(neutral);
    await screenshotsOf(page, "receipt-failed-authentic");
  });

  test("an unknown receipt and one of another organisation are not found", async () => {
    const { id } = await passed();
    const stranger = await dashboard.addOrg();
    const page = await dashboard.open(stranger.owner, `/receipts/${id}`);
    await heading(page, "Page not found").waitFor();
    await page.goto(`${dashboard.server.url}/receipts`);
    await page.getByText("No receipts yet.").waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "receipts-empty");
    await page.route("**/receipts?**", (route) => route.fulfill({ status: 500, json: BROKEN }));
    await page.reload();
    await page.getByRole("alert").getByText("It broke.").waitFor();
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("No receipts yet.").waitFor();
  });
});

describe("verification in the browser", () => {
  test("a receipt is verified with the service's keys, with the reader's own keys, and with wrong keys", async () => {
    const { id } = await passed();
    const page = await dashboard.open(org.owner, `/receipts/${id}`);
    const button = page.getByRole("button", { name: "Verify here" });
    await button.focus();
    await page.keyboard.press("Enter");
    await verdictIs(page, "cannot_tell");
    await page.getByText("only with keys that this service itself gave").waitFor();
    await expect.poll(() => checksThat(page, "failed")).toEqual([]);
    await expect
      .poll(() => checksThat(page, "held"))
      .toEqual(expect.arrayContaining(["signature", "statement", "leaf", "checkpoint", "inclusion"]));
    await page.getByText(/served by this service: compare the fingerprint/).waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "receipt-verified");

    await page.getByRole("button", { name: "Use your own keys" }).click();
    await page.getByLabel("Agent's public key").fill(agentKey());
    await page.getByLabel("Log's verifier key").fill(logKey());
    await page.getByRole("button", { name: "Verify again" }).click();
    await page.getByText("Everything you asked for was checked, and held.").waitFor();
    await verdictIs(page, "true");
    await expect.poll(() => page.getByText("given by you").count()).toBe(2);

    await page.getByLabel("Agent's public key").fill(wire.signer.wire);
    await page.getByRole("button", { name: "Verify again" }).click();
    await verdictIs(page, "false");
    await expect.poll(() => checksThat(page, "failed")).toEqual(["signature", "keyid", "public_key"]);
    await line(page, "signature").getByText("signed by another key").waitFor();

    await page.getByLabel("Log's verifier key").fill("nonsense");
    await page.getByText("Nothing to verify: neither a receipt nor a public key").waitFor();
    await page.getByRole("button", { name: "Verify again" }).and(page.locator("[aria-disabled]")).waitFor();
    await expectAccessible(page);
  });

  test("a receipt that the service changed is false, and the page says why", async () => {
    const { id } = await passed();
    const page = await dashboard.open(org.owner, `/receipts/${id}`);
    for (const path of ["**/bundle", `**/api/receipts/${id}`])
      await misstate(page, path, ({ envelope }) => {
        envelope.payload = changed(envelope.payload);
      });
    await page.reload();
    await page.getByText("n = 900").waitFor();
    // No seal on what the agent did not sign.
    await page.getByText("Do not rely on this receipt").waitFor();
    await page.getByText("Signature NOT valid").waitFor();
    await heading(page, "Not a valid receipt").waitFor();
    await page.getByText("It claims: Restore test passed").waitFor();
    expect(await sealOf(page)).toBe("failed");
    await page.getByRole("button", { name: "Verify here" }).click();
    await verdictIs(page, "false");
    await expect.poll(() => checksThat(page, "failed")).toEqual(["signature", "leaf"]);
    await line(page, "signature").getByText("is not what the agent signed").waitFor();
    await line(page, "leaf").getByText("body_sha256 is not the SHA-256 of the payload").waitFor();
    await screenshotsOf(page, "receipt-false");
  });

  test("a certificate shows the agent's signed statement, whatever result and source the service says", async () => {
    const good = await passed();
    const page = await dashboard.open(org.owner);
    await misstate(page, `**/api/receipts/${failedReceipt}`, (receipt) => {
      receipt.result = "passed";
      receipt.source_id = receipt.backup_id;
    });
    await page.goto(`${dashboard.server.url}/receipts/${failedReceipt}`);
    await heading(page, "Restore test FAILED").waitFor();
    await expect.poll(() => marks(page)).toEqual(["Signature valid", "In the log", "No witness checked"]);
    expect(await sealOf(page)).toBe("failed");
    expect(await page.title()).toBe("Restore test FAILED · Attestore");
    const source = page.getByRole("region", { name: "Certificate" }).locator("h1 + p");
    await expect.poll(() => source.textContent()).toBe("orders");

    await misstate(page, `**/api/receipts/${good.id}`, (receipt) => {
      receipt.envelope.payload = Buffer.from("{}").toString("base64");
    });
    await page.goto(`${dashboard.server.url}/receipts/${good.id}`);
    await page.getByText("statement cannot be read").waitFor();
    await heading(page, "Receipt").waitFor();
    expect(await page.locator("[data-seal]").count()).toBe(0);
    expect(await page.getByText("Restore test passed").count()).toBe(0);
  });

  test("a receipt has no seal if its proof is missing or belongs to another receipt", async () => {
    const { id, backup_id } = await passed();
    const page = await dashboard.open(org.owner);
    await page.route(`**/api/receipts/${id}/bundle`, (route) => route.fulfill({ status: 500, json: BROKEN }));
    await page.goto(`${dashboard.server.url}/receipts/${id}`);
    await page.getByText("The proof could not be checked.").waitFor();
    const unknown = ["Signature not checked yet", "Log not checked yet", "Witnesses not checked yet"];
    expect(await marks(page)).toEqual(unknown);
    expect(await sealOf(page)).toBe("unverified");
    await expectAccessible(page);
    await screenshotsOf(page, "receipt-unverified");

    // A true bundle, of another receipt.
    await page.unrouteAll();
    const other = (await receiptsOf(wire.id)).find((each) => each.backup_id !== backup_id);
    const bundle = await bundleOf(other?.id ?? "");
    await page.route(`**/api/receipts/${id}/bundle`, (route) =>
      route.fulfill({ contentType: "application/json", body: bundle }),
    );
    await page.reload();
    await page.getByText("Do not rely on this receipt").waitFor();
    expect(await sealOf(page)).toBe("failed");
    expect(await marks(page)).toEqual(unknown);
  });

  test("a verification of one statement is not shown for another that the service gives later", async () => {
    const { id } = await passed();
    const page = await dashboard.open(org.owner, `/receipts/${id}`);
    await expect.poll(() => sealOf(page)).toBe("proven");
    await misstate(page, `**/api/receipts/${id}`, (receipt) => {
      receipt.envelope.payload = changed(receipt.envelope.payload);
    });
    // An announced change makes the page read the receipt again.
    const dump = await writeEncryptedDump(wire, await declareSource(wire, "later"));
    await accepted(wire, backupStatement(wire, dump));
    await page.getByText("n = 900").waitFor();
    await page.getByText("Do not rely on this receipt").waitFor();
    expect(await sealOf(page)).toBe("failed");
  });

  test("the commands that the page shows verify the receipt with other tools", async () => {
    const { id } = await passed();
    const page = await dashboard.open(org.owner, `/receipts/${id}`);
    const directory = join(base, "elsewhere");
    mkdirSync(directory);
    for (const name of ["Bundle (rcpt_….json)", "C2SP tlog-proof", "Sigstore bundle"]) {
      const file = await until(`"${name}" is downloaded`, async () => {
        const download = page.waitForEvent("download");
        await page.getByRole("link", { name }).click();
        // Chromium on a busy machine cancelled one once; a person would click again.
        return (await (await download).failure()) === "canceled" ? null : download;
      });
      expect(file.suggestedFilename()).toContain(id);
      await file.saveAs(join(directory, file.suggestedFilename()));
    }
    writeFileSync(join(directory, "agent.pub"), agentKey());
    writeFileSync(join(directory, "log.vkey"), logKey());
    const commands = (name: string) => page.getByLabel(name).first().innerText();
    const openssl = await commands("With openssl and jq: the agent's signature");
    expect(shell(directory, openssl)).toContain("Signature Verified Successfully");
    const [program, ...args] = (await commands("With attestore-verify")).split(" ");
    expect(program).toBe("attestore-verify");
    const verified = await run("attestore-verify", args, {}, directory);
    expect(verified.stdout).toMatch(/^TRUE/);
    expect(verified.code).toBe(0);
    await expect
      .poll(() => commands("With cosign: the agent's signature, and the ciphertext's digest"))
      .toContain(`--bundle ${id}.sigstore.json`);
    expect(readFileSync(join(directory, `${id}.tlog-proof`), "utf8")).toMatch(/^c2sp\.org\/tlog-proof@v1\n/);
  });
});

/** The same statement with another number of rows. */
function changed(payload: string): string {
  const statement = Buffer.from(payload, "base64").toString().replace('"n":500', '"n":900');
  return Buffer.from(statement).toString("base64");
}

const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content),
});

describe("the /verify page", () => {
  test("verifies files without a session and offline, and sends nothing", async () => {
    const { id } = await passed();
    const bundle = await bundleOf(id);
    const page = await dashboard.open(null, "/verify");
    await heading(page, "Verify a receipt").waitFor();
    neverReuse(page);
    await page.context().setOffline(true);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    const choose = page.getByLabel("Choose files");

    await choose.setInputFiles([file("rcpt.json", bundle)]);
    await verdictIs(page, "cannot_tell");
    await expect.poll(() => checksThat(page, "held")).toContain("leaf");
    await choose.setInputFiles([file("agent.pub", agentKey()), file("log.vkey", logKey())]);
    await verdictIs(page, "true");
    await page.getByText("Everything you asked for was checked, and held.").waitFor();
    await page.getByText("Restore test passed").waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "verify-true");

    const backup = readFileSync(await ciphertextOf(id));
    await choose.setInputFiles([file("backup.age", backup)]);
    await line(page, "ciphertext").and(page.locator('[data-result="held"]')).waitFor();
    await choose.setInputFiles([file("other.age", Buffer.concat([backup, backup]))]);
    await page.getByText("none of these receipts is about it").waitFor();
    await page.getByLabel("SHA-256 of the ciphertext").fill("ab".repeat(32));
    await verdictIs(page, "false");
    await expect.poll(() => checksThat(page, "failed")).toEqual(["ciphertext"]);
    await page.getByLabel("SHA-256 of the ciphertext").fill("ab");
    await page.getByText("Not 64 hexadecimal digits.").waitFor();
    await expect.poll(() => verdict(page).count()).toBe(0);

    await page.getByRole("button", { name: "Start over" }).click();
    const tampered = JSON.parse(bundle) as { envelope: { payload: string } };
    tampered.envelope.payload = changed(tampered.envelope.payload);
    await choose.setInputFiles([
      file("tampered.json", JSON.stringify(tampered)),
      file("agent.pub", agentKey()),
      file("log.vkey", logKey()),
    ]);
    await verdictIs(page, "false");
    await expect.poll(() => checksThat(page, "failed")).toEqual(["signature", "leaf"]);
    await expectAccessible(page);
    await screenshotsOf(page, "verify-false");

    expect(sent).toEqual([]);
    const { headers } = await exchange(dashboard.server, { method: "GET", path: "/verify" });
    expect(headers["content-security-policy"]).toContain("connect-src 'none'");
  });

  test("verifies an evidence pack offline, and does not show a pack with a failed test in green", async () => {
    const { id } = await passed();
    const { body: pack } = await exchange(dashboard.server, {
      method: "GET",
      path: `/api/orgs/${org.id}/evidence`,
      token: org.owner.token,
    });
    const page = await dashboard.open(null, "/verify");
    await heading(page, "Verify a receipt").waitFor();
    neverReuse(page);
    await page.context().setOffline(true);
    const choose = page.getByLabel("Choose files");
    await choose.setInputFiles([file("pack.zip", pack)]);
    await verdictIs(page, "cannot_tell");
    expect(await checksThat(page, "failed")).toEqual([]);
    const list = `org ${org.id}\n${formatSshLine(parsePublicKeyFile(agentKey()))}\n${wire.signer.wire} ${wire.id}\n`;
    await choose.setInputFiles([file("keys.list", list), file("log.vkey", logKey())]);
    await verdictIs(page, "true");
    await page.getByText("Authentic").waitFor();
    await page.getByText("It says that restore tests FAILED or were MISSED.").waitFor();
    await page.getByText("1 passed, 1 failed").waitFor();
    await page.getByText("list of 2 agents' keys, for evidence packs").waitFor();
    expect(await checksThat(page, "not_checked")).toEqual([]);
    await expectAccessible(page);
    await screenshotsOf(page, "verify-pack");

    await choose.setInputFiles([file("rcpt.json", await bundleOf(id))]);
    await page.getByText("Verify receipts and evidence packs one after the other").waitFor();
    await page.getByRole("button", { name: "Start over" }).click();
    const damaged = Buffer.from(pack);
    const at = damaged.indexOf("receipts/rcpt_") + 400;
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    await choose.setInputFiles([file("damaged.zip", damaged), file("pack.zip", pack)]);
    await verdictIs(page, "false");
    await page.getByText("2 packs of").waitFor();
  });

  test('gives the verdict "cannot tell" in a browser without Ed25519', async () => {
    const bundle = await bundleOf((await passed()).id);
    const page = await dashboard.open(null, "/verify");
    await page.evaluate(() => {
      SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException("", "NotSupportedError"));
    });
    const keys = [file("agent.pub", agentKey()), file("log.vkey", logKey())];
    await page.getByLabel("Choose files").setInputFiles([file("rcpt.json", bundle), ...keys]);
    await verdictIs(page, "cannot_tell");
    await page.getByText("It may be too old for Ed25519").waitFor();
  });

  test("says what kind of file it is if it is not evidence, and calls a malformed receipt false", async () => {
    const { id } = await passed();
    const bundle = JSON.parse(await bundleOf(id)) as Record<string, unknown>;
    const page = await dashboard.open(null, "/verify");
    await page
      .getByLabel("Choose files")
      .setInputFiles([
        file("empty", ""),
        file("noise.bin", Buffer.from([0xff, 0xfe, 0x00, 0x80])),
        file("huge.json", Buffer.alloc(600 * 1024, "x")),
        file("notes.txt", "milk, bread"),
        file("other.json", '{"a": 1}'),
        file("proof.tlog-proof", "c2sp.org/tlog-proof@v1\nindex 1\n\n"),
        file("sigstore.json", '{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json"}'),
        file("private.pem", "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n-----END PRIVATE KEY-----\n"),
        file("malformed.json", JSON.stringify({ ...bundle, checkpoint: "" })),
      ]);
    const files = page.getByRole("list", { name: "Files" });
    for (const words of [
      /^empty: Empty: the file has no content/,
      /^noise\.bin: Not a text file/,
      /^huge\.json: Too large: 614 kB/,
      /^notes\.txt: Nothing to verify/,
      /^other\.json: Nothing to verify/,
      /^proof\.tlog-proof: A proof without its receipt/,
      /^sigstore\.json: A bundle for other tools/,
      /^private\.pem: Not a key to trust: this is a private key/,
      /^malformed\.json: malformed receipt/,
    ])
      await files.getByRole("listitem").filter({ hasText: words }).waitFor();
    await verdictIs(page, "false");
    await expect.poll(() => verdict(page).count()).toBe(1);
    await screenshotsOf(page, "verify-garbage");
  });

  /** Fetched with the steps that the backup's page shows, see below. */
  async function ciphertextOf(id: string): Promise<string> {
    const { backup_id } = JSON.parse(
      (await wire.call("GET", `/api/receipts/${id}`, undefined, { token: org.owner.token })).body.toString(),
    ) as Listed;
    const directory = mkdtempSync(join(base, "ciphertext-"));
    const page = await dashboard.open(org.owner, `/backups/${backup_id}`);
    await page.getByRole("button", { name: "Make a download link" }).click();
    const fetch = await page.getByLabel("Fetch the ciphertext").innerText();
    shell(directory, withAuthority(fetch));
    return join(directory, "backup.age");
  }
});

const withAuthority = (commands: string): string =>
  commands.replace("curl ", `curl --silent --cacert ${dashboard.server.caFile} `);

describe("backups", () => {
  test("backups are listed, explained, and recovered with the commands that the page shows", async () => {
    const { backup_id } = await passed();
    const page = await dashboard.open(org.owner, "/backups");
    await heading(page, "Backups").waitFor();
    const table = page.getByRole("table", { name: "Backups" });
    await table.getByRole("row").nth(2).waitFor();
    // What refutes a backup is not shown as if it were its proof.
    await table
      .getByRole("cell", { name: "no, a test failed" })
      .getByRole("link", { name: "a test failed" })
      .waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "backups");
    await page.getByLabel("Ciphertext").selectOption("expired");
    await page.getByText("No backup matches the filter.").waitFor();

    await page.goto(`${dashboard.server.url}/backups/${backup_id}`);
    await heading(page, /^Backup of /).waitFor();
    await page.getByText("the source has no retention rules, so everything is kept").waitFor();
    await page.getByRole("link", { name: "Restore test passed" }).waitFor();
    await page.getByText("Make a download link first").waitFor();
    await page.getByRole("button", { name: "Make a download link" }).click();
    await page.getByText(/^The link works until/).waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "backup");

    const directory = mkdtempSync(join(base, "recovery-"));
    shell(directory, `cp ${join(host.root, "keys/age.key")} age.key`);
    const step = (name: string) => page.getByLabel(name, { exact: true }).innerText();
    const commands = [
      withAuthority(await step("Fetch the ciphertext")),
      await step("Check that it is this backup"),
      await step("Decrypt and decompress"),
      await step("Put the database in place"),
    ].join("\n");
    expect(shell(directory, commands)).toMatch(/backup\.age: OK\n(.*\n)*ok\n/);
    expect(shell(directory, "sqlite3 restored.sqlite 'select count(*) from invoices'")).toBe("500\n");
  });

  test("an auditor may download a backup, and sees when and why it will be removed", async () => {
    const { backup_id } = await passed();
    const auditor = await dashboard.addPerson(org, "auditor");
    const page = await dashboard.open(auditor, `/backups/${backup_id}`);
    await page.getByRole("button", { name: "Make a download link" }).click();
    await page.getByRole("link", { name: "Download the ciphertext" }).waitFor();
  });
});

test("a reader with an auditor link reads and verifies receipts, but cannot download ciphertexts", async () => {
  const { id, backup_id } = await passed();
  const created = await wire.call(
    "POST",
    `/api/orgs/${org.id}/auditor-links`,
    {
      name: "SOC 2",
      from: new Date(Date.now() - 86_400_000).toISOString(),
      to: new Date(Date.now() + 86_400_000).toISOString(),
    },
    { token: org.owner.token },
  );
  const opened = await wire.call("POST", "/api/auditor-links/open", {
    secret: new URL(created.json<{ url: string }>().url).hash.slice(1),
  });
  const { session_token: token } = opened.json<{ session_token: string }>();
  const page = await dashboard.open({ id: "", email: "", role: "auditor", token }, `/receipts/${id}`);
  await page.getByRole("button", { name: "Verify here" }).click();
  await verdictIs(page, "cannot_tell");
  await page.goto(`${dashboard.server.url}/log`);
  await page.locator("[data-observation]").waitFor();
  await expect.poll(() => page.getByRole("heading", { name: "Witnesses" }).count()).toBe(0);
  await page.goto(`${dashboard.server.url}/backups/${backup_id}`);
  await page.getByText("can see why it is kept").waitFor();
  const download = page.getByRole("button", { name: "Make a download link" });
  await expect.poll(() => download.getAttribute("aria-description")).toContain("records, not to ciphertexts");
  await page.goto(`${dashboard.server.url}/events`);
  await page.getByRole("link", { name: "Agent attached" }).first().waitFor();
});
