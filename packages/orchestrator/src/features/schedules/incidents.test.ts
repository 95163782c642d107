import { describe, expect, test } from "vitest";
import { recordBackup, recordReceipt } from "../../../test/recorded.ts";
import {
  addOrg,
  after,
  agent,
  at,
  backup,
  beat,
  commands,
  deps,
  events,
  HOUR_MS,
  incidents,
  INTERVAL_S,
  items,
  listen,
  now,
  org,
  owner,
  runs,
  scheduled,
  service,
  signal,
  SILENT,
  tick,
  useScheduledOrg,
  watchFromNow,
} from "../../../test/scheduled-org.ts";
import { noticeMissed } from "./notice-missed.ts";
import { queueDue } from "./queue-due.ts";

useScheduledOrg();

describe("a missed run", () => {
  test("is logged once an incident, which ends with the next backup and may begin again", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *" });
    at("2026-03-01T02:00:00Z");
    await tick();
    at("2026-03-01T04:00:00Z");
    await tick();
    expect(await events("backup_missed")).toEqual([]);
    at("2026-03-01T04:00:01Z");
    await Promise.all(Array.from({ length: 5 }, () => noticeMissed(deps(), { now, signal })));
    const [event, ...more] = await events("backup_missed");
    expect(more).toEqual([]);
    const [command] = await commands(id);
    expect(event).toMatchObject({
      source_id: id,
      command_id: command?.["id"],
      actor: { kind: "service" },
      occurred_at: "2026-03-01T04:00:00.000Z",
      detail: {
        scheduled_at: "2026-03-01T02:00:00.000Z",
        deadline_at: "2026-03-01T04:00:00.000Z",
        runs: 1,
        agent_id: agent.id,
        reason: "agent_silent",
      },
    });
    for (const day of ["02", "03"]) {
      at(`2026-03-${day}T02:00:00Z`);
      await tick();
      at(`2026-03-${day}T09:00:00Z`);
      await tick();
    }
    expect(await events("backup_missed")).toHaveLength(1);
    expect(await incidents("?status=open")).toMatchObject([
      { id: event?.["id"], source_id: id, ended_at: null },
    ]);
    const detail = await owner.get(`/api/orgs/${org.id}/sources/${id}`);
    expect(detail.json["incidents"]).toMatchObject([{ id: event?.["id"], kind: "backup_missed" }]);
    await backup(id, at("2026-03-03T10:00:00Z"));
    after(1000);
    await tick();
    expect(await incidents()).toMatchObject([{ id: event?.["id"], ended_at: "2026-03-03T10:00:00.000Z" }]);
    const timeline = await items(`/api/orgs/${org.id}/sources/${id}/timeline`);
    expect(timeline.find(({ type }) => type === "event")).toMatchObject({
      incident: { ended_at: "2026-03-03T10:00:00.000Z" },
    });
    at("2026-03-04T02:00:00Z");
    await tick();
    at("2026-03-04T05:00:00Z");
    await tick();
    expect(await events("backup_missed")).toHaveLength(2);
    expect((await runs(id)).map(([, status]) => status)).toEqual(["missed", "missed", "missed", "missed"]);
  });

  test("is not recorded if a backup came in time, whoever asked for it", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *" });
    at("2026-03-01T02:00:00Z");
    await tick();
    await backup(id, at("2026-03-01T03:59:00Z"));
    at("2026-03-01T12:00:00Z");
    await tick();
    expect(await runs(id)).toEqual([["2026-03-01T02:00", "done"]]);
    expect(await events("backup_missed")).toEqual([]);
  });

  test.each(["backup", "restore_test"] as const)(
    "is done with 599 others of its source that wait for the same %s, and 600 later ones wait on",
    async (kind) => {
      const id = await scheduled({});
      const backupId = await backup(id);
      const first = at("2026-03-01T00:00:00Z");
      await service.pool.query(
        `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at)
         select $1, $2, $3::timestamptz + n * interval '1 minute', $4, $3::timestamptz + interval '2 days'
         from generate_series(1, 1200) as n`,
        [id, kind, first, org.id],
      );
      at("2026-03-01T10:00:30Z");
      const made = { orgId: org.id, sourceId: id, agentId: agent.id, at: now };
      if (kind === "backup") await recordBackup(service.database, made);
      else await recordReceipt(service.database, { ...made, backupId, kind, result: "passed" });
      await noticeMissed(deps(), { now, signal });
      const statuses = (await runs(id)).map(([, status]) => status);
      expect(statuses).toEqual([...Array(600).fill("done"), ...Array(600).fill("waiting")]);
    },
  );

  test("is missed by a backup from before its time, and by one that came late", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *" });
    await backup(id, at("2026-03-01T01:59:59Z"));
    at("2026-03-01T02:00:00Z");
    await tick();
    await backup(id, at("2026-03-01T04:30:00Z"));
    at("2026-03-01T05:00:00Z");
    await tick();
    expect(await events("backup_missed")).toHaveLength(1);
    await tick();
    expect(await incidents()).toMatchObject([{ ended_at: "2026-03-01T04:30:00.000Z" }]);
  });

  test("says of a restore test how far it came; one that failed did happen", async () => {
    const id = await scheduled({ restore_test_cron: "0 5 * * *" });
    const backupId = await backup(id);
    at("2026-03-01T05:00:00Z");
    await tick();
    const [command] = await beat();
    await beat([command?.id ?? ""]);
    at("2026-03-01T07:30:00Z");
    await beat();
    await tick();
    expect(await events("restore_test_missed")).toMatchObject([{ detail: { reason: "no_result" } }]);
    const receipt = {
      orgId: org.id,
      sourceId: id,
      agentId: agent.id,
      backupId,
      kind: "restore_test",
    } as const;
    await recordReceipt(service.database, { ...receipt, result: "failed", at: at("2026-03-02T05:10:00Z") });
    at("2026-03-02T08:00:00Z");
    await tick();
    expect((await runs(id)).map(([, status]) => status)).toEqual(["missed", "done"]);
    expect(await incidents("?kind=restore_test_missed")).toMatchObject([
      { ended_at: "2026-03-02T05:10:00.000Z" },
    ]);
  });

  test("a result that waited on its host since an earlier run does not count for a later one, and ends no incident", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *", restore_test_cron: "0 5 * * *" });
    const backupId = await recordBackup(service.database, {
      orgId: org.id,
      sourceId: id,
      agentId: agent.id,
      at: new Date("2026-03-02T02:00:30Z"),
      madeAt: new Date("2026-03-01T02:10:00Z"),
    });
    const tested = (time: string, happenedAt: string) =>
      recordReceipt(service.database, {
        orgId: org.id,
        sourceId: id,
        agentId: agent.id,
        backupId,
        kind: "restore_test",
        result: "passed",
        at: at(time),
        happenedAt: new Date(happenedAt),
      });
    for (const time of ["2026-03-01T02:00:00Z", "2026-03-01T05:00:00Z", "2026-03-01T09:00:00Z"]) {
      at(time);
      await tick();
    }
    for (const time of ["2026-03-02T02:00:00Z", "2026-03-02T05:00:00Z"]) {
      at(time);
      await tick();
    }
    const [asked] = (await beat()).filter(({ kind }) => kind === "restore_test");
    await beat([asked?.id ?? ""]);
    await tested("2026-03-02T05:01:00Z", "2026-03-01T05:03:00Z");
    await tick();
    expect(await runs(id)).toEqual([
      ["2026-03-01T02:00", "missed"],
      ["2026-03-01T05:00", "missed"],
      ["2026-03-02T02:00", "missed"],
      ["2026-03-02T05:00", "waiting"],
    ]);
    // A late backup for the only run that was missed ends its incident.
    const [first] = await incidents("?kind=restore_test_missed");
    expect(first).toMatchObject({ ended_at: "2026-03-02T05:01:00.000Z" });
    at("2026-03-02T09:00:00Z");
    await tick();
    expect((await runs(id)).map(([, status]) => status)).toEqual(["missed", "missed", "missed", "missed"]);
    expect((await events("restore_test_missed")).map(({ detail }) => detail)).toMatchObject([
      { reason: "result_too_old" },
      { reason: "agent_silent" },
    ]);
    await tested("2026-03-02T10:00:00Z", "2026-03-01T05:04:00Z");
    await tick();
    expect(await incidents("?kind=restore_test_missed&status=open")).toHaveLength(1);
    await tested("2026-03-02T11:00:00Z", "2026-03-02T05:04:00Z");
    await tick();
    expect(await incidents("?kind=restore_test_missed&status=open")).toEqual([]);
  });

  test("a host's clock may be five minutes behind", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *" });
    const made = (madeAt: string) =>
      recordBackup(service.database, {
        orgId: org.id,
        sourceId: id,
        agentId: agent.id,
        at: new Date("2026-03-01T02:00:10Z"),
        madeAt: new Date(madeAt),
      });
    at("2026-03-01T02:00:00Z");
    await tick();
    await made("2026-03-01T01:54:59.999Z");
    after(60_000);
    await tick();
    expect(await runs(id)).toEqual([["2026-03-01T02:00", "waiting"]]);
    await made("2026-03-01T01:55:00Z");
    await tick();
    expect(await runs(id)).toEqual([["2026-03-01T02:00", "done"]]);
  });

  test("ends when nobody waits for it any longer", async () => {
    const id = await scheduled({ backup_cron: "0 2 * * *" });
    at("2026-03-01T09:00:00Z");
    await tick();
    await owner.post(`/api/orgs/${org.id}/sources/${id}/configure`, { schedule: null });
    await tick();
    expect(await incidents()).toMatchObject([{ ended_at: now.toISOString() }]);
  });

  test("names the agent's failure, and a revoked agent", async () => {
    const failed = await scheduled({ backup_cron: "0 2 * * *" });
    at("2026-03-01T02:00:00Z");
    await tick();
    const [command] = await beat();
    await agent.post("/v1/events", {
      kind: "backup_failed",
      source_id: failed,
      command_id: command?.id,
      occurred_at: now.toISOString(),
      detail: {},
    });
    const gone = await service.attach(org);
    const orphan = await scheduled({ backup_cron: "0 3 * * *" });
    await owner.post(`/api/orgs/${org.id}/sources/${orphan}/configure`, { agent_id: gone.id });
    await service.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
      gone.id,
    ]);
    at("2026-03-01T03:00:00Z");
    await tick();
    at("2026-03-01T05:30:00Z");
    await tick();
    const found = await events("backup_missed");
    const reasons = found.map(({ source_id, detail }) => [source_id, (detail as { reason: string }).reason]);
    expect(new Map(reasons as [string, string][])).toEqual(
      new Map([
        [failed, "failed"],
        [orphan, "agent_revoked"],
      ]),
    );
  });
});

describe("an agent that is silent", () => {
  test("is logged once, and heard again", async () => {
    await beat();
    const heard = now;
    after((INTERVAL_S * SILENT - 1) * 1000);
    await listen();
    expect(await events("agent_silent")).toEqual([]);
    after(2000);
    await Promise.all(Array.from({ length: 5 }, listen));
    after(24 * HOUR_MS);
    await listen();
    expect(await events("agent_silent")).toMatchObject([
      {
        occurred_at: new Date(heard.getTime() + INTERVAL_S * SILENT * 1000).toISOString(),
        detail: { agent_id: agent.id, last_seen_at: heard.toISOString() },
      },
    ]);
    expect(await incidents(`?agent_id=${agent.id}`)).toMatchObject([
      { kind: "agent_silent", ended_at: null },
    ]);
    await beat();
    const back = now;
    await listen();
    expect(await incidents("?status=ended")).toMatchObject([{ ended_at: back.toISOString() }]);
    after(INTERVAL_S * SILENT * 1000 + 1000);
    await listen();
    expect(await events("agent_silent")).toHaveLength(2);
  });

  test("is not silent because the service was away", async () => {
    await beat();
    after(24 * HOUR_MS);
    watchFromNow();
    await listen();
    after(INTERVAL_S * SILENT * 1000);
    await listen();
    expect(await events("agent_silent")).toEqual([]);
    after(1000);
    await listen();
    expect(await events("agent_silent")).toHaveLength(1);
  });

  test("is not missed once it is revoked", async () => {
    after(24 * HOUR_MS);
    await listen();
    expect(await events("agent_silent")).toHaveLength(1);
    await service.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
      agent.id,
    ]);
    await listen();
    expect(await incidents("?status=open")).toEqual([]);
  });
});

test("a damaged log does not delay the checks of other organisations", async () => {
  const schedule = { backup_cron: "0 12 * * *" };
  await scheduled(schedule);
  const damaged = org;
  await addOrg();
  await scheduled(schedule);
  const damage = "update logs set root_hash = sha256(root_hash) where org_id = $1";
  await service.pool.query(damage, [damaged.id]);
  after(36 * HOUR_MS);
  const broken = /does not produce its root/;
  await queueDue(deps(), { now, signal });
  await expect(noticeMissed(deps(), { now, signal })).rejects.toThrow(broken);
  await expect(listen()).rejects.toThrow(broken);
  expect(await events("backup_missed")).toHaveLength(1);
  expect(await events("agent_silent")).toHaveLength(1);
});
