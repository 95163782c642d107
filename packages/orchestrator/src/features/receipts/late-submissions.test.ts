import { type ConfigureSourceRequest, newId } from "@attestore/contract";
import { beforeEach, describe, expect, test } from "vitest";
import type { TestAgent } from "../../../test/log/log-world.ts";
import {
  agent,
  backup,
  submit,
  tester,
  times,
  useReceiptsWorld,
  world,
} from "../../../test/log/receipts-world.ts";
import { restoreTestStatement } from "../../../test/log/signed-receipt.ts";
import { queueCommand } from "../command-queue/queue-command.ts";
import { commandRecord } from "../commands/serialize.ts";
import { findCommand, setAcked, takeForDelivery } from "../commands/store.ts";
import { configureSource } from "../source-settings/configure-source.ts";
import { findSource } from "../sources/store.ts";
import { SUBMISSION_WINDOW_MS } from "./submission-window.ts";

useReceiptsWorld();

describe("a source that was given to other agents", () => {
  let next: TestAgent;
  beforeEach(async () => {
    next = await world.addAgent(agent.orgId);
    await age("1 hour");
  });

  /** Moves what the records say of the backup into the past. */
  const age = (by: string) =>
    world.pool.query("update backups set created_at = created_at - $2::interval where id = $1", [
      backup.id,
      by,
    ]);

  const give = (request: ConfigureSourceRequest) =>
    world.database
      .transaction()
      .execute((tx) =>
        configureSource(
          tx,
          { orgId: agent.orgId, sourceId: backup.sourceId, actorId: "console" },
          request,
          new Date(),
        ),
      );

  const ask = async () => {
    const source = await findSource(world.database, agent.orgId, backup.sourceId);
    if (source === null) throw new Error("no source");
    return world.database
      .transaction()
      .execute((tx) =>
        queueCommand(tx, { source, kind: "restore_test", backupId: backup.id, issuedBy: "console" }),
      );
  };

  const deliver = () =>
    world.database
      .transaction()
      .execute((tx) => takeForDelivery(tx, tester.id, new Date(), new Date(Date.now() - 180_000)));

  const outcomeOf = async (commandId: string): Promise<unknown> =>
    (await world.pool.query("select outcome from commands where id = $1", [commandId])).rows[0];

  const runUntil = (finished_at: Date) =>
    restoreTestStatement(tester, backup, {
      started_at: new Date(finished_at.getTime() - 60_000).toISOString(),
      finished_at: finished_at.toISOString(),
    });
  const minutes = (n: number) => new Date(Date.now() + n * 60_000);
  const refused = { code: "statement_mismatch", details: { field: "agent_id" } };

  test("takes the late receipts of both that had it, for the time when they had it", async () => {
    const [before, beforeToo] = [minutes(-20), minutes(-10)];
    await give({ agent_id: next.id, test_agent_id: null });
    await submit(tester, runUntil(before));
    await submit(agent, restoreTestStatement(agent, backup, { finished_at: beforeToo.toISOString() }));
    expect(await times()).toMatchObject({ proven_at: beforeToo, last_proven_at: beforeToo });
    await expect(submit(tester, runUntil(minutes(1)))).rejects.toMatchObject(refused);
    expect((await times()).last_proven_at).toEqual(beforeToo);
  });

  test("accepts tests that ended before the last of several changes took the source away, and none of an agent that never had it", async () => {
    await give({ test_agent_id: next.id });
    await give({ test_agent_id: tester.id, agent_id: next.id });
    const between = new Date();
    await give({ test_agent_id: next.id, name: "other" });
    await give({ name: "another" });
    await submit(tester, runUntil(between));
    const third = await world.addAgent(agent.orgId);
    const forged = restoreTestStatement(third, backup, { finished_at: minutes(-10).toISOString() });
    await expect(submit(third, forged)).rejects.toMatchObject(refused);
  });

  test("refuses a test of a backup that came only after the source was given away", async () => {
    await give({ test_agent_id: null });
    await age("-2 hours");
    await expect(submit(tester, runUntil(minutes(-10)))).rejects.toMatchObject(refused);
  });

  test("refuses what comes later than a spool submits it", async () => {
    await give({ test_agent_id: null });
    const earlier = new Date(Date.now() - SUBMISSION_WINDOW_MS - 60_000);
    await world.pool.query("update events set id = $2, created_at = $3 where source_id = $1", [
      backup.sourceId,
      newId("event", earlier.getTime()),
      earlier,
    ]);
    await age("40 days");
    await expect(submit(tester, runUntil(new Date(earlier.getTime() - 60_000)))).rejects.toMatchObject(
      refused,
    );
  });

  test.each(["delivered", "acked"])(
    "takes a test that was asked for and %s, also if it ended afterwards, once",
    async (status) => {
      const { commandId } = await ask();
      expect(await deliver()).toMatchObject([{ id: commandId }]);
      if (status === "acked")
        await world.database.transaction().execute((tx) => setAcked(tx, tester.id, [commandId], new Date()));
      await give({ test_agent_id: null });
      const both = await Promise.allSettled([1, 2].map((n) => submit(tester, runUntil(minutes(n)))));
      const ids = both.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
      expect(ids).toHaveLength(1);
      expect(await outcomeOf(commandId)).toEqual({ outcome: { receipt_id: ids[0] } });
      expect((await times()).last_proven_at?.getTime()).toBeLessThanOrEqual(Date.now());
      await expect(submit(tester, runUntil(minutes(3)))).rejects.toMatchObject(refused);
    },
  );

  test("does not take a test from before a command for what came of it: that is still to come", async () => {
    const { commandId } = await ask();
    await deliver();
    await world.database.transaction().execute((tx) => setAcked(tx, tester.id, [commandId], new Date()));
    await give({ test_agent_id: null });
    await submit(tester, runUntil(minutes(-10)));
    expect(await outcomeOf(commandId)).toEqual({ outcome: {} });
    const { id } = await submit(tester, runUntil(minutes(1)));
    expect(await outcomeOf(commandId)).toEqual({ outcome: { receipt_id: id } });
    // People read there what the receipt says.
    const command = await findCommand(world.database, agent.orgId, commandId);
    expect(command && commandRecord(command).outcome).toEqual({ receipt_id: id, result: "passed" });
  });

  test("takes nothing for a command that went to the next agent, or that is about another backup", async () => {
    const { commandId } = await ask();
    await give({ test_agent_id: next.id });
    await expect(submit(tester, runUntil(minutes(1)))).rejects.toMatchObject(refused);
    expect(await outcomeOf(commandId)).toEqual({ outcome: {} });
    await give({ test_agent_id: tester.id });
    await world.pool.query("update commands set params = $2 where id = $1", [
      commandId,
      { backup_id: newId("backup") },
    ]);
    await deliver();
    await give({ test_agent_id: next.id });
    await expect(submit(tester, runUntil(minutes(1)))).rejects.toMatchObject(refused);
  });
});
