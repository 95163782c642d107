import { hashFromHex } from "../hex.ts";
import type { Hash } from "../bytes.ts";
import { equalBytes } from "../bytes.ts";
import { serviceEventFromJson, type ServiceEventBundle } from "./service-event.ts";
import {
  listOf,
  matching,
  members,
  nonEmptyText,
  oneOf,
  requireKnownShape,
  wholeNumber,
} from "../json/shape.ts";
import { CompactRange } from "../merkle/compact-range.ts";
import { leafHash } from "../merkle/hashing.ts";
import { verifyInclusion } from "../merkle/verify-inclusion.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { formatVerifierKey } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import { sha256Hex } from "../shapes.ts";
import { plainLine } from "../text/plain-text.ts";
import { plural } from "../text/plural.ts";
import {
  formatLogName,
  isLogOf,
  keyOfGeneration,
  MAX_GENERATION,
  openLogCheckpoint,
  parseLogName,
} from "./generation-name.ts";
import { formatLeaf, isServiceLeaf } from "./leaf.ts";

/** The kind of the event with which a log's next generation begins. */
export const LOG_ROLLED_BACK = "log_rolled_back";
/** The kind of the event that names a lost head which came to light later. */
export const LOG_HEAD_LOST = "log_head_lost";
/** More lost heads than this have events of their own. */
export const MAX_LOST_IN_EVENT = 200;

/** A head that the log signed and whose entries are gone. */
export interface LostLogHead {
  /** Of the generation that signed it. */
  origin: string;
  size: number;
  rootHash: Hash;
}

/** What a `log_rolled_back` event says, and where it is. */
export interface Rollback {
  /** The generation that it begins. */
  generation: number;
  origin: string;
  /** The origin that ended. */
  ended: string;
  /** The size that was left. The event is the next entry. */
  size: number;
  rootHash: Hash;
  /** The heads that were known to be lost, in the order of their sizes. */
  lost: LostLogHead[];
  by: string;
  because: string;
  eventId: string;
  /** When the log recorded it. */
  at: string;
}

const generation = matching(
  (value) => Number.isSafeInteger(value) && Number(value) >= 2 && Number(value) <= MAX_GENERATION,
  "is not the number of a later generation",
);
const HEAD = { tree_size: wholeNumber, root_hash: sha256Hex };

const ROLLED_BACK = members(
  {
    v: oneOf(1),
    generation,
    ended: nonEmptyText,
    ...HEAD,
    lost: listOf(members(HEAD), { max: MAX_LOST_IN_EVENT }),
    by: nonEmptyText,
    because: nonEmptyText,
  },
  {},
  true,
);

const HEAD_LOST = members({ v: oneOf(1), origin: nonEmptyText, ...HEAD }, {}, true);

interface HeadJson {
  tree_size: number;
  root_hash: string;
}

/**
 * Verifies the event that began a generation: it is the first entry after what was left, in a head
 * that the log's key signed for that generation, and the named root is that of the entries before
 * it. Throws ProofError.
 */
export async function verifyRollback(bundle: ServiceEventBundle, log: NoteVerifier): Promise<Rollback> {
  const { event, leaf, inclusion_proof: proof } = bundle;
  if (serviceEventFromJson(bundle).event.kind !== LOG_ROLLED_BACK)
    throw invalid(`${leaf.id} is not the log's own ${LOG_ROLLED_BACK}`);
  requireKnownShape(event.detail, ROLLED_BACK, "generation_invalid", `the detail of ${leaf.id}`);
  const said = event.detail as unknown as HeadJson & {
    generation: number;
    ended: string;
    lost: HeadJson[];
    by: string;
    because: string;
  };
  const { first } = parseLogName(log.name);
  const origin = formatLogName({ first, generation: said.generation });
  const before = formatLogName({ first, generation: said.generation - 1 });
  const checkpoint = await requireInTree(bundle, log);
  const differences = [
    checkpoint.origin !== origin && `its checkpoint is of ${checkpoint.origin}, and it begins ${origin}`,
    said.ended !== before && `it ends ${said.ended}, and what comes before ${origin} is ${before}`,
    proof.log_index !== said.tree_size && "it is not the entry after those that are left",
    proof.tree_size !== said.tree_size + 1 && "its proof is not in the generation's first head",
  ].filter((difference) => typeof difference === "string");
  if (differences.length > 0) throw invalid(`${leaf.id}: ${differences.join("; ")}`);
  // The proof of a tree's last leaf is the right edge of the tree before it.
  const left = CompactRange.from(said.tree_size, proof.hashes.map(hashFromHex).toReversed()).root();
  if (!equalBytes(left, hashFromHex(said.root_hash)))
    throw invalid(`${leaf.id}: its root is not that of the entries before it`);
  const lost = said.lost.map((head) => lostHead(before, head));
  if (lost.some(({ size }, n) => size <= Math.max(said.tree_size, lost[n - 1]?.size ?? 0)))
    throw invalid(
      `${leaf.id}: the lost heads are not in the order of their sizes, each once and larger than what is left`,
    );
  return {
    generation: said.generation,
    origin,
    ended: before,
    size: said.tree_size,
    rootHash: left,
    lost,
    by: said.by,
    because: said.because,
    eventId: leaf.id,
    at: leaf.recorded_at,
  };
}

/**
 * Verifies the events that began the generations 2 to `until`, one for each and in that order.
 * Throws `generation_invalid` if one is missing or too many, and what verifyRollback throws.
 */
export async function verifyGenerations(
  bundles: readonly ServiceEventBundle[],
  log: NoteVerifier,
  until: number,
): Promise<Rollback[]> {
  const rollbacks: Rollback[] = [];
  for (const bundle of bundles) {
    const rollback = await verifyRollback(bundle, log);
    const before = rollbacks.at(-1);
    if (rollback.generation !== (before?.generation ?? 1) + 1)
      throw invalid(`generation ${rollback.generation} follows on ${before?.generation ?? 1}`);
    if (before !== undefined && rollback.size <= before.size)
      throw invalid(`generation ${rollback.generation} lacks the event that began the one before it`);
    rollbacks.push(rollback);
  }
  if (rollbacks.length !== until - 1)
    throw invalid(
      `the log is in generation ${until}, and ${plural(rollbacks.length, "event")} that began one ${rollbacks.length === 1 ? "is" : "are"} there, not ${until - 1}`,
    );
  return rollbacks;
}

/**
 * What a `log_head_lost` event names. Verifies that it is in a head of the log's generation that
 * its checkpoint names. Throws ProofError.
 */
export async function verifyLostHead(bundle: ServiceEventBundle, log: NoteVerifier): Promise<LostLogHead> {
  await requireInTree(bundle, log);
  return readLostHead(bundle);
}

/**
 * What a `log_head_lost` event names, if something else has shown that the log has the event.
 * Throws `generation_invalid` if it is not the log's own, or names a head of another log, and
 * `unknown_version` for one of a later version.
 */
export function readLostHead({
  event,
  leaf,
}: Omit<ServiceEventBundle, "checkpoint" | "log" | "inclusion_proof">): LostLogHead {
  if (leaf.kind !== LOG_HEAD_LOST || event.kind !== LOG_HEAD_LOST || !isServiceLeaf(leaf))
    throw invalid(`${leaf.id} is not the log's own ${LOG_HEAD_LOST}`);
  requireKnownShape(event.detail, HEAD_LOST, "generation_invalid", `the detail of ${leaf.id}`);
  const said = event.detail as unknown as HeadJson & { origin: string };
  if (!isLogOf(said.origin, leaf.org_id)) throw invalid(`${leaf.id} names a head of another log`);
  return lostHead(said.origin, said);
}

/**
 * Throws `generation_invalid` if the heads that are named as lost contradict each other, or what is
 * left of their generation: two roots of one size under one origin are a fork, whatever they are
 * called.
 */
export function requireNoFork(rollbacks: readonly Rollback[], named: readonly LostLogHead[]): void {
  const roots = new Map<string, Hash>();
  for (const { origin, size, rootHash } of [...rollbacks.flatMap(({ lost }) => lost), ...named]) {
    const end = rollbacks.find(({ ended }) => ended === origin);
    if (end === undefined) throw invalid(`a head of ${origin} is named as lost, and that has not ended`);
    const known = roots.get(`${origin} ${size}`);
    if (size <= end.size || (known !== undefined && !equalBytes(known, rootHash)))
      throw invalid(`${origin} was forked: two roots of ${plural(size, "entry", "entries")} were signed`);
    roots.set(`${origin} ${size}`, rootHash);
  }
}

/** One line for people about a generation. Foreign text in it is escaped and cut. */
export function rollbackText({ generation, size, lost, by, because, eventId, at }: Rollback): string {
  return `generation ${generation} began with ${eventId} of ${at}: ${plural(size, "entry", "entries")} left, ${plural(lost.length, "lost head")} named, by ${plainLine(by.slice(0, 100))}: ${plainLine(because.slice(0, 200))}`;
}

/**
 * Throws `generation_invalid` unless a head of that size can be of that generation: signed after it
 * began, and before it ended. `rollbacks` are all generations of the log.
 */
export function requireHeadOf(
  rollbacks: readonly Rollback[],
  { origin, size }: { origin: string; size: number },
): void {
  const begun = rollbacks.find((rollback) => rollback.origin === origin);
  if (begun === undefined && parseLogName(origin).generation > 1) throw invalid(`no event began ${origin}`);
  if (begun !== undefined && size <= begun.size)
    throw invalid(
      `${origin} began after ${plural(begun.size, "entry", "entries")}, and a head of ${size} is signed`,
    );
  const end = rollbacks.find(({ ended }) => ended === origin);
  if (end !== undefined && size > end.size)
    throw invalid(
      `${origin} ended with ${plural(end.size, "entry", "entries")}, and a head of ${size} is signed`,
    );
}

async function requireInTree(
  { leaf, inclusion_proof: proof, checkpoint, log: named }: ServiceEventBundle,
  log: NoteVerifier,
) {
  const opened = await openLogCheckpoint(checkpoint, log);
  if (opened.extensions.length > 0) throw invalid("the checkpoint has extension lines");
  if (!isLogOf(opened.origin, leaf.org_id))
    throw invalid(`${opened.origin} is not the log of ${leaf.org_id}`);
  if (
    named.origin !== opened.origin ||
    named.verifier_key !== formatVerifierKey(keyOfGeneration(log, opened.origin))
  )
    throw invalid(`${leaf.id} names another log than its checkpoint`);
  if (BigInt(proof.tree_size) !== opened.size)
    throw invalid(`the proof of ${leaf.id} is for another tree than its checkpoint`);
  verifyInclusion({
    leafIndex: BigInt(proof.log_index),
    treeSize: opened.size,
    leafHash: leafHash(formatLeaf(leaf)),
    rootHash: opened.rootHash,
    hashes: proof.hashes.map(hashFromHex),
  });
  return opened;
}

function lostHead(origin: string, { tree_size, root_hash }: HeadJson): LostLogHead {
  return { origin, size: tree_size, rootHash: hashFromHex(root_hash) };
}

function invalid(why: string): ProofError {
  return new ProofError("generation_invalid", why);
}
