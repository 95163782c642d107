import type { Statement } from "@attestore/proof";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type LogWorld, openLogWorld, type Replica, type TestAgent, type TestBackup } from "./log-world.ts";
import { signedEnvelope } from "./signed-receipt.ts";
import { placed, submitReceipt } from "./submit.ts";

export let world: LogWorld;
export let replica: Replica;
export let agent: TestAgent;
export let tester: TestAgent;
export let backup: TestBackup;

/** Of a file whose tests submit receipts: one backup by one agent, which another may test. */
export function useReceiptsWorld(): void {
  beforeAll(async () => {
    world = await openLogWorld();
    replica = world.addReplica();
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    agent = await world.addAgent(await world.addOrg());
    tester = await world.addAgent(agent.orgId);
    backup = await world.addBackup(agent, tester);
  });
}

export const submit = async (by: TestAgent, statement: Statement) =>
  placed(await submitReceipt(replica, by, signedEnvelope(by, statement)));

export async function times(): Promise<
  Record<"proven_at" | "last_proven_at" | "last_backup_at", Date | null>
> {
  const { rows } = await world.pool.query<Awaited<ReturnType<typeof times>>>(
    "select proven_at, last_proven_at, last_backup_at from backups join sources on sources.id = source_id where backups.id = $1",
    [backup.id],
  );
  if (rows[0] === undefined) throw new Error("no backup");
  return rows[0];
}
