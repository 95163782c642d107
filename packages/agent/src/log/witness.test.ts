import { existsSync, readdirSync, readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { formatNote, noteVerifier, openCheckpoint, parseNote } from "@attestore/proof";
import { afterEach, beforeEach, expect, it } from "vitest";
import { attachedRoot, type TestRoot } from "../../test/service/test-root.ts";
import { failure, TestService } from "../../test/service/test-service.ts";
import { TestLog } from "../../test/service/test-log.ts";
import { sendHeartbeat } from "../backends/attached/heartbeat.ts";
import { clearLogAlarm, readLogAlarm } from "../state/log-alarm.ts";
import { cosignKeptCheckpoint, observeCheckpoint, readKeptCheckpoint } from "./witness.ts";

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

const observe = (note: string) => observeCheckpoint(root.attachment, note, signal);
const grow = (leaves: number): void => {
  for (let added = 0; added < leaves; added++) service.log.appendHash(randomBytes(32));
};
const kept = () => readKeptCheckpoint(root.layout);

it("the agent keeps the first checkpoint, follows newer ones, and never goes back to an older one", async () => {
  expect(await observe(service.log.checkpoint())).toBe("first");
  grow(5);
  const five = service.log.checkpoint();
  expect(await observe(five)).toBe("advanced");
  expect(await observe(five)).toBe("same");
  grow(7);
  const twelve = service.log.checkpoint();
  expect(await observe(twelve)).toBe("advanced");
  expect(await observe(five)).toBe("older");
  expect(await observe(service.log.checkpoint(0))).toBe("older");
  expect(await kept()).toBe(twelve);
  expect(await readLogAlarm(root.layout)).toBeNull();
});

it("cosigns the kept head so that anybody with its public key can check", async () => {
  expect(await cosignKeptCheckpoint(root.attachment)).toBeNull();
  grow(3);
  await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
  await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
  const [first, second] = service.heartbeats;
  expect(first?.cosignature).toBeUndefined();
  const { text, signatures } = parseNote(second?.log_head ?? "");
  expect(signatures).toHaveLength(1);
  const agent = noteVerifier(service.agentId, "cosignature/v1", root.attachment.key.publicKey.bytes);
  const note = formatNote(text, [(second?.log_head ?? "").slice(text.length + 1), second?.cosignature ?? ""]);
  const opened = await openCheckpoint(note, service.log.verifier, [agent]);
  expect(opened.size).toBe(3n);
  expect(opened.cosignatures[0]?.timestamp_s).toBeCloseTo(Date.now() / 1000, -1);
});

interface Lie {
  name: string;
  reason: string;
  tell: () => string;
}
const lies: Lie[] = [
  {
    name: "another root of the same size",
    reason: "head_forked",
    tell: () => {
      service.log = service.log.fork(4);
      grow(4);
      return service.log.checkpoint();
    },
  },
  {
    name: "a longer tree that does not begin with ours",
    reason: "head_inconsistent",
    tell: () => {
      service.log = service.log.fork(4);
      grow(9);
      return service.log.checkpoint();
    },
  },
  {
    name: "a shorter tree, and no memory of the longer one",
    reason: "head_rolled_back",
    tell: () => {
      service.log = service.log.fork(5);
      return service.log.checkpoint();
    },
  },
  {
    name: "an empty tree",
    reason: "head_rolled_back",
    tell: () => {
      service.log = service.log.fork(0);
      return service.log.checkpoint();
    },
  },
  {
    name: "a shorter tree beside the longer one",
    reason: "head_forked",
    tell: () => {
      const twin = service.log.fork(3);
      twin.appendHash(randomBytes(32));
      return twin.checkpoint();
    },
  },
  {
    name: "a refusal to prove",
    reason: "head_inconsistent",
    tell: () => {
      grow(2);
      service.interfere = () => failure(404, "not_found", "no proof for you");
      return service.log.checkpoint();
    },
  },
  {
    name: "a head by another key of the same name",
    reason: "head_unsigned",
    tell: () => {
      const other = new TestLog(service.log.verifier.name);
      for (let added = 0; added < 20; added++) other.appendHash(randomBytes(32));
      return other.checkpoint();
    },
  },
  { name: "garbage", reason: "head_unsigned", tell: () => "garbage" },
];

it.each(lies)(
  "the agent stops signing at $name, and says so until a person has looked",
  async ({ reason, tell }) => {
    grow(8);
    const honest = service.log;
    await observe(honest.checkpoint());
    const keptBefore = await kept();
    const lie = tell();
    await expect(observe(lie)).rejects.toMatchObject({ code: "log_alarm", alarm: { reason, offered: lie } });
    expect(await kept()).toBe(keptBefore);
    expect(await cosignKeptCheckpoint(root.attachment)).toBeNull();

    // Back to honesty: the alarm stands.
    service.log = honest;
    service.interfere = () => undefined;
    const { checkpointProblem } = await sendHeartbeat(root.attachment, root.config, { signal, acks: [] });
    expect(checkpointProblem).toMatchObject({ code: "log_alarm" });
    const [event = ""] = readdirSync(root.layout.eventsWaiting);
    expect(JSON.parse(readFileSync(join(root.layout.eventsWaiting, event), "utf8"))).toMatchObject({
      event: { kind: "attestation_failed", detail: { reason } },
    });

    await clearLogAlarm(root.layout, { forgetHead: false, because: "a test" });
    expect(existsSync(root.layout.logAlarm)).toBe(false);
    expect(readdirSync(root.layout.logAlarmsCleared)).toHaveLength(2);
    grow(1);
    expect(await observe(service.log.checkpoint())).toBe("advanced");
  },
);

it("a network failure raises no alarm", async () => {
  grow(3);
  await observe(service.log.checkpoint());
  const before = await kept();
  grow(3);
  for (const trouble of [
    "cut",
    failure(503, "unavailable", "x"),
    failure(401, "unauthenticated", "x"),
  ] as const) {
    service.interfere = () => trouble;
    await expect(observe(service.log.checkpoint())).rejects.toMatchObject({ name: "ServiceError" });
    expect(await kept()).toBe(before);
  }
  expect(await readLogAlarm(root.layout)).toBeNull();
});

it("the kept head is forgotten only when a person says so", async () => {
  grow(3);
  await observe(service.log.checkpoint());
  service.log = service.log.fork(1);
  grow(4);
  await expect(observe(service.log.checkpoint())).rejects.toMatchObject({ code: "log_alarm" });
  await clearLogAlarm(root.layout, { forgetHead: true, because: "restored the service from a backup" });
  expect(await observe(service.log.checkpoint())).toBe("first");
});
