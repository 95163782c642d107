import { describe, expect, test } from "vitest";
import {
  after,
  agent,
  at,
  backup,
  beat,
  commands,
  deps,
  events,
  HOUR_MS,
  now,
  org,
  owner,
  runs,
  scheduled,
  service,
  signal,
  tick,
  useScheduledOrg,
} from "../../../test/scheduled-org.ts";
import { runOnce } from "../../platform/jobs/run-jobs.ts";
import { scheduleJobs } from "./jobs.ts";
import { noticeMissed } from "./notice-missed.ts";
import { queueDue } from "./queue-due.ts";

useScheduledOrg();

describe("a due run", () => {
  test("is queued once by five replicas, and the next time is named", async () => {
    const id = await scheduled({
      backup_cron: "30 2 * * *",
      restore_test_cron: "0 4 * * 0",
      timezone: "Europe/Berlin",
    });
    await tick();
    expect(await commands(id)).toEqual([]);
    at("2026-03-01T01:30:00Z");
    await Promise.all(Array.from({ length: 5 }, () => queueDue(deps(), { now, signal })));
    expect(await commands(id)).toMatchObject([
      {
        kind: "backup",
        status: "queued",
        issued_by: "schedule",
        agent_id: agent.id,
        created_at: now.toISOString(),
      },
    ]);
    const source = await owner.get(`/api/orgs/${org.id}/sources/${id}`);
    expect(source.json).toMatchObject({
      next_backup_at: "2026-03-02T01:30:00.000Z",
      next_restore_test_at: "2026-03-01T03:00:00.000Z",
    });
    expect(await beat()).toMatchObject([{ kind: "backup" }]);
  });

  test("is queued although a source that is due earlier has a time zone that this version does not know", async () => {
    const broken = await scheduled({ backup_cron: "0 1 * * *", restore_test_cron: "0 1 * * *" });
    const sound = await scheduled({ backup_cron: "0 2 * * *", restore_test_cron: "0 2 * * *" });
    const setZone = (timezone: string) =>
      service.pool.query("update sources set schedule = schedule || $2 where id = $1", [
        broken,
        { timezone },
      ]);
    await setZone("Atlantis/Capital");
    at("2026-03-01T03:00:00Z");
    try {
      await expect(queueDue(deps(), { now, signal })).rejects.toThrow("Atlantis/Capital");
      const kinds = new Set((await commands(sound)).map(({ kind }) => kind));
      expect(kinds).toEqual(new Set(["backup", "restore_test"]));
      expect(await commands(broken)).toEqual([]);
    } finally {
      await setZone("UTC");
    }
    await queueDue(deps(), { now, signal });
    expect(await commands(broken)).toHaveLength(2);
    expect(await commands(sound)).toHaveLength(2);
    expect(await runs(broken)).toHaveLength(2);
  });

  test("runs once a night over both changes of the clocks", async () => {
    for (const [from, nights] of [
      ["2026-03-27T12:00:00Z", 4],
      ["2026-10-23T12:00:00Z", 4],
    ] as const) {
      at(from);
      const id = await scheduled({ backup_cron: "30 2 * * *", timezone: "Europe/Berlin" });
      for (let hour = 0; hour < nights * 24; hour += 1) {
        after(HOUR_MS);
        await queueDue(deps(), { now, signal });
        for (const command of await beat()) {
          await beat([command.id]);
          await backup(id);
          await service.pool.query(`update commands set outcome = '{"backup_id":"x"}' where id = $1`, [
            command.id,
          ]);
        }
      }
      expect(await commands(id)).toHaveLength(nights);
    }
  });

  test("is asked for once after days without the service, and every time is recorded", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *" });
    at("2026-03-05T09:00:00Z");
    await tick();
    expect(await commands(id)).toHaveLength(1);
    expect(await runs(id)).toEqual([
      ["2026-03-01T02:00", "missed"],
      ["2026-03-02T02:00", "missed"],
      ["2026-03-03T02:00", "missed"],
      ["2026-03-04T02:00", "missed"],
      ["2026-03-05T02:00", "missed"],
    ]);
    expect(await events("backup_missed")).toMatchObject([
      { source_id: id, occurred_at: "2026-03-01T04:00:00.000Z", detail: { runs: 5 } },
    ]);
  });

  test("waits for the command before, and does not pile up for an agent that is off", async () => {
    const id = await scheduled({ backup_cron: "0 * * * *" });
    for (let n = 0; n < 30; n += 1) {
      after(HOUR_MS);
      await queueDue(deps(), { now, signal });
    }
    expect(await commands(id)).toHaveLength(1);
    const [command] = await beat();
    await beat([command?.id ?? ""]);
    after(HOUR_MS);
    await queueDue(deps(), { now, signal });
    expect(await commands(id)).toHaveLength(1);
    // An agent that took it and never said what came of it does not stop the schedule for ever.
    after(3 * HOUR_MS);
    await queueDue(deps(), { now, signal });
    expect(await commands(id)).toHaveLength(2);
  });

  test("is a restore test of the newest backup, by the agent that tests", async () => {
    const tester = await service.attach(org);
    const id = await scheduled({ restore_test_cron: "0 5 * * *" });
    await owner.post(`/api/orgs/${org.id}/sources/${id}/configure`, { test_agent_id: tester.id });
    await backup(id);
    const newest = await backup(id, after(1000));
    at("2026-03-01T05:00:10Z");
    await queueDue(deps(), { now, signal });
    expect(await commands(id)).toMatchObject([
      { kind: "restore_test", agent_id: tester.id, params: { backup_id: newest } },
    ]);
  });

  test("is due again at its own time after the clock was a year ahead, and no run is missed before its time", async () => {
    const id = await scheduled({ backup_cron: "30 2 * * *", timezone: "UTC" });
    const [queue] = scheduleJobs(deps());
    const once = () => runOnce({ db: service.byClock, clock: () => now, signal }, queue!);
    await service.pool.query("delete from jobs where name = 'queue_due'");
    expect(await once()).toBe(true);
    at("2027-03-01T00:00:00Z");
    expect(await once()).toBe(true);
    await noticeMissed(deps(), { now, signal });
    expect((await runs(id)).filter(([, status]) => status === "missed").length).toBeGreaterThan(300);
    at("2026-03-01T00:01:00Z");
    expect(await once()).toBe(true);
    expect((await runs(id)).filter(([, status]) => status !== "waiting")).toEqual([]);
    at("2026-03-01T02:30:10Z");
    expect(await once()).toBe(true);
    expect((await commands(id)).map(({ kind }) => kind)).toEqual(["backup"]);
    await beat();
    await backup(id);
    await noticeMissed(deps(), { now, signal });
    expect((await runs(id)).slice(0, 2)).toEqual([
      ["2026-03-01T02:30", "done"],
      ["2026-03-02T02:30", "waiting"],
    ]);
  });

  test("is nothing of a removed source", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *" });
    at("2026-03-01T02:00:00Z");
    await tick();
    await owner.delete(`/api/orgs/${org.id}/sources/${id}`);
    at("2026-03-09T02:00:00Z");
    await tick();
    expect(await runs(id)).toEqual([["2026-03-01T02:00", "withdrawn"]]);
    expect(await events("backup_missed")).toEqual([]);
  });
});
