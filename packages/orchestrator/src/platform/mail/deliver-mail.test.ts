import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { RecordingLogger } from "../../../test/recording-logger.ts";
import { startSmtpServer, type TestSmtpServer } from "../../../test/smtp.ts";
import type { SmtpServer } from "../config/setting-types.ts";
import { openDatabaseSwitch } from "../../../test/database-switch.ts";
import { connectDatabase } from "../database/database.ts";
import { silentLogger } from "../logging/logger.ts";
import { openTestDatabase } from "../../../test/database/test-database.ts";
import { createSealer } from "../http/sealer.ts";
import { loadServerTls } from "../tls/server-tls.ts";
import { consoleTransport } from "./console-transport.ts";
import { deliverDue, deliverMail } from "./deliver-mail.ts";
import type { Mail, MailTransport } from "./mail.ts";
import { queueMail } from "./outbox.ts";
import { smtpTransport } from "./smtp-transport.ts";

const FROM = "Attestore <attestore@service.test>";
const sealer = createSealer(randomBytes(32));

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let smtp: TestSmtpServer;
let logger: RecordingLogger;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  smtp = await startSmtpServer();
  logger = new RecordingLogger();
  await database.pool.query("delete from mail_outbox");
});
afterEach(() => smtp.close());

const plain = (port: number, more: Partial<SmtpServer> = {}): SmtpServer => ({
  host: "127.0.0.1",
  port,
  implicitTls: false,
  auth: null,
  ...more,
});

const queue = (mail: Partial<Omit<Mail, "to">> & { to?: string | null } = {}, lives_s = 900): Promise<void> =>
  database.database
    .transaction()
    .execute((tx) =>
      queueMail(
        tx,
        sealer,
        { to: "a@example.org", subject: "Zoë's code", text: "Hello\n\n.\nline of ünïcode\n", ...mail },
        new Date(Date.now() + lives_s * 1000),
      ),
    );

const deliver = (transport: MailTransport): Promise<number> =>
  deliverDue({ db: database.byClock, sealer, transport, logger });

async function waiting(): Promise<{ attempts: number; pause_s: number }[]> {
  const { rows } = await database.pool.query<{ attempts: number; pause_s: number }>(
    "select attempts, round(extract(epoch from next_attempt_at - now()))::int as pause_s from mail_outbox",
  );
  return rows;
}

const makeDue = () => database.pool.query("update mail_outbox set next_attempt_at = now()");

test("a mail is handed to the server with all that belongs to it, and forgotten", async () => {
  const transport = smtpTransport(plain(smtp.port), FROM);
  const attachment = {
    filename: "receipt.json",
    contentType: "application/json",
    content: Buffer.from('{"a":1}'),
  };
  await queue({ attachments: [attachment] });
  expect(await deliver(transport)).toBe(1);
  transport.close();
  expect(smtp.received).toMatchObject([{ from: "attestore@service.test", to: ["a@example.org"] }]);
  const message = smtp.received[0]?.message ?? "";
  expect(message).toMatch(/^From: Attestore <attestore@service.test>\r$/m);
  expect(message).toMatch(/^To: a@example.org\r$/m);
  expect(message).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(message).toMatch(/^Message-ID: <mail-\d+@service.test>\r$/m);
  expect(message).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(message).toContain("line of =C3=BCn=C3=AFcode");
  expect(message).toContain(Buffer.from('{"a":1}').toString("base64"));
  expect(await waiting()).toEqual([]);
});

test("a mail without a recipient or past its time is not sent", async () => {
  const transport = smtpTransport(plain(smtp.port), FROM);
  await queue({ to: null });
  await queue({}, -1);
  logger.expected.add("a mail could not be sent, and is dropped after its last attempt");
  expect(await deliver(transport)).toBe(2);
  transport.close();
  expect(smtp.received).toEqual([]);
  expect(await waiting()).toEqual([]);
  expect(logger.has("a mail could not be sent, and is dropped after its last attempt")).toBe(true);
});

test("a refused mail is retried with growing delays, and arrives once the server accepts it", async () => {
  const transport = smtpTransport(plain(smtp.port), FROM);
  smtp.refuseWith = "greylisted";
  await queue();
  for (const pause_s of [5, 10, 20, 40]) {
    expect(await deliver(transport)).toBe(1);
    expect((await waiting())[0]?.pause_s).toBe(pause_s);
    expect(await deliver(transport)).toBe(0);
    await makeDue();
  }
  smtp.refuseWith = null;
  expect(await deliver(transport)).toBe(1);
  transport.close();
  expect(smtp.received).toHaveLength(1);
  expect(await waiting()).toEqual([]);
  const line = logger.lines.find(({ message }) => message === "a mail could not be sent; trying again");
  expect(JSON.stringify(line)).toContain("greylisted");
  expect(JSON.stringify(line)).not.toContain("ünïcode");
});

test("a mail survives an unreachable server", async () => {
  const { port } = smtp;
  await smtp.close();
  const transport = smtpTransport(plain(port), FROM);
  await queue();
  await deliver(transport);
  transport.close();
  expect(await waiting()).toMatchObject([{ attempts: 1, pause_s: 5 }]);
  smtp = await startSmtpServer();
});

test("a queue that cannot be read for a while is logged once, and sent when it can be read again", async () => {
  const way = await openDatabaseSwitch(database.service);
  const access = connectDatabase({ connection: way.connection, log: silentLogger, way: "jobs" });
  const stop = new AbortController();
  const transport = smtpTransport(plain(smtp.port), FROM);
  way.off();
  const delivering = deliverMail({ db: access.database, sealer, transport, logger }, stop.signal);
  await queue();
  await expect.poll(() => way.refused(), { timeout: 10_000 }).toBeGreaterThan(2);
  way.on();
  await expect.poll(waiting, { timeout: 10_000 }).toEqual([]);
  stop.abort();
  await delivering;
  transport.close();
  await access.close();
  await way.close();
  expect(logger.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    "warn: the queue of mails could not be read; trying again",
    "info: the queue of mails can be read again",
  ]);
});

test("several replicas at once send each mail once", async () => {
  const stop = new AbortController();
  for (let n = 0; n < 60; n++) await queue({ subject: `number ${n}` });
  const transports = Array.from({ length: 3 }, () => smtpTransport(plain(smtp.port), FROM));
  const replicas = transports.map((transport) =>
    deliverMail({ db: database.byClock, sealer, transport, logger }, stop.signal),
  );
  await expect.poll(waiting).toEqual([]);
  stop.abort();
  await Promise.all(replicas);
  for (const transport of transports) transport.close();
  const subjects = smtp.received.map(({ message }) => /^Subject: (.*)\r$/m.exec(message)?.[1]);
  expect(new Set(subjects).size).toBe(60);
  expect(subjects).toHaveLength(60);
});

test("a mail whose sender died is sent again under the same Message-ID", async () => {
  const transport = smtpTransport(plain(smtp.port), FROM);
  await queue();
  let sent = false;
  // It handed the mail over, and died before it could forget it.
  const dying: MailTransport = {
    send: async (mail, id) => {
      await transport.send(mail, id);
      sent = true;
      return new Promise(() => undefined);
    },
    close: () => undefined,
  };
  // It gives up after 40 seconds, when the database may be closed.
  void deliver(dying).catch(() => undefined);
  await expect.poll(() => sent).toBe(true);
  expect(await deliver(transport)).toBe(0);
  expect((await waiting())[0]?.pause_s).toBeGreaterThan(50);
  await makeDue();
  expect(await deliver(transport)).toBe(1);
  transport.close();
  const ids = smtp.received.map(({ message }) => /^Message-ID: (.*)\r$/m.exec(message)?.[1]);
  expect(ids).toHaveLength(2);
  expect(ids[0]).toBe(ids[1]);
});

test("a mail is queued if, and only if, its transaction commits", async () => {
  await database.database
    .transaction()
    .execute(async (tx) => {
      await queueMail(
        tx,
        sealer,
        { to: "a@example.org", subject: "x", text: "x" },
        new Date(Date.now() + 1e6),
      );
      throw new Error("undone");
    })
    .catch(() => undefined);
  expect(await waiting()).toEqual([]);
});

test("a password goes over TLS or not at all", async () => {
  const auth = { user: "service", password: "pass word/1" };
  const transport = smtpTransport(plain(smtp.port, { auth }), FROM);
  await expect(transport.send({ to: "a@example.org", subject: "x", text: "x" }, "1")).rejects.toThrow(/TLS/);
  transport.close();
  expect(smtp.received).toEqual([]);
});

test("an untrusted certificate gets no password; without a password it is still used for TLS", async () => {
  const directory = await mkdtemp(join(tmpdir(), "smtp-"));
  const { options } = await loadServerTls({ directory, hostnames: ["localhost"] }, logger);
  const secure = await startSmtpServer({ ...options, disabledCommands: [] });
  const auth = { user: "service", password: "pass word/1" };
  const mail = { to: "a@example.org", subject: "x", text: "x" };
  const refused = smtpTransport(plain(secure.port, { auth }), FROM);
  await expect(refused.send(mail, "1")).rejects.toThrow(/certificate/);
  refused.close();
  const opportunistic = smtpTransport(plain(secure.port), FROM);
  await opportunistic.send(mail, "2");
  opportunistic.close();
  expect(secure.received).toMatchObject([{ secure: true }]);
  await secure.close();
  await rm(directory, { recursive: true });
});

test("no address can become two, and no subject a header", async () => {
  const transport = smtpTransport(plain(smtp.port), FROM);
  await transport.send({ to: "a@example.org", subject: "x\r\nBcc: b@example.org", text: "x" }, "1");
  transport.close();
  expect(smtp.received[0]?.to).toEqual(["a@example.org"]);
  expect(smtp.received[0]?.message).not.toMatch(/^Bcc:/m);
});

test("without a mail server a mail is shown, and kept for the service's user alone", async () => {
  const directory = join(await mkdtemp(join(tmpdir(), "mail-")), "mail");
  const shown: string[] = [];
  const transport = consoleTransport({ directory, from: FROM }, (text) => shown.push(text));
  await queue({ text: "Your code:\n\n    ABCD-EFGH\n" });
  expect(await deliver(transport)).toBe(1);
  transport.close();
  const [name = ""] = await readdir(directory);
  const file = join(directory, name);
  expect(name).toMatch(/^mail-\d+\.eml$/);
  expect([(await stat(file)).mode & 0o777, (await stat(directory)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await readFile(file, "utf8")).toContain("ABCD-EFGH");
  expect(shown).toEqual([
    `--- mail to a@example.org: Zoë's code (${file})\n  Your code:\n\n      ABCD-EFGH\n---\n`,
  ]);
  expect(JSON.stringify(logger.lines)).not.toContain("ABCD-EFGH");
  await rm(join(directory, ".."), { recursive: true });
});

test("a mail's content cannot be read from the database", async () => {
  await queue({ text: "ABCD-EFGH" });
  const { rows } = await database.pool.query<{ sealed: Buffer }>("select sealed from mail_outbox");
  for (const { sealed } of rows)
    for (const part of ["ABCD-EFGH", "a@example.org", "'s code"]) expect(sealed.includes(part)).toBe(false);
  // Another key opens nothing, and keeps no other mail from being sent.
  const transport = smtpTransport(plain(smtp.port), FROM);
  const deps = { db: database.byClock, transport, logger };
  expect(await deliverDue({ ...deps, sealer: createSealer(randomBytes(32)) })).toBe(1);
  transport.close();
  expect(smtp.received).toEqual([]);
  expect(await waiting()).toMatchObject([{ attempts: 1, pause_s: 5 }]);
});
