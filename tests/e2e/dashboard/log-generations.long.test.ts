import { formatVerifierKey, leafHash, toHex, utf8 } from "@attestore/proof";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { GenerationsLog } from "../../../packages/proof/test/generations-fixture.ts";
import { LOG_NAME } from "../../../packages/proof/test/receipt-fixture.ts";
import { ed25519Key, type TestKey, verifierOf } from "../../../packages/proof/test/signing-keys.ts";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  screenshotsOf,
} from "./open-dashboard.ts";

/**
 * A browser and a log that loses entries. The log's answers are those of an operator who has the
 * log's key, and so can sign whatever it likes.
 */
let dashboard: Dashboard;
let org: DashboardOrg;
let key: TestKey;
let log: GenerationsLog;
/** The events that the service names; null for those of its log. */
let named: GenerationsLog["events"] | null;
/** What `GET .../log` says beside the keys. */
let said: { read_only: boolean; handed_in_again: object[] };

beforeAll(async () => {
  dashboard = await openDashboard();
  org = await dashboard.addOrg("Invoices & Co");
  key = await ed25519Key(3);
});
afterAll(() => dashboard.close());
beforeEach(() => {
  log = new GenerationsLog(key, 9);
  named = null;
  said = { read_only: false, handed_in_again: [] };
});

async function openLog(): Promise<Page> {
  const page = await dashboard.open(org.owner, "/receipts");
  await page.route(`**/api/orgs/${org.id}/log`, async (route) => {
    const response = await route.fetch();
    const verifier_key = formatVerifierKey(verifierOf(key, LOG_NAME));
    const real = (await response.json()) as object;
    await route.fulfill({ response, json: { ...real, ...said, log_id: log.origin, verifier_key } });
  });
  await page.route("**/log/head", async (route) =>
    route.fulfill({
      json: {
        log_id: log.origin,
        tree_size: log.size,
        root_hash: toHex(log.root()),
        timestamp: "2026-11-25T08:00:00.000Z",
        checkpoint: await log.checkpoint(),
      },
    }),
  );
  await page.route("**/log/proof?**", async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [from, to] = [Number(query.get("from")), Number(query.get("tree_size"))];
    if (to > log.size) {
      const error = {
        error: "not_found",
        message: "There is no such head.",
        request_id: "req_1",
        details: {},
      };
      return route.fulfill({ status: 404, json: error });
    }
    const consistency = { from, to, hashes: log.consistency(from, to).map(toHex) };
    const inclusion = { log_index: from - 1, tree_size: to, hashes: [] };
    return route.fulfill({ json: { inclusion, consistency, checkpoint: await log.checkpoint(to) } });
  });
  await page.route("**/log/generations**", (route) =>
    route.fulfill({ json: { began: named ?? log.events, lost: [] } }),
  );
  await page.goto(`${dashboard.server.url}/log`);
  await page.locator('[data-observation="first"]').waitFor();
  return page;
}

const alarm = (page: Page, reason: string) => page.locator(`[data-alarm="${reason}"]`);
const loss = (page: Page) => page.locator('[data-log="lost-entries"]');
const newestHead = (of = log) => ({ size: of.size, rootHash: of.root() });
const twin = (left: number): GenerationsLog => new GenerationsLog(key, left);

test("a log that lost entries is read-only, raises the alarm, and its next generation ends the alarm and names the loss", async () => {
  const page = await openLog();
  const lost = newestHead();
  log = twin(6);
  said.read_only = true;
  await page.reload();
  await page.locator('[data-log="read-only"]').getByText("This log is read-only").waitFor();
  await alarm(page, "head_rolled_back").waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "log-read-only");

  await log.rollBack(6, [lost], { because: "the standby lacked entries" });
  log.append(leafHash(utf8("handed in again")));
  said = { read_only: false, handed_in_again: [{ generation: 2, receipts: 2, events: 1 }] };
  await page.reload();
  await page.locator('[data-observation="followed"]').waitFor();
  await alarm(page, "head_rolled_back").waitFor({ state: "detached" });
  for (const words of [
    "at least 3 entries",
    "6 entries, unchanged and still provable",
    "2 receipts and 1 event from before that",
    "the standby lacked entries",
    "ended, because the log accounts for it",
  ])
    await loss(page).getByText(words).waitFor();
  await page.getByLabel("Commands to read the log").getByText(`/log/${org.id}/2/checkpoint`).waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "log-generation");
  // It stays visible, and the browser watches the new generation as it did the old one.
  log.append(leafHash(utf8("another")));
  await page.reload();
  await page.locator('[data-observation="grown"]').waitFor();
  await loss(page).getByText("at least 3 entries").waitFor();
});

test("an operator who forks the log, and calls another head than the browser's lost, raises an alarm that stays", async () => {
  const page = await openLog();
  const true9 = newestHead();
  const fork = twin(6);
  for (let n = 0; n < 3; n += 1) fork.append(leafHash(utf8(`forged ${n}`)));
  const forged9 = newestHead(fork);
  log = fork;
  await log.rollBack(6, [forged9]);
  await page.reload();
  const unproven = alarm(page, "generation_unproven");
  await unproven.getByText(/does not name the head of 9 leaves with root/).waitFor();
  expect(await loss(page).count()).toBe(0);
  await expectAccessible(page);
  await screenshotsOf(page, "log-generation-unproven");
  // Then it tells this browser what it wants to hear: that is another event than before.
  log = twin(9);
  await log.rollBack(6, [true9]);
  await page.reload();
  await unproven.waitFor();
  expect(await page.locator("[data-observation]").count()).toBe(0);
});

test("a generation whose event is not in its log, and one that ended and signs more, raise the alarm", async () => {
  const page = await openLog();
  const lost = newestHead();
  await log.rollBack(6, [lost]);
  named = structuredClone(log.events);
  for (const { event } of named) event.detail["because"] = "another reason";
  await page.reload();
  await alarm(page, "generation_unproven").getByText("not the event that its leaf covers").waitFor();
  // The head was the log's own, so the true event ends this alarm.
  named = null;
  await page.reload();
  await page.locator('[data-observation="followed"]').waitFor();

  log.append(leafHash(utf8("another")));
  const checkpoint = await log.checkpoint(log.size, LOG_NAME);
  await page.route("**/log/head", (route) =>
    route.fulfill({
      json: {
        log_id: LOG_NAME,
        tree_size: log.size,
        root_hash: toHex(log.root()),
        timestamp: "2026-11-25T08:00:00.000Z",
        checkpoint,
      },
    }),
  );
  await page.reload();
  await alarm(page, "head_forked").getByText("ended with 6 entries").waitFor();
});
