import { verifyConsistency } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConsistencyProof } from "./log-reader.ts";
import type { Placement } from "./placement.ts";
import type { Sequencer } from "./sequencer.ts";
import { withSession } from "./sql-session.ts";
import { openLogWorld, type LogWorld, type TestAgent } from "./testing/log-world.ts";
import { plainEntries, plainEntry, submissionRecord } from "./testing/plain-entry.ts";
import { verifyPlacement } from "./testing/verify-placement.ts";

let world: LogWorld;
beforeAll(async () => {
  world = await openLogWorld();
});
afterAll(() => world.close());

async function append(sequencer: Sequencer, agent: TestAgent): Promise<Placement> {
  const submitted = await sequencer.submit(plainEntries, plainEntry(agent), submissionRecord(agent), 0);
  if (submitted.is !== "placed") throw new Error("not placed");
  return submitted.placement;
}

test("two replicas, many organisations, all at once: no gap, no fork, every proof holds", async () => {
  const replicas = [world.addReplica(), world.addReplica()];
  const agents = await Promise.all(
    Array.from({ length: 5 }, async () => world.addAgent(await world.addOrg())),
  );
  const submissions = Array.from({ length: 600 }, (_, i) => {
    const replica = replicas[i % 2];
    const agent = agents[(i * 7) % agents.length];
    if (replica === undefined || agent === undefined) throw new Error("unreachable");
    return append(replica.sequencer, agent).then((placement) => ({ agent, placement, replica }));
  });
  const placed = await Promise.all(submissions);
  for (const agent of agents) {
    const mine = placed.filter((one) => one.agent === agent);
    expect(mine.map(({ placement }) => placement.logIndex).sort((a, b) => a - b)).toEqual(
      mine.map((_, i) => i),
    );
    const heads = new Map<bigint, Uint8Array>();
    for (const { placement, replica } of mine) {
      const checkpoint = await verifyPlacement(replica.signer.identity, placement);
      const other = heads.get(checkpoint.size);
      if (other !== undefined) expect(checkpoint.rootHash).toEqual(other);
      heads.set(checkpoint.size, checkpoint.rootHash);
    }
    const sizes = [...heads].sort(([a], [b]) => Number(a - b));
    expect(sizes.at(-1)?.[0]).toBe(BigInt(mine.length));
    for (const [i, [to, toRoot]] of sizes.entries()) {
      const [from, fromRoot] = sizes[i - 1] ?? [to, toRoot];
      const hashes = await withSession(world.pool, (session) =>
        readConsistencyProof(session, agent.orgId, Number(from), Number(to)),
      );
      verifyConsistency({ from, to, fromRoot, toRoot, hashes });
    }
  }
});
