import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import {
  envelopeFromJson,
  parseBundle,
  parseEventStatement,
  sha256,
  toHex,
  verifyReceipt,
} from "@attestore/proof";
import { afterEach, beforeEach, expect, it } from "vitest";
import { attachedRoot, type TestRoot } from "../../../test/service/test-root.ts";
import { statementOfBackup } from "../../../test/service/statement-of-backup.ts";
import { failure, TestService } from "../../../test/service/test-service.ts";
import { recoverCommands } from "../../cli/run/recover.ts";
import { takeWorkLock } from "../../cli/invocation/work-lock.ts";
import { listChain } from "../../receipts/chain.ts";
import { listReceipts, readStatement } from "../../receipts/receipt-files.ts";
import { signReceipt, type WaitingReceipt } from "../../receipts/sign-receipt.ts";
import { readKeptCheckpoint } from "../../log/witness.ts";
import { finishCommand, journalCommand, markStarted, openCommands } from "../../journal/command-journal.ts";
import { spoolEvent } from "../../receipts/spooled-event.ts";
import { submitWaiting } from "./submit-waiting.ts";

let service: TestService;
let root: TestRoot;
const signal = new AbortController().signal;

beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service);
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

const submit = () => submitWaiting(root.attachment, { signal, once: true });
const waiting = () => listReceipts(root.layout, "waiting");

const statement = (previous: string | null) => statementOfBackup(root.attachment, previous);
const sign = (commandId: string | null = null) => signReceipt(root.layout, statement, { commandId });

it("a proven answer is kept as a bundle that anybody can verify, with the checkpoint it showed", async () => {
  await sign();
  await sign();
  expect(await submit()).toEqual({ accepted: 2, refused: 0, unproven: 0, waiting: 0, stoppedBy: null });
  const files = await listReceipts(root.layout, "accepted");
  expect(files.map(({ sequence }) => sequence)).toEqual([1, 2]);
  for (const { path } of files) {
    const bundle = parseBundle(readFileSync(path));
    const { key, logKey } = root.attachment;
    expect((await verifyReceipt({ bundle, publicKey: key.publicKey, logKey })).verdict).toBe("true");
  }
  expect(await readKeptCheckpoint(root.layout)).toBe(service.log.checkpoint());
});

it.each([
  ["no connection", "cut"],
  ["503", failure(503, "unavailable", "x")],
  ["500", failure(500, "internal", "x")],
  ["429", failure(429, "rate_limited", "x")],
  ["401", failure(401, "agent_revoked", "x")],
  ["the same key in flight", failure(409, "idempotency_in_progress", "x")],
  ["a proxy's 403", { status: 403, body: "<html>no</html>" }],
  ["a proxy's 200", { status: 200, body: "<html>hello</html>" }],
  ["garbage", { status: 201, body: "{" }],
  ["an answer without its proof", { status: 201, body: "{}" }],
] as const)("keeps waiting, in order, at %s; under the same key", async (_name, trouble) => {
  await sign();
  await sign();
  service.interfere = () => trouble;
  const report = await submit();
  expect(report).toMatchObject({ accepted: 0, refused: 0, waiting: 2 });
  expect(report.stoppedBy).toMatchObject({ name: "ServiceError" });
  // The second was not tried: its place is behind the first.
  expect(service.calls).toHaveLength(1);
  service.interfere = () => undefined;
  expect(await submit()).toMatchObject({ accepted: 2, waiting: 0 });
  expect(service.calls[1]?.idempotencyKey).toBe(service.calls[0]?.idempotencyKey);
  expect(service.calls[1]?.body).toBe(service.calls[0]?.body);
});

it("the agent sets aside receipts that the service will never accept, continues with the rest, and reports it once", async () => {
  await sign();
  await sign();
  service.interfere = ({ route, body }) =>
    route === "POST /v1/receipts" && body === service.calls[0]?.body
      ? failure(422, "backup_unknown", "no such backup")
      : undefined;
  expect(await submit()).toMatchObject({ accepted: 2, refused: 1, waiting: 0, stoppedBy: null });
  const [refused] = await listReceipts(root.layout, "refused");
  expect(refused?.sequence).toBe(1);
  const answer = JSON.parse(
    readFileSync(join(root.layout.receiptsRefused, "00000001-backup.answer.json"), "utf8"),
  ) as { refusal: { error: string } };
  expect(answer.refusal.error).toBe("backup_unknown");
  expect(service.events.map(({ event }) => event)).toMatchObject([
    { kind: "attestation_failed", detail: { reason: "receipt_refused", receipt: 1 } },
  ]);
  // The chain goes on from it: the agent has signed it, whatever the service says.
  await sign();
  // Number 3 is the event that tells of it.
  expect((await waiting())[0]?.sequence).toBe(4);
});

it("the agent sets refused items aside after 30 days, not earlier, and not while the service is unavailable", async () => {
  const file = await sign();
  const age = (days: number): void => {
    const entry = JSON.parse(readFileSync(file.path, "utf8")) as WaitingReceipt;
    const signed_at = new Date(Date.now() - days * 86_400_000).toISOString();
    writeFileSync(file.path, JSON.stringify({ ...entry, signed_at }));
  };
  age(29.9);
  service.interfere = () => failure(500, "internal", "x");
  expect(await submit()).toMatchObject({ refused: 0, waiting: 1 });
  age(30.1);
  for (const away of [
    "cut",
    failure(503, "unavailable", "x"),
    failure(429, "rate_limited", "x"),
    failure(409, "idempotency_in_progress", "x"),
  ] as const) {
    service.interfere = () => away;
    expect(await submit()).toMatchObject({ refused: 0, waiting: 1 });
  }
  service.interfere = ({ route }) =>
    route === "POST /v1/receipts" ? failure(500, "internal", "x") : undefined;
  expect(await submit()).toMatchObject({ refused: 1, waiting: 0 });
  expect(await listReceipts(root.layout, "refused")).toHaveLength(1);
  expect(service.events).toMatchObject([{ event: { detail: { error: "expired" } } }]);
});

it("the agent submits receipts older than 30 days if the service accepts them: the host was off, or its clock is wrong", async () => {
  const file = await sign();
  const entry = JSON.parse(readFileSync(file.path, "utf8")) as WaitingReceipt;
  writeFileSync(file.path, JSON.stringify({ ...entry, signed_at: "2020-01-01T00:00:00.000Z" }));
  expect(await submit()).toMatchObject({ accepted: 1, refused: 0, waiting: 0 });
});

it.each([
  [
    "another log's signature",
    (answer: Answer) => ({ ...answer, checkpoint: answer.checkpoint.replace(/.{8}\n$/, "AAAAAAA=\n") }),
  ],
  [
    "another leaf",
    (answer: Answer) => ({ ...answer, leaf: { ...answer.leaf, body_sha256: "00".repeat(32) } }),
  ],
  ["another place", (answer: Answer) => ({ ...answer, log_index: answer.log_index + 1 })],
  ["another id", (answer: Answer) => ({ ...answer, receipt_id: newId("receipt") })],
  [
    "a proof of nothing",
    (answer: Answer) => ({
      ...answer,
      inclusion_proof: { ...answer.inclusion_proof, hashes: ["00".repeat(32)] },
    }),
  ],
  ["another leaf hash", (answer: Answer) => ({ ...answer, leaf_hash: "11".repeat(32) })],
])("does not believe an answer with %s, and keeps it as evidence", async (_name, forge) => {
  await sign();
  // First the honest answer, which is kept, and then a forged copy of it.
  let honest = "";
  service.interfere = ({ route }) => (route === "POST /v1/receipts" ? "cut-after" : undefined);
  await submit();
  service.interfere = () => undefined;
  honest = await rawAnswer();
  service.interfere = ({ route }) =>
    route === "POST /v1/receipts"
      ? { status: 201, body: JSON.stringify(forge(JSON.parse(honest) as Answer)) }
      : undefined;
  expect(await submit()).toMatchObject({ accepted: 1, unproven: 1, waiting: 1 });
  expect(await listReceipts(root.layout, "accepted")).toEqual([]);
  expect(readdirSync(root.layout.alarms)).toEqual(["receipt-1.json"]);
  expect(service.events).toMatchObject([
    { event: { kind: "attestation_failed", detail: { reason: "answer_unproven" } } },
  ]);

  // The same again is the same event; and the truth, when it comes, is believed.
  await submit();
  expect(service.events).toHaveLength(1);
  service.interfere = () => undefined;
  expect(await submit()).toMatchObject({ accepted: 1, waiting: 0 });
});

interface Answer {
  receipt_id: string;
  log_index: number;
  leaf: { body_sha256: string };
  leaf_hash: string;
  inclusion_proof: { hashes: string[] };
  checkpoint: string;
}

/** The service's own answer to the waiting receipt: a replay, because it had its effect already. */
async function rawAnswer(): Promise<string> {
  const [file] = await waiting();
  const entry = JSON.parse(readFileSync(file?.path ?? "", "utf8")) as WaitingReceipt;
  const answer = await root.attachment.service.submitReceipt(entry.envelope, {
    signal,
    idempotencyKey: entry.idempotency_key,
  });
  return JSON.stringify(answer);
}

it("an answer whose checkpoint forks from the kept one is refused, and nothing is signed from then on", async () => {
  await sign();
  await submit();
  const honest = service.log;
  service.log = honest.fork(0);
  await sign();
  const report = await submit();
  expect(report.accepted).toBe(0);
  expect(report.stoppedBy).toMatchObject({ code: "log_alarm", alarm: { reason: "head_forked" } });
  expect(await waiting()).toHaveLength(1);
  await expect(sign()).rejects.toMatchObject({ code: "log_alarm" });
  // It is told, though its own answer comes from the same forked log.
  expect(service.events).toMatchObject([{ event: { detail: { reason: "head_forked" } } }]);
});

it("the agent submits events, each once whatever is asked for twice", async () => {
  const event = {
    kind: "backup_failed",
    occurred_at: new Date().toISOString(),
    detail: { reason: "dump_failed" },
  } as const;
  await spoolEvent(root.layout, "one", event);
  await spoolEvent(root.layout, "one", event);
  service.interfere = ({ route }) => (route === "POST /v1/events" ? "cut-after" : undefined);
  expect(await submit()).toMatchObject({ accepted: 0, waiting: 1 });
  service.interfere = () => undefined;
  expect(await submit()).toMatchObject({ accepted: 1, waiting: 0 });
  await spoolEvent(root.layout, "one", event);
  expect(await submit()).toMatchObject({ accepted: 0, waiting: 0 });
  expect(service.events).toHaveLength(1);
  expect(existsSync(join(root.layout.events, "00000001-event.one.json"))).toBe(true);

  await spoolEvent(root.layout, "two", event);
  service.interfere = () => failure(422, "statement_invalid", "x");
  expect(await submit()).toMatchObject({ refused: 1, waiting: 0 });
  expect(readdirSync(root.layout.eventsRefused).toSorted()).toEqual([
    "00000002-event.two.answer.json",
    "00000002-event.two.json",
  ]);
});

it("the agent signs events as links of the chain of receipts, and none during the alarm over the log", async () => {
  const event = (reason: string) => ({
    kind: "backup_failed" as const,
    occurred_at: new Date().toISOString(),
    detail: { reason },
  });
  await sign();
  await spoolEvent(root.layout, "between", event("between"));
  await sign();
  await Promise.all(["a", "b", "c"].map((name) => spoolEvent(root.layout, name, event(name))));
  expect(await submit()).toMatchObject({ accepted: 6, waiting: 0 });
  const chain = (await listChain(root.layout)).toReversed();
  expect(chain.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
  let last: string | null = null;
  for (const { envelope } of chain) {
    const { payload } = await envelope();
    const { predicate } = JSON.parse(Buffer.from(payload).toString()) as {
      predicate: { previous_receipt_sha256: string | null };
    };
    expect(predicate.previous_receipt_sha256).toBe(last);
    last = toHex(sha256(payload));
  }
  const [told] = service.events;
  const signed = parseEventStatement(envelopeFromJson(told?.envelope));
  expect(signed).toMatchObject({ ...told?.event, org_id: service.orgId, agent_id: service.agentId });

  writeFileSync(root.layout.logAlarm, JSON.stringify({ v: 1 }));
  await spoolEvent(root.layout, "unsigned", event("unsigned"));
  expect(await listChain(root.layout)).toHaveLength(6);
  expect(readdirSync(root.layout.eventsWaiting)).toEqual(["unsigned.json"]);
});

const failed = (name: string, occurredAt: number): Promise<void> =>
  spoolEvent(root.layout, name, {
    kind: "backup_failed",
    occurred_at: new Date(occurredAt).toISOString(),
    detail: { reason: name },
  });
const submitted = (): string[] =>
  service.calls
    .filter(({ route }) => route.startsWith("POST /v1/"))
    .map(
      ({ route, body }) => (route === "POST /v1/events" ? /"reason":"(\w+)"/.exec(body)?.[1] : route) ?? "",
    );

it("the agent submits in order: a failure is in the log before the receipt that resolves it", async () => {
  const hour = 3_600_000;
  await sign();
  const after = Date.now() + hour;
  await failed("z_earlier", Date.now() - hour);
  await failed("a_later", after + hour);
  const { path } = await sign();
  const entry = JSON.parse(readFileSync(path, "utf8")) as WaitingReceipt;
  writeFileSync(path, JSON.stringify({ ...entry, signed_at: new Date(after).toISOString() }));
  // The clock was set back: its place in the chain stays behind the one before.
  await sign();
  expect(await submit()).toMatchObject({ accepted: 5, waiting: 0, stoppedBy: null });
  const receipt = "POST /v1/receipts";
  expect(submitted()).toEqual(["z_earlier", receipt, receipt, receipt, "a_later"]);
});

it("an entry that makes the service fail does not hold up the others", async () => {
  await failed("poison", Date.now() - 2000);
  await failed("fine", Date.now() - 1000);
  await sign();
  service.interfere = ({ body }) =>
    body.includes("poison") ? failure(500, "internal", "a defect") : undefined;
  expect(await submit()).toMatchObject({ accepted: 2, waiting: 1, stoppedBy: { status: 500 } });
  await sign();
  await failed("next", Date.now() - 1000);
  service.interfere = ({ route }) =>
    route === "POST /v1/receipts" ? failure(500, "internal", "a defect") : undefined;
  expect(await submit()).toMatchObject({ accepted: 2, waiting: 1, stoppedBy: { status: 500 } });
  expect(service.events.map(({ event }) => event.detail["reason"])).toEqual(["fine", "poison", "next"]);
});

it("the agent submits everything before a damaged file of the spool", async () => {
  await failed("fine", Date.now() - 1000);
  await failed("a_damaged", Date.now() - 2000);
  writeFileSync(join(root.layout.eventsWaiting, "00000002-event.a_damaged.json"), "{");
  await sign();
  const { path } = await sign();
  const whole = readFileSync(path, "utf8");
  writeFileSync(path, whole.slice(0, 10));
  await expect(submit()).rejects.toThrow(SyntaxError);
  expect(submitted()).toEqual(["fine", "POST /v1/receipts"]);
  writeFileSync(path, whole);
  await expect(submit()).rejects.toThrow(SyntaxError);
  expect(submitted()).toEqual(["fine", "POST /v1/receipts", "POST /v1/receipts"]);
});

it("the agent tries nothing else while the service is away", async () => {
  await failed("first", Date.now() - 1000);
  await sign();
  service.interfere = () => failure(503, "unavailable", "x");
  expect(await submit()).toMatchObject({ accepted: 0, waiting: 2, stoppedBy: { status: 503 } });
  expect(submitted()).toEqual(["first"]);
});

it("the agent submits receipts that have waited in one call, unless an event comes between them", async () => {
  const hour = 3_600_000;
  const start = Date.now() - 10 * hour;
  for (let number = 0; number < 9; number++) {
    const { path } = await sign();
    const entry = JSON.parse(readFileSync(path, "utf8")) as WaitingReceipt;
    const signed_at = new Date(start + number * hour).toISOString();
    writeFileSync(path, JSON.stringify({ ...entry, signed_at }));
  }
  await failed("between", start + 4.5 * hour);
  expect(await submit()).toEqual({ accepted: 10, refused: 0, unproven: 0, waiting: 0, stoppedBy: null });
  expect(submitted()).toEqual(["POST /v1/receipts", "between", "POST /v1/receipts"]);
  const keys = service.calls.filter(({ route }) => route === "POST /v1/receipts");
  expect(keys.map(({ idempotencyKey }) => idempotencyKey)).toEqual([undefined, undefined]);
  const files = await listReceipts(root.layout, "accepted");
  expect(files).toHaveLength(9);
  const { key, logKey } = root.attachment;
  for (const { path } of files) {
    const bundle = parseBundle(readFileSync(path));
    expect((await verifyReceipt({ bundle, publicKey: key.publicKey, logKey })).verdict).toBe("true");
  }
});

it("acts on each answer of several receipts by itself", async () => {
  for (let number = 0; number < 6; number++) await sign();
  service.interfereWithLine = (index) =>
    [
      undefined,
      failure(422, "backup_unknown", "no such backup"),
      undefined,
      failure(503, "unavailable", "x"),
      undefined,
      { status: 201, body: "{}" },
    ][index];
  // Among what is accepted is the event that one was refused.
  expect(await submit()).toMatchObject({ accepted: 4, refused: 1, stoppedBy: { status: 503 } });
  const numbers = async (state: "waiting" | "accepted" | "refused") =>
    (await listReceipts(root.layout, state)).map(({ sequence }) => sequence);
  expect(await numbers("accepted")).toEqual([1, 3, 5]);
  expect(await numbers("refused")).toEqual([2]);
  expect(await numbers("waiting")).toEqual([4, 6]);
  service.interfereWithLine = () => undefined;
  expect(await submit()).toMatchObject({ waiting: 0, stoppedBy: null });
  expect(await numbers("accepted")).toEqual([1, 3, 4, 5, 6]);
});

it.each([
  ["no answer", "cut"],
  ["503", failure(503, "unavailable", "x")],
  ["a proxy's page", { status: 200, body: "<html>hello</html>" }],
  ["too few answers", { status: 200, body: `{"status":201,"answer":{}}\n` }],
  ["answers without a status", { status: 200, body: "1\n".repeat(5) }],
] as const)("keeps several receipts waiting at %s", async (_name, trouble) => {
  for (let number = 0; number < 5; number++) await sign();
  service.interfere = () => trouble;
  expect(await submit()).toMatchObject({ accepted: 0, refused: 0, waiting: 5 });
  expect(service.calls).toHaveLength(1);
  service.interfere = () => undefined;
  expect(await submit()).toMatchObject({ accepted: 5, waiting: 0 });
});

it("the agent submits receipts one by one to a service that takes no more at once", async () => {
  service.takesLines = false;
  for (let number = 0; number < 5; number++) await sign();
  expect(await submit()).toMatchObject({ accepted: 5, waiting: 0, stoppedBy: null });
  expect(submitted()).toHaveLength(6);
});

it("the agent finishes the command whose receipt was accepted, and takes a command id once", async () => {
  const command = service.command("backup", "orders", "files");
  expect(await journalCommand(root.layout, command)).toBe(true);
  expect(await journalCommand(root.layout, { ...command, attempt: 2 })).toBe(false);
  const [entry] = await openCommands(root.layout);
  if (entry === undefined) throw new Error("the command is not in the journal");
  await markStarted(root.layout, entry);
  await sign(command.id);
  await submit();
  expect(await openCommands(root.layout)).toEqual([]);
  expect(await journalCommand(root.layout, command)).toBe(false);
  await finishCommand(root.layout, command.id, "again");
  const done = readFileSync(join(root.layout.commandsDone, `${command.id}.json`), "utf8");
  expect(JSON.parse(done)).toMatchObject({ state: "done", outcome: expect.stringMatching(/^receipt rcpt_/) });
});

it("a receipt that was submitted or refused since it was listed can still be read", async () => {
  await sign();
  await sign();
  const listed = await waiting();
  service.interfere = ({ route }) =>
    route === "POST /v1/receipts" && service.receipts.length === 1
      ? failure(422, "statement_mismatch", "no")
      : undefined;
  expect(await submit()).toMatchObject({ refused: 1, stoppedBy: null });
  expect(await waiting()).toEqual([]);
  for (const file of listed) expect(await readStatement(file)).not.toBeNull();
});

it("an agent can start while another process submits a command's receipt", async () => {
  const command = service.command("backup", "orders", "files");
  await journalCommand(root.layout, command);
  await sign(command.id);
  // A name that is listed and cannot be read: what is seen of one that goes between the two.
  symlinkSync("gone", join(root.layout.receiptsWaiting, "00000002-backup.json"));
  expect(await recoverCommands(root.attachment)).toBe(0);
  expect(service.events).toEqual([]);
});

it("the process that runs a command and the one that submits its receipt may finish it at the same time", async () => {
  for (let round = 0; round < 20; round++) {
    const command = service.command("backup", "orders", "files");
    await journalCommand(root.layout, command);
    await Promise.all(["ran", "submitted"].map((what) => finishCommand(root.layout, command.id, what)));
    expect(await openCommands(root.layout)).toEqual([]);
    expect(await journalCommand(root.layout, command)).toBe(false);
  }
});

it("taking the work lock does not disturb a command that is being written", async () => {
  const command = service.command("backup", "orders", "files");
  const half = join(root.layout.commands, `.${command.id}.json.0123456789ab.tmp`);
  writeFileSync(half, "{");
  using _ = await takeWorkLock(root.layout, "test", { signal, wait: false, say: () => undefined });
  expect(existsSync(half)).toBe(true);
});
