import { describe, expect, test } from "vitest";
import { declareSource, writeEncryptedDump } from "../harness/backups.ts";
import { accepted, backupStatement } from "../harness/statements.ts";
import { expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  bundleOf,
  changed,
  dashboard,
  failedReceipt,
  marks,
  misstate,
  org,
  passed,
  receiptsOf,
  sealOf,
  useReceiptsDashboard,
  wire,
} from "./receipts-dashboard.ts";
import { heading, verdictIs } from "./verdicts.ts";

useReceiptsDashboard();

const BROKEN = { error: "internal", message: "It broke.", request_id: "req_1", details: {} };

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

describe("verification in the browser", () => {
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
