import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestOrg, type TestService } from "../../../test/service.ts";
import { examineWitnesses } from "./examine-witnesses.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Its log had an entry two days ago. */
async function addOldLog(): Promise<TestOrg & { agentId: string }> {
  const org = await service.addOrg();
  const { id } = await service.attach(org);
  await service.pool.query(
    `insert into log_emissions (org_id, hour, emitted_at, tree_size, root_hash, checkpoint)
     values ($1, date_trunc('hour', now()) - interval '48 hours', now(), 1, sha256(''), '')`,
    [org.id],
  );
  return { ...org, agentId: id };
}

test("doctor names the organisations whose logs no agent has cosigned lately, and nothing otherwise", async () => {
  expect(await examineWitnesses(service.pool)).toEqual([]);
  const one = await addOldLog();
  const other = await addOldLog();
  const { rows } = await service.pool.query<{ slug: string }>(
    "select slug from orgs where id = any($1) order by slug",
    [[one.id, other.id]],
  );
  expect(await examineWitnesses(service.pool)).toEqual([
    {
      check: "witness",
      level: "warning",
      message: `No agent has cosigned the log as it was 25 hours ago, of: ${rows.map(({ slug }) => slug).join(", ")}.`,
      next: "docs/runbooks/witness-missing.md",
    },
  ]);
  await service.pool.query(
    `insert into agent_witnesses (agent_id, tree_size, checkpoint, cosignature, received_at)
     select id, 1, '', 'cosigned', now() from agents where id = any($1)`,
    [[one.agentId, other.agentId]],
  );
  expect(await examineWitnesses(service.pool)).toEqual([]);
});

test("doctor names ten of them, and counts the others", async () => {
  for (let n = 0; n < 12; n += 1) await addOldLog();
  const [finding] = await examineWitnesses(service.pool);
  expect(finding?.message).toMatch(/of: (?:[^ ,]+, ){10}2 more\.$/);
});
