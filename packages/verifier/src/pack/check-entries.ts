import {
  countsAt,
  envelopeFromJson,
  type EnvelopeJson,
  type EventBundle,
  eventFile,
  formatLeaf,
  formatVerifierKey,
  hashFromHex,
  leafHash,
  MAX_BUNDLE_SIZE,
  parseBundle,
  parseEventBundle,
  readEventStatement,
  PREDICATE_BACKUP,
  ProofError,
  receiptFile,
  type ReceiptBundle,
  type Statement,
  type TrustedKey,
  verifyEnvelope,
  verifyInclusion,
  verifyReceipt,
} from "@attestore/proof";
import type { KnownAgent } from "./check-agents.ts";
import type { PackLog } from "./check-log.ts";
import type { CheckedRange, RangeLeaf } from "./check-range.ts";
import type { Findings } from "./findings.ts";
import type { PackFiles } from "./pack-files.ts";

/** A request's body is at most 1 MiB. */
const MAX_EVENT = 4 * 1024 * 1024;
/** Signatures are checked in the thread pool. */
const AT_ONCE = 32;

export interface CheckedReceipt {
  id: string;
  logIndex: number;
  recordedAt: string;
  bodySha256: string;
  statement: Statement;
  /** Of the key that signed it. */
  keyFingerprint: string;
  /** Whether it is from before the period, and in the pack because something in it refers to it. */
  isEarlier: boolean;
}

/** An event that its agent signed, as a link of the agent's chain. */
export interface SignedEvent {
  id: string;
  logIndex: number;
  agentId: string;
  bodySha256: string;
  previousSha256: string | null;
  /** Of the key that signed it. */
  keyFingerprint: string;
  isEarlier: boolean;
}

export interface CheckedEntries {
  /** In the order of the log. */
  receipts: CheckedReceipt[];
  /** Likewise. */
  signedEvents: SignedEvent[];
  events: Map<string, EventBundle>;
  /** Of those, the ids that are from outside the range of bodies. */
  otherEvents: Set<string>;
  /** Receipts of a version that is not known here: nothing could be counted with them. */
  unread: string[];
}

/** All receipts and events: each by itself, and that each leaf of the period has its own. What does not hold is not in the result. */
export async function checkEntries(
  files: PackFiles,
  findings: Findings,
  log: PackLog,
  agents: ReadonlyMap<string, KnownAgent>,
  range: CheckedRange,
): Promise<CheckedEntries> {
  const found: CheckedEntries = {
    receipts: [],
    signedEvents: [],
    events: new Map(),
    otherEvents: new Set(),
    unread: [],
  };
  const ids = idsOf(files);
  requireComplete(findings, range.leaves, ids);
  const named = { receipts: 0, events: 0 };
  for (let at = 0; at < ids.length; at += AT_ONCE)
    await Promise.all(
      ids.slice(at, at + AT_ONCE).map(async (id) => {
        const leaf = range.leaves.get(id);
        if (id.startsWith("rcpt_")) {
          named.receipts += 1;
          const receipt = await checkReceipt(files, findings, log, agents, { id, leaf });
          if (receipt === "unread") found.unread.push(id);
          else if (receipt !== null) found.receipts.push(receipt);
        } else {
          named.events += 1;
          const checked = await checkEvent(files, log, agents, { id, leaf });
          if (checked === null) return;
          found.events.set(id, checked.bundle);
          if (checked.signed !== null) found.signedEvents.push(checked.signed);
          if (leaf === undefined) found.otherEvents.add(id);
        }
      }),
    );
  found.receipts.sort((a, b) => a.logIndex - b.logIndex);
  found.signedEvents.sort((a, b) => a.logIndex - b.logIndex);
  requireOthersOutside(files, findings, range, found);
  findings.hold("receipts", `${named.receipts} receipts`);
  findings.hold("events", `${named.events} events${unsignedOf(findings, found)}`);
  findings.hold("complete", `${range.leaves.size} entries, each with what its leaf covers`);
  return found;
}

/** The kinds that agents report and sign. */
const REPORTED: ReadonlySet<string> = new Set(["backup_failed", "restore_failed", "attestation_failed"]);

/**
 * What is in the log in an agent's name and not signed by it. Agents of earlier versions signed no events, so that alone leaves nothing open;
 * one that has signed events signs them all.
 */
function unsignedOf(findings: Findings, { events, signedEvents }: CheckedEntries): string {
  const since = new Map<string, number>();
  for (const { agentId, logIndex } of signedEvents)
    since.set(agentId, Math.min(logIndex, since.get(agentId) ?? Infinity));
  const unsigned = [...events.values()].filter(
    ({ leaf, envelope }) =>
      envelope === undefined && leaf.actor_id.startsWith("agent_") && REPORTED.has(leaf.kind),
  );
  const [first, ...others] = unsigned.filter(
    ({ leaf, inclusion_proof }) => inclusion_proof.log_index > (since.get(leaf.actor_id) ?? Infinity),
  );
  if (first !== undefined)
    findings.leaveOpen(
      "events",
      `${others.length + 1} events are in the names of agents that signed events before, and not signed: the service may have made them up. The first is ${first.leaf.id} of ${first.leaf.actor_id}: ask the host for its events/`,
    );
  return unsigned.length === 0
    ? ""
    : `; ${unsigned.length} of them that an agent is said to have reported are not signed: they are the service's word`;
}

const FILE = /^(?:receipts\/(rcpt_[0-9a-z]+)|events\/(evt_[0-9a-z]+))\.json$/;

function idsOf(files: PackFiles): string[] {
  return files.paths().flatMap((path) => {
    const [, receipt, event] = FILE.exec(path) ?? [];
    return receipt ?? event ?? [];
  });
}

function requireComplete(
  findings: Findings,
  leaves: ReadonlyMap<string, RangeLeaf>,
  ids: readonly string[],
): void {
  const present = new Set(ids);
  for (const { index, leaf } of leaves.values())
    if (!present.has(leaf.id))
      findings.fail(
        "complete",
        `leaf ${index} (${leaf.kind}, ${leaf.id}) of ${leaf.recorded_at} is left out`,
      );
}

/** What is not of the period says so, and nothing of the period lies outside the range. */
function requireOthersOutside(
  { manifest }: PackFiles,
  findings: Findings,
  { range, leaves }: CheckedRange,
  { receipts, events, otherEvents }: CheckedEntries,
): void {
  const others = [
    ...receipts.filter(({ isEarlier }) => isEarlier),
    ...[...otherEvents].flatMap((id) => {
      const leaf = events.get(id)?.leaf;
      return leaf === undefined ? [] : [{ id, recordedAt: leaf.recorded_at }];
    }),
  ];
  for (const { id, recordedAt } of others)
    if (!leaves.has(id) && recordedAt >= manifest.period.from && recordedAt < range.bodies_until)
      findings.fail("complete", `${id} was recorded in the period and lies outside the range of leaves`);
  // Of these only each source's last backup counts, for the data that could be had when the period began.
  for (const { id, recordedAt, statement } of receipts.filter(({ isEarlier }) => isEarlier))
    if (recordedAt >= manifest.period.from || statement.predicateType !== PREDICATE_BACKUP)
      findings.fail("complete", `${id} is no backup from before the period, and not of the period`);
}

interface Named {
  id: string;
  leaf: RangeLeaf | undefined;
}

async function checkReceipt(
  files: PackFiles,
  findings: Findings,
  log: PackLog,
  agents: ReadonlyMap<string, KnownAgent>,
  { id, leaf: place }: Named,
): Promise<CheckedReceipt | "unread" | null> {
  const path = receiptFile(id);
  const bundle = await files.parsed("receipts", path, MAX_BUNDLE_SIZE, (bytes) => {
    const parsed = parseBundle(bytes);
    requirePlace(parsed, id, place, log);
    return parsed;
  });
  if (bundle === null) return null;
  const agent = agents.get(bundle.leaf.actor_id);
  if (agent === undefined) {
    findings.fail("receipts", `${path}: the pack has no key of ${bundle.leaf.actor_id}, who signed it`);
    return null;
  }
  const key = signingKey(agent, bundle.envelope);
  const { verdict, statement, checks } = await verifyReceipt({
    bundle,
    publicKey: key.publicKey,
    logKey: log.key,
    requireLog: true,
  });
  if (verdict === "cannot_tell") {
    const open = checks.find((check) => check.id === "statement" && check.result === "not_checked");
    findings.leaveOpen("receipts", `${path}: ${open?.detail ?? "not everything could be checked"}`);
    return "unread";
  }
  if (verdict !== "true" || statement === undefined) {
    const failed = checks.filter(({ result }) => result === "failed");
    findings.fail("receipts", `${path}: ${failed.map((check) => `${check.id}: ${check.detail}`).join(", ")}`);
    return null;
  }
  if (!countsAt(key, statement.predicate.finished_at)) {
    findings.fail("receipts", `${path}: it is signed with a key that was replaced before the run ended`);
    return null;
  }
  return {
    id,
    logIndex: bundle.inclusion_proof.log_index,
    recordedAt: bundle.leaf.recorded_at,
    bodySha256: bundle.leaf.body_sha256,
    statement,
    keyFingerprint: key.fingerprint,
    isEarlier: place === undefined,
  };
}

/** The one that the envelope names. What it names is not signed, and only ever chooses among the agent's. */
function signingKey({ keys, inUse }: KnownAgent, envelope: EnvelopeJson): TrustedKey {
  const keyid = envelope.signatures[0]?.keyid;
  return keys.find(({ fingerprint }) => fingerprint === keyid) ?? inUse;
}

async function checkEvent(
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
    if (!log.key.name.endsWith(`/${bundle.leaf.org_id}`)) refuse(`it is of ${bundle.leaf.org_id}`);
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

/** That a key of the agent's signed the envelope, which its bundle's form shows to be about this event. Throws ProofError. */
async function signedBy(
  agents: ReadonlyMap<string, KnownAgent>,
  { envelope: json, leaf, inclusion_proof }: EventBundle,
  isEarlier: boolean,
): Promise<SignedEvent | null> {
  if (json === undefined) return null;
  const agent = agents.get(leaf.actor_id);
  if (agent === undefined) refuse(`the pack has no key of ${leaf.actor_id}, who signed it`);
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

/** All proofs of a pack lead to its one checkpoint. */
function requirePlace(
  { leaf, inclusion_proof, checkpoint }: ReceiptBundle | EventBundle,
  id: string,
  place: RangeLeaf | undefined,
  log: PackLog,
): void {
  if (leaf.id !== id) refuse(`it is of ${leaf.id}`);
  if (checkpoint !== log.checkpoint) refuse("its checkpoint is not the pack's");
  if (inclusion_proof.tree_size !== log.size) refuse("its proof is for another tree than the checkpoint's");
  if (place !== undefined && place.index !== inclusion_proof.log_index)
    refuse(`it says leaf ${inclusion_proof.log_index}, and is leaf ${place.index}`);
}

function refuse(why: string): never {
  throw new ProofError("malformed_evidence", why);
}
