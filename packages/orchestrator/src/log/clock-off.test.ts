import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { openLogWorld, type LogWorld } from "../../test/log/log-world.ts";
import { submitPlain } from "../../test/log/submit.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { appendInTransaction } from "./append-in-transaction.ts";
import { emitHour } from "./checkpoint-publisher.ts";
import { ClockOff } from "./clock-off.ts";

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
    vi.useRealTimers();
    const { rows } = await world.pool.query(
      "select tree_size, (select count(*)::int from log_emissions where org_id = $1) as emissions from logs where org_id = $1",
      [orgId],
    );
    expect(rows).toEqual([{ tree_size: 1, emissions: 0 }]);
    expect(await submitPlain(replica, agent)).toMatchObject({ logIndex: 1 });
  },
);

test("a clock that is 20 s from the database's is no reason to stop", async () => {
  const agent = await world.addAgent(await world.addOrg());
  setClock(20);
  expect(await submitPlain(world.addReplica(), agent)).toMatchObject({ logIndex: 0 });
});
