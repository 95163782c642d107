import {
  CompactRange,
  type Draw,
  DRAW_DECLARED,
  drawCommitment,
  formatEventStatement,
  formatLeaf,
  type Hash,
  leafHash,
  type Leaf,
  proveInclusion,
  sha256,
  toBase64,
  toHex,
  utf8,
} from "../src/index.ts";
import { ids, signedCheckpoint } from "./receipt-fixture.ts";
import type { TestKey } from "./signing-keys.ts";

export const SECRET = new Uint8Array(32).fill(7);
export const candidates = ["a", "b", "c", "d", "e", "f", "g"].map(
  (letter) => `bkp_01jd3gqp7yc03q0r9z4q1g9x7${letter}`,
);

interface Made {
  log: TestKey;
  eventId?: string;
  /** Of the draw's leaf. */
  index?: number;
  /** Of the tree whose head decides; by default the first that covers the leaf. */
  size?: number;
  among?: readonly string[];
  detail?: Record<string, unknown>;
  predicate?: Record<string, unknown>;
}

/** A draw among `among`, in a log of other leaves. */
export async function drawOf({
  log,
  eventId = "evt_01jd3gqq8zb14p1s0a5r2h0y8f",
  index = 4,
  size = index + 1,
  among = candidates,
  detail = {},
  predicate = {},
}: Made): Promise<Draw> {
  const payload = formatEventStatement({
    kind: DRAW_DECLARED,
    source_id: ids.source,
    occurred_at: "2026-11-20T01:59:00.000Z",
    detail: { v: 1, candidates: [...among], commitment: drawCommitment(SECRET), ...detail },
    org_id: ids.org,
    agent_id: ids.agent,
    agent_version: "0.1.0",
    previous_receipt_sha256: null,
    ...predicate,
  });
  const leaf: Leaf = {
    v: 1,
    kind: DRAW_DECLARED,
    org_id: ids.org,
    id: eventId,
    actor_id: ids.agent,
    recorded_at: "2026-11-20T01:59:01.000Z",
    body_sha256: toHex(sha256(payload)),
    signature: toBase64(new Uint8Array(64)),
  };
  const nodes = new Map<string, Hash>();
  const range = CompactRange.empty();
  for (let i = 0; i < size; i++)
    range.append(leafHash(i === index ? formatLeaf(leaf) : utf8(`another leaf ${i}`)), (level, at, node) =>
      nodes.set(`${level}/${at}`, node),
    );
  const hashes = proveInclusion(index, size, (level, at) => nodes.get(`${level}/${at}`) ?? new Uint8Array(0));
  return {
    v: 1,
    statement: toBase64(payload),
    leaf,
    log_index: index,
    hashes: hashes.map(toHex),
    checkpoint: await signedCheckpoint(log, size, range.root()),
    secret: toHex(SECRET),
  };
}
