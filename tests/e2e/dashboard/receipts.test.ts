import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { declareSource, writeEncryptedDump } from "../harness/backups.ts";
import { run } from "../harness/programs.ts";
import { accepted, backupStatement } from "../harness/statements.ts";
import { until } from "../harness/wait.ts";
import { expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  agentKey,
  base,
  bundleOf,
  changed,
  dashboard,
  failedReceipt,
  logKey,
  org,
  passed,
  receiptsOf,
  shell,
  useReceiptsDashboard,
  wire,
} from "./receipts-dashboard.ts";
import { checksThat, heading, line, verdict, verdictIs } from "./verdicts.ts";

useReceiptsDashboard();

const BROKEN = { error: "internal", message: "It broke.", request_id: "req_1", details: {} };

interface Detail {
  result: string;
  source_id: string;
  backup_id: string;
  envelope: { payload: string };
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
