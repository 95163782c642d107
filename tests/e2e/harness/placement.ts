import { expect } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import { openCheckpoint, type Checkpoint } from "./checkpoint.ts";
import { leafHash, rootFromInclusion } from "./merkle.ts";
import type { WireAgent } from "./organisation.ts";
import { SHA256, TIMESTAMP } from "./patterns.ts";
import type { Placement } from "./statements.ts";

/**
 * Trusts nothing of an answer but the log's key: the leaf's bytes lead to the leaf hash, the proof
 * from there to a root, and the root is what the log signed.
 */
export function expectPlaced(agent: WireAgent, placed: Placement, id: string): Checkpoint {
  const { leaf } = placed;
  expect(
    Object.keys(leaf)
      .filter((key) => key !== "signature")
      .toSorted(),
  ).toEqual(["actor_id", "body_sha256", "id", "kind", "org_id", "recorded_at", "v"].toSorted());
  expect(leaf).toMatchObject({ v: 1, id, org_id: agent.orgId, actor_id: agent.id });
  expect(leaf["recorded_at"]).toMatch(TIMESTAMP);
  expect(leaf["body_sha256"]).toMatch(SHA256);
  expect(placed.leaf_hash).toBe(leafHash(canonicalJson(leaf)));

  const { inclusion_proof: proof } = placed;
  expect(proof.log_index).toBe(placed.log_index);
  const checkpoint = openCheckpoint(placed.checkpoint, agent.log.verifier_key);
  expect(checkpoint.origin).toBe(agent.log.origin);
  expect(placed.log_id).toBe(agent.log.origin);
  expect(checkpoint.size).toBe(proof.tree_size);
  expect(rootFromInclusion(placed.leaf_hash, proof.log_index, proof.tree_size, proof.hashes)).toBe(
    checkpoint.rootHash,
  );
  return checkpoint;
}
