import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  base,
  dashboard,
  host,
  org,
  passed,
  shell,
  useReceiptsDashboard,
  withAuthority,
} from "./receipts-dashboard.ts";
import { heading } from "./verdicts.ts";

useReceiptsDashboard();

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
