import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cosignatureLine,
  cosignatureMessage,
  formatEventStatement,
  noteVerifier,
  parseNote,
  parsePublicKeyWire,
} from "@attestore/proof";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declareSource, heartbeatBody, writeEncryptedDump } from "../harness/backups.ts";
import { seal } from "../harness/dsse.ts";
import { attach, type WireAgent } from "../harness/organisation.ts";
import { accepted, backupStatement, restoreTestStatement } from "../harness/statements.ts";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  screenshotsOf,
} from "./open-dashboard.ts";
import { checksThat, heading, verdictIs } from "./verdicts.ts";

let base: string;
let dashboard: Dashboard;
let org: DashboardOrg;
/** An agent that only makes the calls. */
let wire: WireAgent;
let receiptId: string;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-log-"));
  dashboard = await openDashboard();
  org = await dashboard.addOrg("Invoices & Co");
  wire = await attach(org, { name: "wire-host" });
  const backup = await writeEncryptedDump(wire, await declareSource(wire, "orders"));
  await accepted(wire, backupStatement(wire, backup));
  receiptId = (await accepted(wire, restoreTestStatement(wire, backup))).receipt_id;
});
afterAll(async () => {
  await dashboard.close();
  rmSync(base, { recursive: true, force: true });
});

const BROKEN = { error: "internal", message: "It broke.", request_id: "req_1", details: {} };

describe("events", () => {
  test("events are listed by kind and verified in the browser", async () => {
    await wire.call("POST", "/v1/events", {
      kind: "backup_failed",
      occurred_at: new Date().toISOString(),
      detail: { code: "dump_failed", message: "pg_dump: connection refused", ratio: 0.25 },
    });
    const page = await dashboard.open(org.owner, "/events");
    await heading(page, "Events").waitFor();
    await page.getByRole("link", { name: "Agent attached" }).first().waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "events");
    await page.getByLabel("Kind").selectOption("backup_failed");
    await page.getByRole("link", { name: "Agent attached" }).first().waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Backup failed" }).click();
    await heading(page, "Backup failed").waitFor();
    await page.getByText("pg_dump: connection refused", { exact: true }).waitFor();
    await page.getByText("Not signed. Only the service says that the agent reported it.").waitFor();
    await page.getByRole("button", { name: "Verify here" }).click();
    await verdictIs(page, "cannot_tell");
    await page.getByText("only with a log key that this service itself gave").waitFor();
    await expect.poll(() => checksThat(page, "held")).toEqual(["event", "checkpoint", "inclusion"]);
    await expectAccessible(page);
    await screenshotsOf(page, "event");
  });

  test("an event that an agent signed shows the signing key", async () => {
    const { id, orgId, signer } = wire;
    const event = {
      kind: "restore_failed",
      occurred_at: new Date().toISOString(),
      detail: { message: "signed by its agent" },
    };
    const predicate = {
      ...event,
      org_id: orgId,
      agent_id: id,
      agent_version: "0.1.0",
      previous_receipt_sha256: null,
    };
    const envelope = seal(signer, formatEventStatement(predicate));
    const answer = await wire.call("POST", "/v1/events", { ...event, envelope });
    expect(answer.status, String(answer.body)).toBe(201);
    const page = await dashboard.open(org.owner, "/events?kind=restore_failed");
    await page.getByRole("link", { name: "Restore test could not run" }).first().click();
    await page.getByText("signed by its agent", { exact: true }).waitFor();
    await page.getByText("Signed by the agent, with the key").waitFor();
    await page.getByText(envelope.signatures[0]?.keyid ?? "none").waitFor();
    await page.getByRole("button", { name: "Verify here" }).click();
    await verdictIs(page, "cannot_tell");
    await expect.poll(() => checksThat(page, "failed")).toEqual([]);
    await expectAccessible(page);
  });

  test("an event that the service changed is false", async () => {
    const page = await dashboard.open(org.owner, "/events?kind=backup_failed");
    await page.route("**/api/events/evt_*", async (route) => {
      const response = await route.fetch();
      const event = (await response.json()) as { detail: object };
      await route.fulfill({ response, json: { ...event, detail: { code: "nothing_happened" } } });
    });
    await page.getByRole("link", { name: "Backup failed" }).click();
    await page.getByText("nothing_happened").waitFor();
    await page.getByRole("button", { name: "Verify here" }).click();
    await verdictIs(page, "false");
    await expect.poll(() => checksThat(page, "failed")).toEqual(["event", "inclusion"]);
  });
});

describe("the log", () => {
  const observation = (page: Page, outcome: string) => page.locator(`[data-observation="${outcome}"]`);
  /** Any: the page looks again by itself once the service tells it of changes. */
  const observed = (page: Page): Promise<void> => page.locator("[data-observation]").waitFor();
  const event = () =>
    wire.call("POST", "/v1/events", {
      kind: "restore_failed",
      occurred_at: new Date().toISOString(),
      detail: {},
    });

  /** Like an agent: keeps the head it is shown, and cosigns it with its next heartbeat. */
  async function witness(): Promise<void> {
    const beat = (more: object) => wire.call("POST", "/v1/heartbeat", heartbeatBody({ ...more }));
    const { log_head } = (await beat({})).json<{ log_head: string }>();
    const key = noteVerifier(wire.id, "cosignature/v1", parsePublicKeyWire(wire.signer.wire).bytes);
    const now = Math.floor(Date.now() / 1000);
    const signature = wire.signer.sign(cosignatureMessage(now, parseNote(log_head).text));
    const answer = await beat({
      log_head,
      cosignature: cosignatureLine(key, now, new Uint8Array(signature)),
    });
    expect(answer.status).toBe(200);
  }

  const heldCheckpoint = (page: Page): Promise<string> =>
    page.evaluate(() => {
      const name = Object.keys(localStorage).find((key) => key.startsWith("attestore.log-head."));
      const held = JSON.parse(localStorage.getItem(name ?? "") ?? "{}") as { checkpoint?: string };
      return held.checkpoint ?? "";
    });

  test("the browser watches the log as it grows, and verifies its witnesses", async () => {
    const page = await dashboard.open(org.owner, "/receipts");
    await page.evaluate(() => {
      for (const name of Object.keys(localStorage))
        if (name.startsWith("attestore.log-head.")) localStorage.removeItem(name);
    });
    await page.goto(`${dashboard.server.url}/log`);
    await observation(page, "first").waitFor();
    await page.getByText("No agent has cosigned a head yet.").waitFor();
    await page.getByRole("button", { name: "Check now" }).click();
    await observation(page, "same").waitFor();
    await witness();
    await event();
    await page.reload();
    await observation(page, "grown")
      .getByText(/^The log only grew: \d+ leaves before, \d+ leaves now/)
      .waitFor();
    await page.locator('[data-witness="held"]').waitFor();
    await page.getByRole("row", { name: /wire-host .* holds; part of this head/ }).waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "log");

    await page.getByLabel("ID").fill(receiptId);
    await page.getByRole("button", { name: "Verify inclusion" }).click();
    await verdictIs(page, "cannot_tell");
    await page.getByText("only with keys that this service itself gave").waitFor();
    await expect.poll(() => checksThat(page, "held")).toContain("cosignatures");
    await page.getByText("remembered by this browser from an earlier visit").first().waitFor();
    await page.getByLabel("ID").fill("bkp_1");
    await page.getByText("Enter the ID of a receipt").waitFor();
  });

  test("a log that contradicts itself raises an alarm, and the browser keeps the old head", async () => {
    const page = await dashboard.open(org.owner, "/log");
    await observed(page);
    const held = await heldCheckpoint(page);
    // First, for the page may look at the log again by itself.
    await page.route("**/log/proof?**", async (route) => {
      const response = await route.fetch();
      const proof = (await response.json()) as { consistency: { hashes: string[] } | null };
      if (proof.consistency !== null) proof.consistency.hashes[0] = "ab".repeat(32);
      await route.fulfill({ response, json: proof });
    });
    await event();
    await page.reload();
    const alarm = page.locator('[data-alarm="head_inconsistent"]');
    await alarm.getByText("The log did more than grow").waitFor();
    expect(await heldCheckpoint(page)).toBe(held);
    await expectAccessible(page);
    await screenshotsOf(page, "log-split-view");
    // The service corrects its answer, but the alarm stays.
    await page.unrouteAll();
    await page.reload();
    await alarm.waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download both heads" }).click();
    const saved = join(base, "split-view.json");
    await (await download).saveAs(saved);
    const evidence = JSON.parse(readFileSync(saved, "utf8")) as Record<string, { checkpoint: string }>;
    expect(evidence["kept"]?.checkpoint).toBe(held);
    expect(evidence["offered"]?.checkpoint).not.toBe(held);
    await page.getByRole("button", { name: "Forget this log" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await observed(page);
  });

  test("a log with a new key is a split view, and a failed call is not", async () => {
    const page = await dashboard.open(org.owner, "/log");
    await observed(page);
    await page.route("**/log/head", (route) => route.fulfill({ status: 500, json: BROKEN }));
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("It broke.").waitFor();
    await page.unrouteAll();
    const other = await dashboard.addOrg();
    const answer = await wire.call("GET", `/api/orgs/${other.id}/log`, undefined, {
      token: other.owner.token,
    });
    await page.route(`**/api/orgs/${org.id}/log`, async (route) => {
      const response = await route.fetch();
      const keys = (await response.json()) as object;
      const { verifier_key } = answer.json<{ verifier_key: string }>();
      await route.fulfill({ response, json: { ...keys, verifier_key } });
    });
    await page.reload();
    await page.locator('[data-alarm="key_changed"]').waitFor();
  });
});
