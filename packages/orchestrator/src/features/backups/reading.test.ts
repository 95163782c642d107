import { BackupRecord, newId } from "@attestore/contract";
import { createHash } from "node:crypto";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type History, makeHistory } from "../../../test/history.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let orders: History;
let users: History;
let owner: TestUser;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  orders = await makeHistory(service, org, { backups: 2 });
  users = await makeHistory(service, org, { slug: "users" });
  owner = await service.signIn(org);
});
afterAll(() => service.close());

const ids = async (query = "") => {
  const { json } = await owner.get(`/api/orgs/${org.id}/backups${query}`);
  return (json["items"] as BackupRecord[]).map(({ id }) => id);
};

test("backups are listed newest first, by page and by filter", async () => {
  const all = [...orders.backups, ...users.backups].map(({ id }) => id).toReversed();
  expect(await ids()).toEqual(all);
  const { json } = await owner.get(`/api/orgs/${org.id}/backups?limit=2`);
  for (const item of json["items"] as unknown[]) expect([...Value.Errors(BackupRecord, item)]).toEqual([]);
  expect(await ids(`?limit=2&cursor=${String(json["next_cursor"])}`)).toEqual(all.slice(2));
  expect(await ids(`?source_id=${users.sourceId}`)).toEqual(users.backups.map(({ id }) => id));
  expect(await ids(`?agent_id=${orders.agent.id}&status=available`)).toEqual(all.slice(1));
  expect(await ids("?status=expired")).toEqual([]);
  expect(await ids("?to=2026-01-01T00:00:00Z")).toEqual([]);
  expect(await ids("?to=0001-01-01T00:00:00Z")).toEqual([]);
  expect(await ids("?to=9999-12-31T23:59:59Z")).toEqual(all);
  expect(await ids("?from=2026-01-01T00:00:00%2B02:00")).toEqual(all);
});

test("backups made before a time are found whenever they were registered, newest registration first", async () => {
  const other = await service.addOrg();
  const { backups } = await makeHistory(service, other, { backups: 3 });
  const reader = await service.signIn(other);
  const of = async (query: string) => {
    const { json } = await reader.get(`/api/orgs/${other.id}/backups${query}`);
    return {
      ids: (json["items"] as BackupRecord[]).map(({ id }) => id),
      cursor: String(json["next_cursor"]),
    };
  };
  const [late = "", later = "", recent = ""] = backups.map(({ id }) => id);
  await service.pool.query("update backups set made_at = '2026-03-01' where id = any($1)", [[late, later]]);
  // One that was registered when it was made, at the end of the period.
  const made = new Date("2026-03-31T23:59:30Z");
  const onTime = newId("backup", made.getTime() + 60_000);
  await service.pool.query(
    `with old as (insert into uploads select $2, org_id, source_id, agent_id, 'other', sha256, size_bytes, multipart, created_at, expires_at
       from uploads where id = (select upload_id from backups where id = $1) returning id)
     insert into backups (id, org_id, source_id, agent_id, upload_id, object_key, sha256, size_bytes, cipher, source_metadata, made_at, created_at)
     select $3, org_id, source_id, agent_id, $2, 'other', sha256, size_bytes, cipher, source_metadata, $4, $4 from backups where id = $1`,
    [recent, newId("upload"), onTime, made],
  );
  const april = "to=2026-04-01T00:00:00Z";
  expect((await of(`?${april}`)).ids).toEqual([later, late, onTime]);
  expect((await of(`?${april}&from=2026-03-02T00:00:00Z`)).ids).toEqual([onTime]);
  const first = await of(`?limit=1&${april}`);
  expect(first.ids).toEqual([later]);
  const second = await of(`?limit=1&${april}&cursor=${first.cursor}`);
  expect(second.ids).toEqual([late]);
  expect((await of(`?limit=1&${april}&cursor=${second.cursor}`)).ids).toEqual([onTime]);
  expect((await of("")).ids).toEqual([recent, later, late, onTime]);
});

test("a backup's record says when it was proven", async () => {
  const { status, json } = await owner.get(`/api/backups/${orders.backups[0]?.id ?? ""}`);
  expect(status).toBe(200);
  expect(json).toMatchObject({ id: orders.backups[0]?.id, org_id: org.id, status: "available" });
  expect(json["proven_at"]).toMatch(/Z$/);
});

test("a recovery host without an agent fetches the ciphertext, whole and in ranges", async () => {
  const auditor = await service.signIn(org, "auditor");
  const backup = orders.backups[0];
  const path = `/api/orgs/${org.id}/backups/${backup?.id ?? ""}/download-url`;
  const { status, json } = await auditor.post(path);
  expect([status, Object.keys(json).toSorted()]).toEqual([200, ["download_url", "expires_at"]]);
  const lifetime_s = (Date.parse(String(json["expires_at"])) - Date.now()) / 1000;
  expect(lifetime_s).toBeGreaterThan(890);
  expect(lifetime_s).toBeLessThanOrEqual(900);
  const url = String(json["download_url"]).slice(service.url.length);
  const whole = await service.call({ method: "GET", path: url });
  expect(createHash("sha256").update(whole.body).digest("hex")).toBe(backup?.sha256);
  const part = await service.call({ method: "GET", path: url, headers: { range: "bytes=10-19" } });
  expect(part.status).toBe(206);
  expect(part.body).toEqual(whole.body.subarray(10, 20));
});

test("the download of an expired backup is refused as expired", async () => {
  const id = users.backups[0]?.id ?? "";
  await service.pool.query("update backups set status = 'expired', expires_at = now() where id = $1", [id]);
  expect(await ids("?status=expired")).toEqual([id]);
  const answer = await owner.post(`/api/orgs/${org.id}/backups/${id}/download-url`);
  expect([answer.status, answer.json["error"]]).toEqual([409, "conflict"]);
});

test("another organisation's backups are not found", async () => {
  const other = await service.addOrg();
  const stranger = await service.signIn(other);
  const id = orders.backups[0]?.id ?? "";
  const urls = (orgId: string) => stranger.post(`/api/orgs/${orgId}/backups/${id}/download-url`);
  for (const answer of [
    await stranger.get(`/api/orgs/${org.id}/backups`),
    await stranger.get(`/api/backups/${id}`),
    await urls(org.id),
    await urls(other.id),
  ])
    expect([answer.status, answer.json["error"]]).toEqual([404, "not_found"]);
});

test("the kept backups are those in the log that are not to be removed, for the source's agents alone", async () => {
  const other = await service.addOrg();
  const { agent, sourceId, backups } = await makeHistory(service, other, { backups: 4 });
  const made = backups.map(({ id }) => id);
  const path = `/v1/sources/${sourceId}/backups`;
  expect((await agent.get(path)).json).toEqual({ backup_ids: made, next_cursor: null });
  await service.pool.query("update backups set status = 'expired' where id = $1", [made[0]]);
  await service.pool.query("update backups set expires_at = now() where id = $1", [made[1]]);
  expect((await agent.get(path)).json).toEqual({ backup_ids: made.slice(2), next_cursor: null });
  const upload = await service.upload(agent, sourceId, Buffer.from("not in the log"));
  expect((await agent.post("/v1/backups", service.registration(upload, sourceId))).status).toBe(201);
  expect((await agent.get(path)).json).toEqual({ backup_ids: made.slice(2), next_cursor: null });
  const brief = ({ status, json }: Awaited<ReturnType<typeof agent.get>>) => [status, json["error"]];
  expect((await agent.get(`${path}?cursor=${made[2]}`)).json["backup_ids"]).toEqual(made.slice(3));
  const colleague = await service.attach(other);
  expect(brief(await colleague.get(path))).toEqual([403, "forbidden"]);
  expect(brief(await orders.agent.get(path))).toEqual([404, "not_found"]);
  expect(brief(await agent.get(`/v1/sources/${newId("source")}/backups`))).toEqual([404, "not_found"]);
});
