import { afterAll, beforeAll, expect, test } from "vitest";
import { makeHistory } from "../../../test/history.ts";
import { startTestService, type TestService } from "../../../test/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

test("a source says how many of its old backups were tested lately", async () => {
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const { sourceId, backups } = await makeHistory(service, org, { backups: 5 });
  const coverage = async () => (await owner.get(`/api/orgs/${org.id}/sources/${sourceId}`)).json["coverage"];
  expect(await coverage()).toEqual({ older_than_30_days: 0, tested_within_90_days: 0 });
  const [gone, late, , tested] = backups.map(({ id }) => id);
  const { pool } = service;
  await pool.query("update backups set made_at = now() - interval '40 days' where id = any($1)", [
    [gone, late, tested],
  ]);
  await pool.query("update backups set status = 'expired' where id = $1", [gone]);
  await pool.query("update backups set proven_at = now() - interval '91 days' where id = $1", [late]);
  expect(await coverage()).toEqual({ older_than_30_days: 2, tested_within_90_days: 1 });
});
