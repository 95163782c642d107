import {
  countsAt,
  envelopeFromJson,
  type EventBundle,
  eventFile,
  formatLeaf,
  formatVerifierKey,
  hashFromHex,
  isLogOf,
  leafHash,
  parseEventBundle,
  readEventStatement,
  verifyEnvelope,
  verifyInclusion,
} from "@attestore/proof";
import type { KnownAgent } from "./read-agents.ts";
import type { PackLog } from "./pack-log.ts";
import { type Named, refuse, requirePlace, signingKey } from "./entry-place.ts";
import type { PackFiles } from "./pack-files.ts";

/** The largest event in bytes: a request's body has at most 1 MiB. */
const MAX_EVENT = 4 * 1024 * 1024;

/** A signed event, as a link of its agent's chain. */
export interface SignedEvent {
  id: string;
  logIndex: number;
  agentId: string;
  bodySha256: string;
  previousSha256: string | null;
  /** Fingerprint of the key that signed it. */
  keyFingerprint: string;
  isEarlier: boolean;
}

/** The valid events of a pack. */
export interface CheckedEvents {
  events: Map<string, EventBundle>;
  /** In log order. */
  signedEvents: SignedEvent[];
}

/**
 * Checks one event, and its signature if it has one. Returns null and adds a finding if it is
 * invalid.
 */
export async function checkEvent(
  files: PackFiles,
  log: PackLog,
  agents: ReadonlyMap<string, KnownAgent>,
  { id, leaf: place }: Named,
): Promise<{ bundle: EventBundle; signed: SignedEvent | null } | null> {
  return files.parsed("events", eventFile(id), MAX_EVENT, async (bytes) => {
    const bundle = parseEventBundle(bytes);
    requirePlace(bundle, id, place, log);
    if (bundle.log.verifier_key !== formatVerifierKey(log.key) || bundle.log.origin !== log.key.name)
      refuse("it names another log");
    if (!isLogOf(log.key.name, bundle.leaf.org_id)) refuse(`it belongs to ${bundle.leaf.org_id}`);
    verifyInclusion({
      leafIndex: BigInt(bundle.inclusion_proof.log_index),
      treeSize: BigInt(log.size),
      leafHash: leafHash(formatLeaf(bundle.leaf)),
      rootHash: log.rootHash,
      hashes: bundle.inclusion_proof.hashes.map(hashFromHex),
    });
    return { bundle, signed: await signedBy(agents, bundle, place === undefined) };
  });
}

/**
 * Checks that one of the agent's keys signed the envelope. The bundle's form has shown that it is
 * about this event. Throws ProofError.
 */
async function signedBy(
  agents: ReadonlyMap<string, KnownAgent>,
  { envelope: json, leaf, inclusion_proof }: EventBundle,
  isEarlier: boolean,
): Promise<SignedEvent | null> {
  if (json === undefined) return null;
  const agent = agents.get(leaf.actor_id);
  if (agent === undefined) refuse(`the pack has no key of its signer ${leaf.actor_id}`);
  const envelope = envelopeFromJson(json);
  const key = signingKey(agent, json);
  await verifyEnvelope(envelope, key.publicKey);
  const { occurred_at, previous_receipt_sha256 } = readEventStatement(envelope);
  if (!countsAt(key, occurred_at)) refuse("it is signed with a key that was replaced before it happened");
  return {
    id: leaf.id,
    logIndex: inclusion_proof.log_index,
    agentId: leaf.actor_id,
    bodySha256: leaf.body_sha256,
    previousSha256: previous_receipt_sha256,
    keyFingerprint: key.fingerprint,
    isEarlier,
  };
}
