import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openLogWorld, type LogWorld } from "../../test/log/log-world.ts";
import { submitPlain } from "../../test/log/submit.ts";
import { writeProof } from "../platform/health/prove-write.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { appendInTransaction } from "./events/append-in-transaction.ts";
import { emitHour } from "./checkpoints/checkpoint-publisher.ts";
import { ClockOff, clockOff } from "./clock-off.ts";

let world: LogWorld;
beforeAll(async () => {
  world = await openLogWorld();
});
afterAll(() => world.close());
afterEach(() => {
  vi.useRealTimers();
});

/** This machine's clock alone: the database has another. */
const setClock = (off_s: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + off_s * 1000 });
};

test.each([31, -31, 86_400 * 365])(
  "a clock that is %d s from the database's appends nothing to the log and signs nothing, until it is set",
  async (off_s) => {
    const agent = await world.addAgent(await world.addOrg());
    const replica = world.addReplica();
    const { orgId } = agent;
    await submitPlain(replica, agent);
    setClock(off_s);
    await expect(submitPlain(replica, agent)).rejects.toMatchObject({ reason: "clock_off" });
    const occurredAt = new Date();
    const event = { orgId, kind: "agent_silent", actorId: "service", occurredAt, detail: {} };
    const appending = world.database.transaction().execute((tx) => appendInTransaction(tx, [event]));
    await expect(appending).rejects.toThrow(ClockOff);
    const publisher = { pool: world.pool, signer: replica.signer, logger: silentLogger };
    const signal = new AbortController().signal;
    await expect(emitHour({ ...publisher, signal }, new Date("2026-11-21T08:00:00Z"))).rejects.toThrow(
      ClockOff,
    );
    const clockTrouble = (now: Date, asked_ms: number) => clockOff(now, asked_ms)?.message ?? null;
    const readiness = writeProof(world.pool, clockTrouble);
    expect(await readiness()).toMatch(/ s apart, so nothing is appended to the log\. Set the clocks by NTP/);
    vi.useRealTimers();
    expect(await readiness()).toBeNull();
    const { rows } = await world.pool.query(
      "select tree_size, (select count(*)::int from log_emissions where org_id = $1) as emissions from logs where org_id = $1",
      [orgId],
    );
    expect(rows).toEqual([{ tree_size: 1, emissions: 0 }]);
    expect(await submitPlain(replica, agent)).toMatchObject({ logIndex: 1 });
  },
);

describe("entries that are dated later than now", () => {
  const silent = (orgId: string) => ({
    orgId,
    kind: "agent_silent",
    actorId: "service",
    occurredAt: new Date(),
    detail: {},
  });
  const appendTo = (orgId: string) =>
    world.database.transaction().execute((tx) => appendInTransaction(tx, [silent(orgId)]));
  /** As if the clock had been a year ahead since the log had `size` entries. */
  const dateLater = async (orgId: string, size: number): Promise<void> => {
    await world.pool.query(
      "update log_heads set recorded_at = recorded_at + interval '1 year' where org_id = $1 and tree_size > $2",
      [orgId, size],
    );
    await world.pool.query("update logs set newest_at = newest_at + interval '1 year' where org_id = $1", [
      orgId,
    ]);
  };
  const events = async (orgId: string) =>
    (
      await world.pool.query<{ log_index: number; kind: string; body: Buffer }>(
        "select log_index::int, kind, body from events where org_id = $1 order by log_index",
        [orgId],
      )
    ).rows;

  test("are named by an event of their own before the next entry, once", async () => {
    const agent = await world.addAgent(await world.addOrg());
    const { orgId } = agent;
    await submitPlain(world.addReplica(), agent);
    await appendTo(orgId);
    await appendTo(orgId);
    await dateLater(orgId, 1);
    expect(await submitPlain(world.addReplica(), agent)).toMatchObject({ logIndex: 4, treeSize: 5 });
    await appendTo(orgId);
    const found = await events(orgId);
    expect(found.map(({ log_index, kind }) => [log_index, kind])).toEqual([
      [1, "agent_silent"],
      [2, "agent_silent"],
      [3, "clock_went_back"],
      [5, "agent_silent"],
    ]);
    expect(JSON.parse(String(found[2]?.body))).toMatchObject({ detail: { first_index: 1, last_index: 2 } });
    // Whatever appends names it: here a service event does.
    await dateLater(orgId, 5);
    await appendTo(orgId);
    expect((await events(orgId)).map(({ kind }) => kind).slice(-2)).toEqual([
      "clock_went_back",
      "agent_silent",
    ]);
  });

  test("are not named if an agent's are among them: the clock of now may be the wrong one", async () => {
    const agent = await world.addAgent(await world.addOrg());
    await appendTo(agent.orgId);
    await submitPlain(world.addReplica(), agent);
    await dateLater(agent.orgId, 0);
    await appendTo(agent.orgId);
    expect((await events(agent.orgId)).map(({ kind }) => kind)).toEqual(["agent_silent", "agent_silent"]);
  });
});

test("a clock that is 20 s from the database's is no reason to stop", async () => {
  const agent = await world.addAgent(await world.addOrg());
  setClock(20);
  expect(await submitPlain(world.addReplica(), agent)).toMatchObject({ logIndex: 0 });
});
