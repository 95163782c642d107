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
import type { KnownAgent } from "../agents/read-agents.ts";
import type { PackLog } from "../log/pack-log.ts";
import { type Named, refuse, requirePlace, signingKey } from "./entry-place.ts";
import type { PackFiles } from "../files/pack-files.ts";

/** The largest event in bytes: a request's body has at most 1 MiB. */
export const MAX_EVENT = 4 * 1024 * 1024;

/** What an agent signed about an event. */
export interface EventSignature {
  previousSha256: string | null;
  /** Fingerprint of the key that signed it. */
  keyFingerprint: string;
}

/** A valid event. */
export interface CheckedEvent {
  /** The number of its file. */
  file: number;
  id: string;
  logIndex: number;
  recordedAt: string;
  bundle: EventBundle;
  /** Null if no agent signed it. */
  signature: EventSignature | null;
  /** Whether it is from outside the range of bodies. */
  isEarlier: boolean;
}

/**
 * Checks one event, and its signature if it has one. Returns null and adds a finding if it is
 * invalid.
 */
export async function checkEvent(
  files: PackFiles,
  log: PackLog,
  agents: ReadonlyMap<string, KnownAgent>,
  named: Named,
): Promise<CheckedEvent | null> {
  const { file, id, index } = named;
  return files.parsed("events", eventFile(id), MAX_EVENT, async (bytes) => {
    const bundle = parseEventBundle(bytes);
    requirePlace(bundle, named, log);
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
    return {
      file,
      id,
      logIndex: bundle.inclusion_proof.log_index,
      recordedAt: bundle.leaf.recorded_at,
      bundle,
      signature: await signatureOf(agents, bundle),
      isEarlier: index === undefined,
    };
  });
}

/**
 * Checks that one of the agent's keys signed the envelope. The bundle's form has shown that it is
 * about this event. Throws ProofError.
 */
async function signatureOf(
  agents: ReadonlyMap<string, KnownAgent>,
  { envelope: json, leaf }: EventBundle,
): Promise<EventSignature | null> {
  if (json === undefined) return null;
  const agent = agents.get(leaf.actor_id);
  if (agent === undefined) refuse(`the pack has no key of its signer ${leaf.actor_id}`);
  const envelope = envelopeFromJson(json);
  const key = signingKey(agent, json);
  await verifyEnvelope(envelope, key.publicKey);
  const { occurred_at, previous_receipt_sha256 } = readEventStatement(envelope);
  if (!countsAt(key, occurred_at)) refuse("it is signed with a key that was replaced before it happened");
  return { previousSha256: previous_receipt_sha256, keyFingerprint: key.fingerprint };
}
