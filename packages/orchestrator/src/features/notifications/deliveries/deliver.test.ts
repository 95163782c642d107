import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer, type Server } from "node:https";
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startSmtpServer, type TestSmtpServer } from "../../../../test/smtp.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../../test/service.ts";
import type { MailTransport } from "../../../platform/mail/mail.ts";
import { smtpTransport } from "../../../platform/mail/smtp-transport.ts";
import { connectDatabase } from "../../../platform/database/database.ts";
import { silentLogger } from "../../../platform/logging/logger.ts";
import { openDatabaseSwitch } from "../../../../test/database-switch.ts";
import { RecordingLogger } from "../../../../test/recording-logger.ts";
import { loadServerTls } from "../../../platform/tls/server-tls.ts";
import { deliverDueNotifications, deliverNotifications } from "./deliver.ts";
import { mailOf } from "../messages/mail-text.ts";
import { PAUSES_S } from "./retry-schedule.ts";
import { sendWebhook } from "./send-webhook.ts";
import type { DeliveringDeps } from "../channels/deps.ts";

interface Arrived {
  headers: IncomingHttpHeaders;
  body: string;
}

const REACH = { networks: ["127.0.0.0/8"], http: false };

let service: TestService;
let org: TestOrg;
let owner: TestUser;
let base: string;
let directory: string;
let ca: string;
let receiver: Server;
let url: string;
let smtp: TestSmtpServer;
let transport: MailTransport;
const arrived: Arrived[] = [];
/** What the receiver does with a request that it has read. */
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  service = await startTestService({ webhookReach: REACH });
  directory = await mkdtemp(join(tmpdir(), "webhooks-"));
  const { options } = await loadServerTls({ directory, hostnames: ["localhost"] }, service.logger);
  ca = await readFile(join(directory, "ca.pem"), "utf8");
  receiver = createServer(options, receive);
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  url = `https://localhost:${(receiver.address() as AddressInfo).port}/hook?a=b`;
  smtp = await startSmtpServer();
  transport = smtpTransport(
    { host: "127.0.0.1", port: smtp.port, implicitTls: false, auth: null },
    "Attestore <attestore@service.test>",
  );
});
afterAll(async () => {
  transport.close();
  await smtp.close();
  receiver.closeAllConnections();
  receiver.close();
  await rm(directory, { recursive: true });
  await service.close();
});
beforeEach(async () => {
  arrived.length = 0;
  answer = (response) => response.writeHead(204).end();
  org = await service.addOrg();
  owner = await service.signIn(org);
  base = `/api/orgs/${org.id}/notifications`;
});
afterEach(() =>
  service.pool.query(
    "update notification_deliveries set status = 'cancelled', next_attempt_at = null, finished_at = now() where status = 'pending'",
  ),
);

const receive: RequestListener = (request: IncomingMessage, response: ServerResponse) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    arrived.push({ headers: request.headers, body });
    answer(response);
  });
};

const deps = (more: Partial<DeliveringDeps> = {}): DeliveringDeps => ({
  db: service.byClock,
  sealer: service.sealer,
  signer: service.signer,
  envelopes: service.envelopes,
  logger: service.logger,
  transport,
  publicUrl: "https://backups.example.org",
  webhooks: { ...REACH, ca },
  ...more,
});

async function addWebhook(to = url): Promise<{ id: string; secret: string; path: string }> {
  const { status, json } = await owner.post(`${base}/channels`, { kind: "webhook", url: to });
  expect(status, JSON.stringify(json)).toBe(201);
  return {
    id: String(json["id"]),
    secret: String(json["secret"]),
    path: `${base}/channels/${String(json["id"])}`,
  };
}

/** Queues a test for the channel; gives its delivery's path. */
async function queueTest(channel: { path: string }): Promise<string> {
  const { status, json } = await owner.post(`${channel.path}/test`);
  expect(status).toBe(202);
  return `${base}/deliveries/${String(json["delivery_id"])}`;
}

const read = async (path: string): Promise<Record<string, unknown>> => (await owner.get(path)).json;
const makeDue = () =>
  service.pool.query("update notification_deliveries set next_attempt_at = now() where status = 'pending'");
const ids = (): unknown[] => arrived.map(({ headers }) => headers["webhook-id"]);

const verify = (secret: string, { headers, body }: Arrived): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

test("a message arrives over TLS, signed as Standard Webhooks says", async () => {
  const channel = await addWebhook();
  const delivery = await queueTest(channel);
  expect(await deliverDueNotifications(deps())).toBe(1);
  const [message] = arrived;
  if (message === undefined) throw new Error("nothing arrived");
  const sent = verify(channel.secret, message);
  expect(sent).toMatchObject({
    type: "notification.test",
    data: { org: { id: org.id } },
  });
  expect(message.headers).toMatchObject({ "content-type": "application/json", host: new URL(url).host });
  expect(message.headers["webhook-id"]).toMatch(/^ntf_/);
  expect(() => verify(`whsec_${randomBytes(32).toString("base64")}`, message)).toThrow(/signature/i);
  expect(() => verify(channel.secret, { ...message, body: message.body.replace("test", "text") })).toThrow(
    /signature/i,
  );
  expect(await read(delivery)).toMatchObject({
    status: "delivered",
    attempts: 1,
    next_attempt_at: null,
    tried: [{ attempt: 1, outcome: "delivered", http_status: 204 }],
  });
  expect((await read(channel.path))["last_delivered_at"]).not.toBeNull();
  expect(await deliverDueNotifications(deps())).toBe(0);
});

test("after a change of the secret both verify", async () => {
  const channel = await addWebhook();
  const { json } = await owner.post(`${channel.path}/rotate-secret`);
  await queueTest(channel);
  await deliverDueNotifications(deps());
  const [message] = arrived;
  if (message === undefined) throw new Error("nothing arrived");
  verify(channel.secret, message);
  verify(String(json["secret"]), message);
  await service.pool.query("update notification_channels set former_secret_until = now() where id = $1", [
    channel.id,
  ]);
  await queueTest(channel);
  await deliverDueNotifications(deps());
  const last = arrived.at(-1) ?? message;
  verify(String(json["secret"]), last);
  expect(() => verify(channel.secret, last)).toThrow(/signature/i);
});

test("a failed delivery is retried under the same id with growing delays for three days, and then by hand", async () => {
  const channel = await addWebhook();
  const delivery = await queueTest(channel);
  answer = (response) => response.writeHead(500).end("a secret of the receiver");
  for (const pause_s of PAUSES_S) {
    expect(await deliverDueNotifications(deps())).toBe(1);
    const { next_attempt_at, status } = await read(delivery);
    const wait_s = (Date.parse(String(next_attempt_at)) - Date.now()) / 1000;
    expect(status).toBe("pending");
    expect(wait_s).toBeGreaterThan(pause_s - 5);
    expect(wait_s).toBeLessThan(pause_s * 1.1 + 5);
    await makeDue();
  }
  service.logger.lines.length = 0;
  await deliverDueNotifications(deps());
  expect(service.logger.has("a notification is dropped after its last attempt")).toBe(true);
  const given_up = await read(delivery);
  expect(given_up).toMatchObject({ status: "failed", attempts: PAUSES_S.length + 1, next_attempt_at: null });
  expect(given_up["tried"]).toHaveLength(PAUSES_S.length + 1);
  expect(JSON.stringify(given_up)).not.toContain("a secret");
  expect((await read(channel.path))["last_failed_at"]).not.toBeNull();
  answer = (response) => response.writeHead(200).end();
  expect((await owner.post(`${delivery}/retry`)).status).toBe(202);
  await deliverDueNotifications(deps());
  expect(await read(delivery)).toMatchObject({ status: "delivered" });
  expect(new Set(ids()).size).toBe(1);
  expect(new Set(arrived.map(({ body }) => body)).size).toBe(1);
});

test("several replicas deliver each message once, and one that died has its message delivered by another", async () => {
  const channels = await Promise.all(Array.from({ length: 4 }, () => addWebhook()));
  for (const channel of channels) for (let n = 0; n < 5; n++) await queueTest(channel);
  const stop = new AbortController();
  const replicas = Array.from({ length: 3 }, () => deliverNotifications(deps(), stop.signal));
  await expect.poll(() => arrived.length).toBe(20);
  stop.abort();
  await Promise.all(replicas);
  expect(new Set(ids()).size).toBe(20);

  const [channel] = channels;
  if (channel === undefined) throw new Error("no channel");
  const delivery = await queueTest(channel);
  arrived.length = 0;
  // It sends, and dies before it can write that down.
  answer = () => undefined;
  // The database may be closed by the time it gives up.
  void deliverDueNotifications(deps()).catch(() => undefined);
  await expect.poll(() => arrived.length).toBe(1);
  expect(await deliverDueNotifications(deps())).toBe(0);
  await service.pool.query(
    "update notification_deliveries set next_attempt_at = now(), leased_until = now() where status = 'pending'",
  );
  answer = (response) => response.writeHead(204).end();
  expect(await deliverDueNotifications(deps())).toBe(1);
  expect(new Set(ids()).size).toBe(1);
  expect(await read(delivery)).toMatchObject({ status: "delivered", attempts: 2 });
  receiver.closeAllConnections();
});

test("a queue that cannot be read for a while is logged once, and delivered when it can be read again", async () => {
  const way = await openDatabaseSwitch(service.serviceConnection);
  const access = connectDatabase({ connection: way.connection, log: silentLogger, way: "jobs" });
  const logger = new RecordingLogger();
  const stop = new AbortController();
  const delivery = await queueTest(await addWebhook());
  way.off();
  const running = deliverNotifications(deps({ db: access.database, logger }), stop.signal);
  await expect.poll(() => way.refused(), { timeout: 10_000 }).toBeGreaterThan(2);
  way.on();
  await expect.poll(async () => (await read(delivery))["status"], { timeout: 10_000 }).toBe("delivered");
  stop.abort();
  await running;
  await access.close();
  await way.close();
  expect(logger.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    "warn: the queue of notifications could not be read; trying again",
    "info: the queue of notifications can be read again",
  ]);
});

test("a slow receiver does not delay others", async () => {
  const [slow, quick] = [await addWebhook(), await addWebhook()];
  const waiting: ServerResponse[] = [];
  answer = (response) => void waiting.push(response);
  await queueTest(slow);
  await queueTest(slow);
  const stop = new AbortController();
  const running = deliverNotifications(deps(), stop.signal);
  await expect.poll(() => waiting.length).toBe(1);
  answer = (response) => response.writeHead(204).end();
  const delivery = await queueTest(quick);
  await expect.poll(async () => (await read(delivery))["status"]).toBe("delivered");
  // Its second message waits for the first.
  expect(arrived).toHaveLength(2);
  waiting[0]?.writeHead(204).end();
  await expect.poll(() => arrived.length).toBe(3);
  stop.abort();
  await running;
});

test("a redirect is not followed, and 410 switches the channel off", async () => {
  const channel = await addWebhook();
  const delivery = await queueTest(channel);
  answer = (response) => response.writeHead(307, { location: "https://localhost:1/" }).end();
  await deliverDueNotifications(deps());
  expect(arrived).toHaveLength(1);
  expect(await read(delivery)).toMatchObject({
    status: "pending",
    tried: [{ outcome: "redirect", http_status: 307 }],
  });
  const other = await queueTest(channel);
  answer = (response) => response.writeHead(410).end();
  await makeDue();
  await deliverDueNotifications(deps());
  expect(await read(channel.path)).toMatchObject({ status: "disabled", disabled_reason: "receiver_gone" });
  expect(new Set([(await read(delivery))["status"], (await read(other))["status"]])).toEqual(
    new Set(["failed", "cancelled"]),
  );
});

test("the receiver's address is checked at each delivery; private networks need the setting", async () => {
  const channel = await addWebhook();
  const delivery = await queueTest(channel);
  await deliverDueNotifications(deps({ webhooks: { networks: [], http: false, ca } }));
  expect(arrived).toEqual([]);
  expect(await read(delivery)).toMatchObject({
    tried: [{ outcome: "address_not_allowed", http_status: null }],
  });
  await makeDue();
  await deliverDueNotifications(deps({ webhooks: { networks: ["10.0.0.0/8"], http: false, ca } }));
  expect(arrived).toEqual([]);
});

test("the service reports an untrusted certificate, an unreachable receiver, and one that never ends", async () => {
  const send = (to: string, more = {}, within_ms?: number) =>
    sendWebhook(
      { url: to, id: "ntf_x", timestamp: 1, signature: "v1,x", body: "{}" },
      { ...REACH, ca, ...more },
      within_ms,
    );
  expect(await send(url, { ca: undefined })).toMatchObject({ outcome: "tls" });
  const probe = createPlainServer();
  probe.listen(0, "127.0.0.1");
  await once(probe, "listening");
  const plain = `http://127.0.0.1:${(probe.address() as AddressInfo).port}/`;
  probe.on("request", receive);
  expect(await send(plain)).toMatchObject({ outcome: "address_not_allowed" });
  expect(await send(plain, { http: true })).toMatchObject({ outcome: "delivered" });
  probe.closeAllConnections();
  probe.close();
  await once(probe, "close");
  expect(await send(plain, { http: true })).toMatchObject({
    outcome: "unreachable",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  expect(await send("https://nowhere.invalid/")).toMatchObject({ outcome: "unreachable" });
  answer = (response) => void response.writeHead(200).write("…");
  expect(await send(url, {}, 300)).toMatchObject({ outcome: "timeout" });
  answer = (response) => response.writeHead(101, { connection: "upgrade", upgrade: "h2c" }).end();
  expect(await send(url)).toMatchObject({ outcome: "unreachable" });
  answer = (response) => response.writeHead(200).end(Buffer.alloc(100_000));
  expect(await send(url)).toMatchObject({ outcome: "answer_too_large" });
  receiver.closeAllConnections();
});

test("mail goes to users, for as long as they are, and is tried again where the server does not take it", async () => {
  const reader = await service.signIn(org, "auditor");
  const { json } = await owner.post(`${base}/channels`, { kind: "email", email: reader.email });
  const channel = { path: `${base}/channels/${String(json["id"])}` };
  const delivery = await queueTest(channel);
  smtp.refuseWith = "greylisted: come back";
  await deliverDueNotifications(deps());
  expect(await read(delivery)).toMatchObject({ status: "pending", tried: [{ outcome: "mail_refused" }] });
  expect(JSON.stringify(await read(delivery))).not.toContain("greylisted");
  smtp.refuseWith = null;
  await makeDue();
  await deliverDueNotifications(deps());
  expect(await read(delivery)).toMatchObject({ status: "delivered", attempts: 2 });
  const [mail] = smtp.received;
  expect(mail?.to).toEqual([reader.email]);
  expect(mail?.message).toMatch(/^Message-ID: <ntf_[a-z0-9]+@service.test>\r$/m);
  expect(mail?.message).toContain("https://backups.example.org/notifications");

  const late = await queueTest(channel);
  await owner.delete(`/api/orgs/${org.id}/users/${reader.id}`);
  await deliverDueNotifications(deps());
  expect(smtp.received).toHaveLength(1);
  expect(await read(late)).toMatchObject({ status: "cancelled" });
});

test("a source whose name is an address is no link in the mail that a mail server gets", async () => {
  const data = {
    org: { id: org.id, name: "Example" },
    source: { id: "src_1", name: "https://evil.example/ pay now\r\nBcc: x@evil.example\u202e" },
  };
  const message = { id: "ntf_evil", type: "backup.failed" as const, occurredAt: new Date(), data };
  const mail = mailOf(message, "https://backups.example.org");
  await transport.send({ to: owner.email, ...mail }, message.id);
  const sent = smtp.received.at(-1);
  expect(sent?.to).toEqual([owner.email]);
  const [head = "", ...parts] = (sent?.message ?? "").split("\r\n\r\n");
  const body = parts.join("\r\n\r\n");
  const shown = "https[:]//evil[.]example/ pay now Bcc: x[at]evil[.]example";
  expect(head.replaceAll(/\r\n(?=\s)/g, "")).toContain(`Subject: [Example] backup of ${shown} `);
  expect(head).not.toMatch(/^bcc:/im);
  expect(unfolded(body)).toContain(`A backup of ${shown} `);
  expect(unfolded(body).match(/\S*(?:https?:|evil\.)\S*/g)).toEqual([
    "https://backups.example.org/sources/src_1",
    "https://backups.example.org/notifications",
  ]);
});

/** What quoted-printable (RFC 2045 section 6.7) or format=flowed broke into lines. */
const unfolded = (body: string): string =>
  body
    .replaceAll("=\r\n", "")
    .replaceAll(" \r\n", " ")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
