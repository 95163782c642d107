import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { makeHistory } from "../../../../test/history.ts";
import { startSmtpServer, type TestSmtpServer } from "../../../../test/smtp.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../../test/service.ts";
import { smtpTransport } from "../../../platform/mail/smtp-transport.ts";
import { deliverDueNotifications } from "../deliveries/deliver.ts";
import { lastWholeWeek } from "./iso-week.ts";
import { queueWeeklyEvidence } from "./weekly-evidence.ts";
import { weeklyMail } from "./weekly-mail.ts";

const { signal } = new AbortController();
/** A Monday: what was recorded today is of the week before. */
const monday = new Date(Date.now() + 7 * 86_400_000);

let service: TestService;
let smtp: TestSmtpServer;
let org: TestOrg;
let owner: TestUser;
beforeAll(async () => {
  service = await startTestService();
  smtp = await startSmtpServer();
  org = await service.addOrg();
  owner = await service.signIn(org);
});
afterAll(async () => {
  await smtp.close();
  await service.close();
});

const optIn = async (user: TestUser, more: object = {}): Promise<number> =>
  (
    await owner.post(`/api/orgs/${org.id}/notifications/channels`, {
      kind: "email",
      email: user.email,
      weekly_evidence: true,
      types: ["backup.failed"],
      ...more,
    })
  ).status;

const deps = (transport: ReturnType<typeof smtpTransport>) => ({
  db: service.byClock,
  sealer: service.sealer,
  signer: service.signer,
  envelopes: service.envelopes,
  logger: service.logger,
  transport,
  publicUrl: "https://backups.example.org",
  webhooks: { networks: [], http: false },
});

test.each([
  ["2026-11-23T00:00:00Z", "2026-W47", "2026-11-16"],
  ["2026-11-22T23:59:59Z", "2026-W46", "2026-11-09"],
  ["2027-01-04T05:00:00Z", "2026-W53", "2026-12-28"],
  ["2025-01-06T00:00:00Z", "2025-W01", "2024-12-30"],
  ["2024-01-03T12:00:00Z", "2023-W52", "2023-12-25"],
])("at %s the last week is %s", (now, name, from) => {
  const week = lastWholeWeek(new Date(now));
  expect([week.name, week.from.toISOString().slice(0, 10)]).toEqual([name, from]);
});

test("subscribers get the week's receipts once, however many replicas run, and they verify offline", async () => {
  const { agent, sourceId, backups } = await makeHistory(service, org, { backups: 2 });
  await makeHistory(service, org, { agent, slug: "payments", result: "failed" });
  await service.pool.query(
    `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, status, decided_at)
     values ($1, 'restore_test', now(), $2, now(), 'missed', now())`,
    [sourceId, org.id],
  );
  const colleague = await service.signIn(org, "auditor");
  expect(await optIn(owner)).toBe(201);
  expect(await optIn(colleague, { weekly_evidence: false })).toBe(201);
  const queue = () => queueWeeklyEvidence(service.byClock, { now: monday, signal });
  await Promise.all([queue(), queue(), queue()]);
  await queue();
  const transport = smtpTransport(
    { host: "127.0.0.1", port: smtp.port, implicitTls: false, auth: null },
    "a@service.test",
  );
  expect(await deliverDueNotifications(deps(transport))).toBe(1);
  expect(await deliverDueNotifications(deps(transport))).toBe(0);
  transport.close();
  expect(smtp.received.map(({ to }) => to)).toEqual([[owner.email]]);
  const message = smtp.received[0]?.message ?? "";
  const text = message.slice(0, message.indexOf("filename=")).replaceAll("=\r\n", "");
  expect(text).toContain("Restore tests: 2 passed, 1 failed, 1 missed.");
  expect(text).toContain("orders: 1 restore test scheduled; 2 passed, 0 failed, 1 missed.");
  expect(text).toContain("payments: no restore test passed this week.");
  expect(text).toContain("Attached, each with its proof: 6 of 6 receipts.");

  const directory = await mkdtemp(join(tmpdir(), "weekly-"));
  const files = [
    ...message.matchAll(/filename=(rcpt_[a-z0-9]+\.json)[\s\S]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/g),
  ];
  expect(files).toHaveLength(6);
  const names = await Promise.all(
    files.map(async ([, name = "", content = ""]) => {
      await writeFile(join(directory, name), Buffer.from(content, "base64"));
      return join(directory, name);
    }),
  );
  expect(names.map((name) => name.split("/").at(-1))).toContain(
    `${backups[0]?.receipts.restore_test ?? ""}.json`,
  );
  await writeFile(join(directory, "agent.pub"), `${agent.publicKeyWire}\n`);
  await writeFile(join(directory, "log.vkey"), `${agent.log.verifier_key}\n`);
  const { stdout } = await promisify(execFile)(process.execPath, [
    inject("programs")["attestore-verify"],
    ...names,
    "--key",
    join(directory, "agent.pub"),
    "--log-key",
    join(directory, "log.vkey"),
  ]);
  expect(stdout.match(/\bTRUE\b/g)?.length).toBeGreaterThanOrEqual(6);
  await rm(directory, { recursive: true });
});

test("the mail names what it does not contain", async () => {
  const week = lastWholeWeek(monday);
  const compose = (room: { maxBytes: number; maxFiles: number }) =>
    weeklyMail(
      {
        ...deps(smtpTransport({ host: "127.0.0.1", port: smtp.port, implicitTls: false, auth: null }, "a@b")),
        room,
      },
      org.id,
      {
        id: "ntf_1",
        type: "evidence.weekly",
        occurredAt: week.to,
        data: {
          org: { name: "Example" },
          week: week.name,
          from: week.from.toISOString(),
          to: week.to.toISOString(),
        },
      },
    );
  const few = await compose({ maxBytes: 1e6, maxFiles: 2 });
  expect(few.attachments).toHaveLength(2);
  expect(few.text).toContain("Attached, each with its proof: 2 of 6 receipts.");
  expect(few.text).toContain("NOT attached: 4 more receipts of this week");
  // Those of restore tests come first.
  for (const { content } of few.attachments ?? [])
    expect(content.toString()).toContain('"kind":"restore_test"');
  const none = await compose({ maxBytes: 100, maxFiles: 10 });
  expect(none.attachments).toEqual([]);
  expect(none.text).toContain("Attached, each with its proof: 0 of 6 receipts.");
});

test("nobody gets the mail without asking for it, or after switching it off", async () => {
  const other = await service.addOrg();
  const { rows } = await service.pool.query("select id from notification_channels where org_id = $1", [
    org.id,
  ]);
  for (const { id } of rows as { id: string }[])
    await owner.patch(`/api/orgs/${org.id}/notifications/channels/${id}`, { weekly_evidence: false });
  await queueWeeklyEvidence(service.byClock, { now: new Date(monday.getTime() + 7 * 86_400_000), signal });
  const queued = await service.pool.query(
    "select org_id from notification_deliveries where status = 'pending'",
  );
  expect([other.id, ...queued.rows]).toEqual([other.id]);
});
