import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { parseBundle, parseNote, sha256, verifyReceipt } from "@attestore/proof";
import { afterEach, beforeEach, expect, it } from "vitest";
import { attachedRoot, type TestRoot } from "../../test/service/test-root.ts";
import { statementOfBackup } from "../../test/service/statement-of-backup.ts";
import { failure, TestService } from "../../test/service/test-service.ts";
import type { TestLog } from "../../test/service/test-log.ts";
import { sendHeartbeat } from "../backends/attached/heartbeat.ts";
import { submitWaiting } from "../backends/attached/submit-waiting.ts";
import { listReceipts } from "../receipts/receipt-files.ts";
import { signReceipt } from "../receipts/sign-receipt.ts";
import { spoolSignedEvent } from "../receipts/spooled-event.ts";
import { readLogAlarm } from "../state/log-alarm.ts";
import { readFollowed, writeFollowed } from "./followed-generations.ts";
import { observeCheckpoint, readKeptCheckpoint } from "./witness.ts";

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

const observe = (note = service.log.checkpoint()) => observeCheckpoint(root.attachment, note, signal);
const grow = (leaves: number): void => {
  for (let added = 0; added < leaves; added++) service.log.appendHash(sha256(randomBytes(32)));
};
const statement = (previous: string | null) => statementOfBackup(root.attachment, previous);
const submit = () => submitWaiting(root.attachment, { signal, once: true });
const headAt = (log: TestLog, size: number) => ({
  origin: log.verifier.name,
  size,
  rootHash: log.rootAt(size),
});
const kept = async (): Promise<string> => (await readKeptCheckpoint(root.layout)) ?? "";
/** What an alarm says, or null. */
const alarmed = async (note?: string): Promise<string | null> => {
  const result = await observe(note).catch((error: { alarm?: { detail: string } }) => error);
  return typeof result === "string" ? null : (result.alarm?.detail ?? "not an alarm");
};

/** The agent has a head of `size`; the log loses all but `left` entries of it. */
async function hold(size: number): Promise<TestLog> {
  grow(size);
  await observe();
  return service.log;
}

it("an agent whose head is named as lost follows, keeps what it followed, and follows further heads", async () => {
  const before = await hold(9);
  service.log = before.nextGeneration(6, [headAt(before, 9)]);
  const keptBefore = await kept();
  expect(await observe()).toBe("advanced");
  expect((await kept()).startsWith(`${before.verifier.name}/2\n7\n`)).toBe(true);
  const { began, followed } = await readFollowed(root.layout);
  expect([began.length, followed[0]?.kept]).toEqual([1, keptBefore]);
  grow(4);
  expect(await observe()).toBe("advanced");
  expect(await observe(service.log.checkpoint(5))).toBe("older");
  expect(await readLogAlarm(root.layout)).toBeNull();
});

it("an agent whose head is within the remaining entries follows without being named", async () => {
  const before = await hold(5);
  grow(4);
  service.log = before.nextGeneration(6, [headAt(before, 9)]);
  grow(2);
  expect(await observe()).toBe("advanced");
});

it("a new agent follows to the present generation with its first head", async () => {
  grow(5);
  service.log = service.log.nextGeneration(4, [headAt(service.log, 5)]);
  expect(await observe()).toBe("advanced");
  expect((await readFollowed(root.layout)).began).toHaveLength(1);
});

it("a head that was named later, because the agent brought it, ends the alarm by itself", async () => {
  const before = await hold(9);
  service.log = before.nextGeneration(
    6,
    [headAt(before, 8)].filter(() => false),
  );
  expect(await alarmed()).toContain("does not name the head of 9 leaves");
  const { checkpointProblem } = await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
  expect(checkpointProblem).toMatchObject({ code: "log_alarm" });
  // During the alarm the agent says which head it has, and cosigns nothing.
  expect(parseNote(service.heartbeats.at(-1)?.log_head ?? "").text).toBe(parseNote(await kept()).text);
  expect(service.heartbeats.at(-1)?.cosignature).toBeUndefined();
  service.log.nameLost(headAt(before, 9));
  const then = await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
  expect(then.checkpointProblem).toBeNull();
  expect(existsSync(root.layout.logAlarm)).toBe(false);
  expect(readdirSync(root.layout.logAlarmsCleared)).toHaveLength(2);
});

it("an alarm of the time between the loss and the next generation ends with it", async () => {
  const before = await hold(9);
  service.log = before.fork(6);
  expect(await alarmed()).not.toBeNull();
  service.log = service.log.nextGeneration(6, [headAt(before, 9)]);
  expect(await observe()).toBe("advanced");
  expect(await readLogAlarm(root.layout)).toBeNull();
});

interface Attack {
  name: string;
  tell: (before: TestLog) => TestLog;
  why: string;
}
const attacks: Attack[] = [
  {
    name: "another root for its head",
    tell: (before) => before.nextGeneration(6, [{ size: 9, rootHash: before.rootAt(8) }]),
    why: "does not name the head",
  },
  { name: "no loss at all", tell: (before) => before.nextGeneration(6, []), why: "does not name the head" },
  {
    name: "the loss of another head only",
    tell: (before) => before.nextGeneration(6, [headAt(before, 8)]),
    why: "does not name the head",
  },
  {
    name: "a lost head within what is left",
    tell: (before) => before.nextGeneration(9, [headAt(before, 9)]),
    why: "lost heads",
  },
  {
    name: "a third generation without the second",
    tell: (before) => {
      const third = before.nextGeneration(5, [headAt(before, 9)]).nextGeneration(6, []);
      third.began.shift();
      return third;
    },
    why: "generation 3 follows on 1",
  },
  {
    name: "entries within what it holds that are others",
    tell: (before) => {
      const fork = before.fork(3);
      for (let n = 0; n < 9; n += 1) fork.appendHash(sha256(randomBytes(32)));
      return fork.nextGeneration(
        10,
        [headAt(before, 12)].map((head) => ({ ...head, size: 12 })),
      );
    },
    why: "",
  },
  {
    name: "an event that is not in the log",
    tell: (before) => {
      const next = before.nextGeneration(6, [headAt(before, 9)]);
      const [event] = next.began;
      if (event !== undefined) event.event.detail["because"] = "another reason";
      return next;
    },
    why: "not the event that its leaf covers",
  },
];
it.each(attacks)("the alarm stays if a generation names $name", async ({ tell, why }) => {
  const before = await hold(9);
  grow(3);
  const keptBefore = await kept();
  service.log = tell(before);
  const told = await alarmed();
  expect(told).not.toBeNull();
  expect(told).toContain(why);
  expect(await kept()).toBe(keptBefore);
  expect((await readFollowed(root.layout)).began).toEqual([]);
  expect(await alarmed()).not.toBeNull();
});

it("the alarm over a fork stays, even if the next generation names the agent's own head", async () => {
  const before = await hold(9);
  const twin = before.fork(4);
  for (let n = 0; n < 5; n += 1) twin.appendHash(sha256(randomBytes(32)));
  service.log = twin;
  expect(await alarmed()).not.toBeNull();
  service.log = before.nextGeneration(6, [headAt(before, 9)]);
  expect(await alarmed()).not.toBeNull();
  expect(await readLogAlarm(root.layout)).toMatchObject({ offered: twin.checkpoint() });
});

it("the alarm stays if others are shown another beginning of the generation that the agent followed to", async () => {
  const before = await hold(9);
  service.log = before.nextGeneration(6, [headAt(before, 9)]);
  await observe();
  const second = service.log;
  service.log = before.nextGeneration(5, [headAt(before, 9)]).nextGeneration(6, [headAt(second, 7)]);
  expect(await alarmed()).toContain("began with another event");
});

it("a generation that has ended and signs more raises the alarm, even if its tree extends the agent's head", async () => {
  const before = await hold(9);
  service.log = before.nextGeneration(6, [headAt(before, 9)]);
  await observe();
  const goesOn = before.fork(0);
  for (let n = 0; n < service.log.size; n += 1) goesOn.appendHash(service.log.hashAt(n));
  for (let n = 0; n < 5; n += 1) goesOn.appendHash(sha256(randomBytes(32)));
  service.log = goesOn;
  expect(await alarmed()).toContain("ended with 6 entries");
});

it("no answer about the generations raises no alarm, and the next heartbeat follows", async () => {
  const before = await hold(9);
  service.log = before.nextGeneration(6, [headAt(before, 9)]);
  service.interfere = ({ route }) =>
    route.includes("generations") ? failure(503, "unavailable", "x") : undefined;
  await expect(observe()).rejects.toMatchObject({ name: "ServiceError" });
  expect(await readLogAlarm(root.layout)).toBeNull();
  service.interfere = () => undefined;
  expect(await observe()).toBe("advanced");
});

it("killed between any two writes, the agent follows with the next head", async () => {
  const before = await hold(9);
  service.log = before.fork(6);
  await alarmed();
  const [head, alarm] = [root.layout.keptCheckpoint, root.layout.logAlarm].map((path) => readFileSync(path));
  service.log = service.log.nextGeneration(6, [headAt(before, 9)]);
  await observe();
  const [after] = [readFileSync(root.layout.keptCheckpoint)];
  for (const [keptThen, alarmThen] of [
    [head, alarm],
    [after, alarm],
  ] as const) {
    writeFileSync(root.layout.keptCheckpoint, keptThen ?? "");
    writeFileSync(root.layout.logAlarm, alarmThen ?? "");
    grow(1);
    expect(await observe()).toBe("advanced");
    expect(await readLogAlarm(root.layout)).toBeNull();
    expect((await readFollowed(root.layout)).began).toHaveLength(1);
  }
});

it("receipts and signed events whose place was lost are submitted again in order, and proven again", async () => {
  const sign = () => signReceipt(root.layout, statement, { commandId: null });
  await sign();
  await submit();
  const left = service.log.size;
  await sign();
  await spoolSignedEvent(root.layout, "between", {
    kind: "backup_failed",
    occurred_at: new Date().toISOString(),
    detail: {},
  });
  await submit();
  await sign();
  await submit();
  const before = service.log;
  expect(before.size).toBe(4);
  service.forgetReceipts();
  service.log = before.nextGeneration(left, [headAt(before, before.size)]);
  const receipts = service.receipts.length;
  // Until the agent has followed, an answer of the new generation proves nothing.
  await sign();
  expect((await submit()).stoppedBy).toMatchObject({ name: "ServiceError" });
  await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
  service.forgetReceipts();

  expect(await submit()).toMatchObject({ accepted: 4, refused: 0, waiting: 0, stoppedBy: null });
  expect(service.receipts.length).toBeGreaterThanOrEqual(receipts + 3);
  const files = await listReceipts(root.layout, "accepted");
  expect(files.map(({ sequence }) => sequence)).toEqual([1, 2, 4, 5]);
  const places: number[] = [];
  for (const { path } of files) {
    const bundle = parseBundle(readFileSync(path));
    places.push(bundle.inclusion_proof.log_index);
    const { verdict } = await verifyReceipt({
      bundle,
      publicKey: root.attachment.key.publicKey,
      logKey: root.attachment.logKey,
    });
    expect(verdict).toBe("true");
  }
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  // The earlier proofs are kept: they have the log's signature.
  expect(readdirSync(root.layout.lostPlaces)).toHaveLength(3);
  expect(await submit()).toMatchObject({ accepted: 0, waiting: 0 });
});

it("an agent that is killed while it submits again continues, and submits each one once", async () => {
  await signReceipt(root.layout, statement, { commandId: null });
  await signReceipt(root.layout, statement, { commandId: null });
  await submit();
  const before = service.log;
  service.log = before.nextGeneration(0, [headAt(before, before.size)]);
  service.forgetReceipts();
  await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
  const [first] = await listReceipts(root.layout, "accepted");
  const bytes = readFileSync(first?.path ?? "");
  expect(await submit()).toMatchObject({ accepted: 2 });
  // As if it had been killed after the first file went into the spool, and before it was moved.
  const recorded = service.receipts.length;
  rmSync(join(root.layout.lostPlaces), { recursive: true });
  writeFileSync(first?.path ?? "", bytes);
  await writeFollowed(root.layout, { ...(await readFollowed(root.layout)), handed_in_again: 1 });
  (await import("node:fs")).mkdirSync(root.layout.lostPlaces);
  expect(await submit()).toMatchObject({ accepted: 1 });
  expect(service.receipts).toHaveLength(recorded);
});

it("a receipt that the service no longer accepts is set aside with its answer", async () => {
  await signReceipt(root.layout, statement, { commandId: null });
  await submit();
  const before = service.log;
  service.log = before.nextGeneration(0, [headAt(before, 1)]);
  service.forgetReceipts();
  await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
  service.interfere = ({ route }) =>
    route.includes("/v1/receipts") ? failure(422, "backup_unknown", "no such backup") : undefined;
  expect(await submit()).toMatchObject({ refused: 1 });
  expect(await listReceipts(root.layout, "refused")).toHaveLength(1);
});
