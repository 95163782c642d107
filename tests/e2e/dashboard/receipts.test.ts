import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../harness/programs.ts";
import { until } from "../harness/wait.ts";
import { expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  agentKey,
  base,
  changed,
  dashboard,
  failedReceipt,
  logKey,
  misstate,
  org,
  passed,
  sealOf,
  shell,
  useReceiptsDashboard,
  wire,
} from "./receipts-dashboard.ts";
import { checksThat, heading, line, verdict, verdictIs } from "./verdicts.ts";

useReceiptsDashboard();

describe("receipts", () => {
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
