import {
  formatLeaf,
  formatVerifierKey,
  hashFromHex,
  isLogOf,
  leafHash,
  parsePredecessor,
  ProofError,
  verifyInclusion,
  plural,
} from "@attestore/proof";
import type { AgentTimes } from "./check-agents.ts";
import type { SignedEvent } from "./check-event.ts";
import type { PackLog } from "./pack-log.ts";
import type { CheckedReceipt } from "./check-receipt.ts";
import type { Findings } from "./findings.ts";
import type { PackFiles } from "./pack-files.ts";

const MAX_PREDECESSOR = 128 * 1024;
const FILE = /^predecessors\/((?:rcpt|evt)_[0-9a-z]+)\.json$/;

/**
 * What the leaves in predecessors/ cover: receipts and signed events from before the pack, which
 * only proves that the log has them.
 */
export async function readPredecessors(files: PackFiles, log: PackLog): Promise<Set<string>> {
  const bodies = new Set<string>();
  for (const path of files.paths()) {
    const id = FILE.exec(path)?.[1];
    if (id === undefined) continue;
    const body = await files.parsed("chains", path, MAX_PREDECESSOR, (bytes) => {
      const { leaf, inclusion_proof, checkpoint, log: named } = parsePredecessor(bytes);
      if (leaf.id !== id) refuse(`it belongs to ${leaf.id}`);
      if (checkpoint !== log.checkpoint || inclusion_proof.tree_size !== log.size)
        refuse("its checkpoint is not the pack's");
      if (named.verifier_key !== formatVerifierKey(log.key) || named.origin !== log.key.name)
        refuse("it names another log");
      if (!isLogOf(log.key.name, leaf.org_id)) refuse(`it belongs to ${leaf.org_id}`);
      verifyInclusion({
        leafIndex: BigInt(inclusion_proof.log_index),
        treeSize: BigInt(log.size),
        leafHash: leafHash(formatLeaf(leaf)),
        rootHash: log.rootHash,
        hashes: inclusion_proof.hashes.map(hashFromHex),
      });
      return leaf.body_sha256;
    });
    if (body !== null) bodies.add(body);
  }
  return bodies;
}

function refuse(why: string): never {
  throw new ProofError("malformed_evidence", why);
}

/** A receipt or event whose predecessor is missing from this pack and from the others given. */
export interface ChainGap {
  id: string;
  agentId: string;
}

/**
 * Checks the chains: each receipt and signed event names its agent's previous one by SHA-256.
 * `known` are those that are proven to be in the log. If something was signed and never logged, its
 * successor has a missing predecessor: the service may have refused it, or the agent lost it. Also
 * checks that nobody signed before being attached or after being revoked.
 */
export function checkChains(
  findings: Findings,
  receipts: readonly CheckedReceipt[],
  known: ReadonlySet<string>,
  { attachedAt, revokedAt, inUseFrom }: AgentTimes,
  signedEvents: readonly SignedEvent[] = [],
): void {
  const links = [
    ...receipts.map(({ statement: { predicate }, ...receipt }) => ({
      ...receipt,
      agentId: predicate.agent_id,
      previousSha256: predicate.previous_receipt_sha256,
    })),
    ...signedEvents,
  ].toSorted((a, b) => a.logIndex - b.logIndex);
  const seen = new Set<string>();
  const gaps: ChainGap[] = [];
  let restarts = 0;
  for (const link of links) {
    const { id, logIndex, keyFingerprint, isEarlier, agentId: agent_id, previousSha256: previous } = link;
    const from = inUseFrom.get(keyFingerprint) ?? attachedAt.get(agent_id) ?? -1;
    if (logIndex < from || logIndex > (revokedAt.get(agent_id) ?? Infinity))
      findings.fail("agents", `${id} was signed by ${agent_id} while its key was not valid`);
    if (isEarlier) continue;
    const isFirst = !seen.has(agent_id);
    seen.add(agent_id);
    if (previous === null) restarts += isFirst ? 0 : 1;
    else if (!known.has(previous)) gaps.push({ id, agentId: agent_id });
  }
  const [first] = gaps;
  const what = gaps.every(({ id }) => !id.startsWith("evt_"))
    ? plural(gaps.length, "receipt refers", "receipts refer")
    : plural(gaps.length, "receipt or event refers", "receipts and events refer");
  if (first !== undefined)
    findings.leaveOpen(
      "chains",
      `${what} to a predecessor that is not in the log; the first is ${first.id} of ${first.agentId}: ask the host for its receipts/ and events/`,
    );
  const restarted = `; ${plural(restarts, "receipt or event starts", "receipts or events start")} a new chain, as happens after a host is set up again`;
  findings.hold("chains", `of ${plural(seen.size, "agent")}${restarts > 0 ? restarted : ""}`);
}
