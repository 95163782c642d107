import { plural } from "../text/plural.ts";
import { sha256 } from "#sha256";
import { fromBase64 } from "../base64.ts";
import { concatBytes, type Hash, utf8 } from "../bytes.ts";
import { hashFromHex, toHex } from "../hex.ts";
import { listOf, members, nonEmptyText, oneOf, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { formatLeaf } from "../log/leaf.ts";
import { leafHash } from "../merkle/hashing.ts";
import { verifyInclusion } from "../merkle/verify-inclusion.ts";
import { isLogOf, openLogCheckpoint } from "../log/generation-name.ts";
import { parseCheckpoint } from "../notes/checkpoint.ts";
import { parseNote } from "../notes/note.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import { sha256Hex, typeId } from "../shapes.ts";
import { type Draw, PREDICATE_EVENT, STATEMENT_TYPE } from "./statement.ts";

/** The kind of the event that declares a draw. */
export const DRAW_DECLARED = "draw_declared";
/** How many backups a draw may be among. An event's detail has room for no more. */
export const MAX_CANDIDATES = 900;

const COMMITMENT = utf8("attestore.dev/draw-secret/v1\n");
const SEED = utf8("attestore.dev/draw/v1\n");

/** What an agent declared before it could know what would be drawn. */
export interface DeclaredDraw {
  orgId: string;
  agentId: string;
  sourceId: string;
  /** In ascending order, each once. */
  candidates: readonly string[];
  /** How many more backups are kept that are newer than the candidates. */
  omitted: number;
  commitment: string;
  /** The draw before, if its backup is gone and nothing can come of it. */
  replaces: ReplacedDraw | null;
}

/** What shows which backup a draw without a result had chosen. */
export interface ReplacedDraw {
  event_id: string;
  backup_id: string;
  /** As in that draw's receipt, had there been one. */
  hashes: string[];
  checkpoint: string;
  secret: string;
}

const DECLARED = members(
  {
    _type: oneOf(STATEMENT_TYPE),
    predicateType: oneOf(PREDICATE_EVENT),
    predicate: members(
      {
        kind: oneOf(DRAW_DECLARED),
        org_id: typeId("org"),
        agent_id: typeId("agent"),
        source_id: typeId("src"),
        detail: members(
          {
            v: oneOf(1),
            candidates: listOf(typeId("bkp"), { min: 1, max: MAX_CANDIDATES }),
            commitment: sha256Hex,
          },
          {
            omitted: wholeNumber,
            replaces: members({
              event_id: typeId("evt"),
              backup_id: typeId("bkp"),
              hashes: listOf(sha256Hex, { max: 64 }),
              checkpoint: nonEmptyText,
              secret: sha256Hex,
            }),
          },
          true,
        ),
      },
      {},
      true,
    ),
  },
  {},
  true,
);

/**
 * Reads the payload of a `draw_declared` event. Throws `malformed_draw`, `unknown_version`,
 * `malformed_json` or `malformed_utf8`.
 */
export function declaredDraw(payload: Uint8Array): DeclaredDraw {
  const value = parseJson(payload);
  requireKnownShape(value, DECLARED, "malformed_draw", "the draw's declaration");
  const { predicate } = value as unknown as {
    predicate: {
      org_id: string;
      agent_id: string;
      source_id: string;
      detail: Pick<DeclaredDraw, "candidates" | "commitment"> &
        Partial<Pick<DeclaredDraw, "omitted" | "replaces">>;
    };
  };
  const { candidates, omitted = 0, commitment, replaces = null } = predicate.detail;
  if (candidates.some((id, i) => i > 0 && id <= (candidates[i - 1] ?? "")))
    throw new ProofError("malformed_draw", "the draw's candidates are not in order, each once");
  // Whoever may leave out any number can choose: among one candidate there is nothing to draw.
  if (omitted > 0 && candidates.length < MAX_CANDIDATES)
    throw new ProofError(
      "malformed_draw",
      `the draw leaves out ${plural(omitted, "kept backup")}, and has only ${plural(candidates.length, "candidate")} of at most ${MAX_CANDIDATES}`,
    );
  return {
    orgId: predicate.org_id,
    agentId: predicate.agent_id,
    sourceId: predicate.source_id,
    candidates,
    omitted,
    commitment,
    replaces,
  };
}

/**
 * What the declaration says of the secret that the agent shows later: the SHA-256, in lower-case
 * hex, of a line with the commitment's name and the secret.
 */
export function drawCommitment(secret: Uint8Array): string {
  return toHex(sha256(concatBytes(COMMITMENT, secret)));
}

/**
 * The SHA-256 that decides a draw, of a line with its name, the declaration's leaf hash, the secret
 * and the signature. `signature` is the log's, over its first head that covers the leaf: the agent
 * cannot predict it. The log does not know `secret` when it signs, so neither side alone can choose
 * the seed.
 */
export function drawSeed(of: { leafHash: Hash; secret: Uint8Array; signature: Uint8Array }): Hash {
  return sha256(concatBytes(SEED, of.leafHash, of.secret, of.signature));
}

/**
 * A number below `count`, each as likely: the first of the seed's sixteen numbers of 16 bits
 * (big-endian) that is below the largest multiple of `count`, modulo `count`. Without one, the
 * SHA-256 of the seed takes its place. Throws `out_of_range` unless `count` is 1 to 65,536.
 */
export function drawnIndex(seed: Hash, count: number): number {
  if (!Number.isSafeInteger(count) || count < 1 || count > 0x1_0000)
    throw new ProofError("out_of_range", `nothing can be drawn among ${count}`);
  const limit = 0x1_0000 - (0x1_0000 % count);
  for (let block = seed; ; block = sha256(block)) {
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    for (let at = 0; at < block.length; at += 2) {
      const number = view.getUint16(at);
      if (number < limit) return number % count;
    }
  }
}

export interface OpenedDraw extends DeclaredDraw {
  /** Of the head that decided: a log that lost entries has later generations. */
  origin: string;
  logIndex: number;
  /** The event's id. */
  eventId: string;
  /** SHA-256 of the event's payload, as in its leaf. */
  bodySha256: string;
  /** When the log recorded the declaration. */
  recordedAt: string;
  /** Root of the log's head that decided, of `logIndex + 1` leaves. */
  rootHash: Hash;
  /** The candidate that the draw chose. */
  backupId: string;
}

/**
 * Recomputes a draw. Without the log's key, the checkpoint's signature is not verified, and the
 * caller must not believe the choice. Throws ProofError.
 */
export async function openDraw(draw: Draw, logKey: NoteVerifier | undefined): Promise<OpenedDraw> {
  const payload = fromBase64(draw.statement);
  const declared = declaredDraw(payload);
  const { leaf } = draw;
  const differences = [
    leaf.kind !== DRAW_DECLARED && "its leaf is of another kind",
    leaf.body_sha256 !== toHex(sha256(payload)) && "its leaf covers another declaration",
    leaf.org_id !== declared.orgId && "its leaf belongs to another organisation",
    leaf.actor_id !== declared.agentId && "its leaf is another agent's",
    drawCommitment(hashFromHex(draw.secret)) !== declared.commitment &&
      "its secret is not the one that was declared",
  ].filter((difference) => typeof difference === "string");
  if (differences.length > 0) throw invalid(differences.join("; "));
  const { checkpoint, signature } = await readHead(draw, logKey);
  const hash = leafHash(formatLeaf(leaf));
  verifyInclusion({
    leafIndex: BigInt(draw.log_index),
    treeSize: checkpoint.size,
    leafHash: hash,
    rootHash: checkpoint.rootHash,
    hashes: draw.hashes.map(hashFromHex),
  });
  const seed = drawSeed({ leafHash: hash, secret: hashFromHex(draw.secret), signature });
  const backupId = declared.candidates[drawnIndex(seed, declared.candidates.length)];
  if (backupId === undefined) throw new Error("a draw chose none of its candidates");
  return {
    ...declared,
    origin: checkpoint.origin,
    logIndex: draw.log_index,
    eventId: leaf.id,
    bodySha256: leaf.body_sha256,
    recordedAt: leaf.recorded_at,
    rootHash: checkpoint.rootHash,
    backupId,
  };
}

/**
 * The log's first head that covers the leaf, and the log's one signature. Any later head would do
 * for a proof, and would let the agent choose among many.
 */
async function readHead({ checkpoint: note, log_index, leaf }: Draw, logKey: NoteVerifier | undefined) {
  const { text, signatures } = parseNote(note);
  const checkpoint = logKey === undefined ? parseCheckpoint(text) : await openLogCheckpoint(note, logKey);
  const { origin, size, extensions } = checkpoint;
  const [line, ...others] = signatures.filter(({ name }) => name === origin);
  if (!isLogOf(origin, leaf.org_id)) throw invalid(`${origin} is not the log of ${leaf.org_id}`);
  if (extensions.length > 0) throw invalid("its checkpoint has extension lines");
  if (size !== BigInt(log_index) + 1n)
    throw invalid(
      `the first head of the log that covers leaf ${log_index} has ${plural(log_index + 1, "leaf", "leaves")}, and its checkpoint ${size}`,
    );
  if (line === undefined || others.length > 0)
    throw invalid(`its checkpoint does not have exactly one signature by ${origin}`);
  return { checkpoint, signature: line.signature };
}

function invalid(why: string): ProofError {
  return new ProofError("draw_invalid", `the draw is not valid: ${why}`);
}
