import { randomBytes, sign } from "node:crypto";
import { cosignatureLine, cosignatureMessage, noteVerifier, openNote, parseNote } from "@attestore/proof";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Logger } from "../../platform/logging/logger.ts";
import { CheckpointSigner } from "../checkpoints/checkpoint-signer.ts";
import { logOrigin } from "../checkpoints/log-keys.ts";
import {
  LOG_HOST,
  openLogWorld,
  type LogWorld,
  type Replica,
  type TestAgent,
} from "../../../test/log/log-world.ts";
import { principalOf, submitPlain } from "../../../test/log/submit.ts";
import { createWitness } from "./witness.ts";

let world: LogWorld;
let replica: Replica;
beforeAll(async () => {
  world = await openLogWorld();
  replica = world.addReplica();
});
afterAll(() => world.close());

function witness(): {
  accept: ReturnType<typeof createWitness>;
  logged: { level: string; message: string }[];
  fields: object[];
} {
  const logged: { level: string; message: string }[] = [];
  const fields: object[] = [];
  const at = (level: string) => (about: object, message: string) => {
    logged.push({ level, message });
    fields.push(about);
  };
  const logger: Logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { accept: createWitness({ db: world.database, signer: replica.signer, logger }), logged, fields };
}

function cosign(agent: TestAgent, checkpoint: string, signer = agent, later_s = 0): string {
  const now_s = Math.floor(Date.now() / 1000) + later_s;
  const message = cosignatureMessage(now_s, parseNote(checkpoint).text);
  const key = noteVerifier(agent.id, "cosignature/v1", agent.publicKey);
  return cosignatureLine(key, now_s, sign(null, message, signer.privateKey));
}

async function stored(agent: TestAgent): Promise<unknown[]> {
  const { rows } = await world.pool.query(
    "select tree_size, checkpoint, cosignature from agent_witnesses where agent_id = $1",
    [agent.id],
  );
  return rows;
}

async function agentWithHead(): Promise<{ agent: TestAgent; checkpoint: string }> {
  const agent = await world.addAgent(await world.addOrg());
  return { agent, checkpoint: (await submitPlain(replica, agent)).checkpoint };
}

test("the service keeps a head of the log and the agent's cosignature, which anybody can check", async () => {
  const { agent, checkpoint } = await agentWithHead();
  const { accept, logged } = witness();
  const cosignature = cosign(agent, checkpoint);
  await accept(principalOf(agent), { checkpoint, cosignature });
  expect(await stored(agent)).toEqual([{ tree_size: 1, checkpoint, cosignature }]);
  const verifier = noteVerifier(agent.id, "cosignature/v1", agent.publicKey);
  expect((await openNote(checkpoint + cosignature, [verifier])).verified).toHaveLength(1);
  expect(logged).toEqual([]);
});

test("the service keeps the newest head: a smaller one that arrives late changes nothing", async () => {
  const { agent, checkpoint: older } = await agentWithHead();
  const { checkpoint: newer } = await submitPlain(replica, agent);
  const { accept } = witness();
  await accept(principalOf(agent), { checkpoint: newer, cosignature: null });
  await accept(principalOf(agent), { checkpoint: older, cosignature: cosign(agent, older) });
  expect(await stored(agent)).toEqual([{ tree_size: 2, checkpoint: newer, cosignature: null }]);
});

test("a head that an agent has just cosigned is not stored again for some minutes; a larger head, or one under a new key, is stored", async () => {
  const { agent, checkpoint } = await agentWithHead();
  const { accept } = witness();
  const first = cosign(agent, checkpoint);
  await accept(principalOf(agent), { checkpoint, cosignature: first });
  const again = cosign(agent, checkpoint, agent, 60);
  expect(again).not.toBe(first);
  await accept(principalOf(agent), { checkpoint, cosignature: again });
  expect(await stored(agent)).toMatchObject([{ cosignature: first }]);
  await accept({ ...principalOf(agent), keyFingerprint: "SHA256:new" }, { checkpoint, cosignature: again });
  expect(await stored(agent)).toMatchObject([{ cosignature: again }]);
  vi.spyOn(performance, "now").mockReturnValueOnce(performance.now() + 11 * 60_000);
  await accept({ ...principalOf(agent), keyFingerprint: "SHA256:new" }, { checkpoint, cosignature: first });
  expect(await stored(agent)).toMatchObject([{ cosignature: first }]);
  const { checkpoint: larger } = await submitPlain(replica, agent);
  await accept(principalOf(agent), { checkpoint: larger, cosignature: cosign(agent, larger) });
  expect(await stored(agent)).toMatchObject([{ tree_size: 2 }]);
});

test("the service refuses anything but a checkpoint and a signature line", async () => {
  const { agent, checkpoint } = await agentWithHead();
  const { accept } = witness();
  const cosignature = cosign(agent, checkpoint);
  for (const held of [
    { checkpoint: "hello", cosignature: null },
    { checkpoint: checkpoint.replace("\n\n", "\n"), cosignature: null },
    { checkpoint, cosignature: "hello" },
    { checkpoint, cosignature: cosignature.repeat(2) },
    { checkpoint, cosignature: `x\n\n${cosignature}` },
  ])
    await expect(accept(principalOf(agent), held), JSON.stringify(held)).rejects.toMatchObject({
      name: "MalformedWitness",
    });
  expect(await stored(agent)).toEqual([]);
});

test("the service accepts the heartbeat but reports a signature that does not verify", async () => {
  const { agent, checkpoint } = await agentWithHead();
  const { agent: other, checkpoint: othersHead } = await agentWithHead();
  const { accept, logged } = witness();
  await accept(principalOf(agent), { checkpoint, cosignature: cosign(agent, checkpoint, other) });
  expect(await stored(agent)).toEqual([{ tree_size: 1, checkpoint, cosignature: null }]);
  await accept(principalOf(agent), { checkpoint: othersHead, cosignature: null });
  await accept(principalOf(agent), {
    checkpoint: checkpoint.replace("\n1\n", "\n2\n"),
    cosignature: null,
  });
  expect(logged.map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
  expect(await stored(agent)).toMatchObject([{ tree_size: 1 }]);
});

test("a head that our key signed and the log never had is an error, is not kept, and makes the log read-only", async () => {
  const { agent } = await agentWithHead();
  const { accept, logged } = witness();
  const stranger = new CheckpointSigner(LOG_HOST, world.keys);
  const origin = logOrigin(LOG_HOST, agent.orgId);
  for (const size of [1, 500, Number.MAX_SAFE_INTEGER]) {
    const checkpoint = await stranger.sign({ origin, size, rootHash: new Uint8Array(randomBytes(32)) });
    await accept(principalOf(agent), { checkpoint, cosignature: cosign(agent, checkpoint) });
  }
  expect(logged).toEqual(
    Array(3).fill({
      level: "error",
      message: "an agent has a signed head that this log never had: the log is now read-only",
    }),
  );
  expect(await stored(agent)).toEqual([]);
  await expect(submitPlain(world.addReplica(), agent)).rejects.toMatchObject({
    code: "head_regressed",
  });
});

test("a head that the log never had is logged once for each agent and head, and then every hour for as long as an agent has it", async () => {
  const { agent, checkpoint: own } = await agentWithHead();
  const second = await world.addAgent(agent.orgId);
  const { accept, logged, fields } = witness();
  const stranger = new CheckpointSigner(LOG_HOST, world.keys);
  const origin = logOrigin(LOG_HOST, agent.orgId);
  const foreign = (size: number): Promise<string> =>
    stranger.sign({ origin, size, rootHash: new Uint8Array(randomBytes(32)) });
  const [one, other] = [await foreign(500), await foreign(501)];
  const beat = (who: TestAgent, checkpoint: string): Promise<void> =>
    accept(principalOf(who), { checkpoint, cosignature: null });
  for (let beats = 0; beats < 5; beats++) await beat(agent, one);
  expect(logged).toHaveLength(1);
  await beat(second, one);
  await beat(agent, other);
  expect(logged).toHaveLength(3);
  const unsigned = own.replace("\n1\n", "\n2\n");
  for (let beats = 0; beats < 5; beats++) await beat(agent, unsigned);
  for (let beats = 0; beats < 5; beats++)
    await accept(principalOf(agent), { checkpoint: own, cosignature: cosign(agent, own, second) });
  expect(logged.map(({ level }) => level)).toEqual(["error", "error", "error", "warn", "warn"]);

  const hour = performance.now() + 61 * 60_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => hour);
  try {
    for (let beats = 0; beats < 5; beats++) await beat(agent, one);
  } finally {
    clock.mockRestore();
  }
  expect(logged).toHaveLength(6);
  expect(fields.at(-1)).toMatchObject({ agent_id: agent.id, tree_size: 500, repeated: 4 });
});
