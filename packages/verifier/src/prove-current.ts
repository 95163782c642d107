import {
  equalBytes,
  formatLeaf,
  hashFromHex,
  leafHash,
  openLogCheckpoint,
  parseCheckpoint,
  parseLogName,
  parseJson,
  parseLogGenerations,
  parseLogProof,
  parseNote,
  ProofError,
  requireNoFork,
  rollbackText,
  toHex,
  verifyConsistency,
  verifyGenerations,
  verifyInclusion,
  verifyLostHead,
  type Checkpoint,
  type JsonObject,
  type LogProof,
  type NoteVerifier,
  type OpenedLogCheckpoint,
  type ReceiptBundle,
  plural,
} from "@attestore/proof";
import { CannotTell } from "./cannot-tell.ts";
import type { CheckedLine } from "./outcome.ts";
import { get, type Service } from "./service.ts";

const TITLES = {
  current_checkpoint: "current checkpoint signed by the log",
  current_inclusion: "receipt in the current log",
  consistency: "log has only grown since the bundle's checkpoint",
  generation: "generation of the current log, and the events that began it",
} as const;
type Id = keyof typeof TITLES;

/** Checks whether the service's log still contains a bundle whose own proof is valid. */
export async function proveCurrent(
  service: Service,
  bundle: ReceiptBundle,
  logKey: NoteVerifier,
): Promise<CheckedLine[]> {
  const leaf = leafHash(formatLeaf(bundle.leaf));
  const then = parseCheckpoint(parseNote(bundle.checkpoint).text);
  const { size, generation } = await readHead(service, logKey);
  const went = generation > parseLogName(then.origin).generation;
  const since = went ? await generationsSince(service, { logKey, generation }, then) : [];
  const lost = since.find(({ id, result }) => id === "generation" && result === "not_checked");
  if (lost !== undefined || since.some(({ result }) => result === "failed")) return since;
  if (BigInt(size) < then.size)
    return [
      failed(
        "consistency",
        `the service shows a log of ${plural(size, "leaf", "leaves")}, but the bundle's had ${then.size}`,
      ),
    ];
  const query = `leaf=${toHex(leaf)}&tree_size=${size}&from=${then.size}`;
  const answer = await get(service, `/v1/log/proof?${query}`);

  let proof: LogProof;
  let now: OpenedLogCheckpoint;
  try {
    proof = parseLogProof(answer);
    now = await openLogCheckpoint(proof.checkpoint, logKey);
  } catch (error) {
    return [failed("current_checkpoint", messageOf(error))];
  }
  const { inclusion, consistency } = proof;
  return [
    ...since,
    held("current_checkpoint", `signed by ${now.origin} at ${plural(now.size, "leaf", "leaves")}`),
    check("current_inclusion", `leaf ${inclusion.log_index} of ${now.size}`, () => {
      if (inclusion.log_index !== bundle.inclusion_proof.log_index)
        throw new ProofError("inclusion_invalid", `the service now calls it leaf ${inclusion.log_index}`);
      verifyInclusion({
        leafIndex: BigInt(inclusion.log_index),
        treeSize: now.size,
        leafHash: leaf,
        rootHash: now.rootHash,
        hashes: inclusion.hashes.map(hashFromHex),
      });
    }),
    check("consistency", `from ${then.size} to ${plural(now.size, "leaf", "leaves")}`, () => {
      verifyConsistency({
        from: then.size,
        to: now.size,
        fromRoot: then.rootHash,
        toRoot: now.rootHash,
        hashes: (consistency?.hashes ?? []).map(hashFromHex),
      });
    }),
  ];
}

/** Chooses only which tree to ask about. The checkpoint in the proof decides what is true. */
async function readHead(
  service: Service,
  logKey: NoteVerifier,
): Promise<{ size: number; generation: number }> {
  const head = await get(service, "/v1/log/head");
  try {
    const value = parseJson(head);
    if (
      typeof value === "object" &&
      value !== null &&
      "tree_size" in value &&
      Number.isSafeInteger(value["tree_size"])
    )
      return { size: Number(value["tree_size"]), generation: await generationOf(value, logKey) };
  } catch {
    // Treated below like any other answer without a size.
  }
  throw new CannotTell("service_refused", `${service.url.host} did not answer with a log's head`);
}

/** The first, if the head is not signed: the checkpoint in the proof is refused then. */
async function generationOf({ checkpoint: note }: JsonObject, logKey: NoteVerifier): Promise<number> {
  try {
    return (await openLogCheckpoint(typeof note === "string" ? note : "", logKey)).generation;
  } catch (error) {
    if (error instanceof ProofError) return 1;
    throw error;
  }
}

/**
 * How the log's later generations began. If the log lost the bundle's checkpoint, nobody can tell
 * by it whether the receipt is in the log now: its agent hands it in again.
 */
async function generationsSince(
  service: Service,
  { logKey, generation }: { logKey: NoteVerifier; generation: number },
  then: Checkpoint,
): Promise<CheckedLine[]> {
  const answer = await get(service, `/v1/log/generations?tree_size=${then.size}`);
  try {
    const { began, lost } = parseLogGenerations(answer);
    const rollbacks = await verifyGenerations(began, logKey, generation);
    const named = await Promise.all(lost.map((event) => verifyLostHead(event, logKey)));
    requireNoFork(rollbacks, named);
    const text = rollbacks.map(rollbackText).join("; ");
    const end = rollbacks.find(({ ended }) => ended === then.origin);
    if (end === undefined || then.size <= BigInt(end.size)) return [held("generation", text)];
    const isNamed = [...end.lost, ...named].some(
      ({ origin, size, rootHash }) =>
        origin === then.origin && BigInt(size) === then.size && equalBytes(rootHash, then.rootHash),
    );
    const what = isNamed ? "and its events name it" : "and none of its events names it";
    const line = notProven(
      `the log lost the head of ${plural(then.size, "entry", "entries")} that proves this receipt, ${what}: ask the agent's host for the receipt's new bundle`,
    );
    return [{ ...line, id: "generation", title: TITLES.generation, detail: `${line.detail}; ${text}` }];
  } catch (error) {
    return [failed("generation", messageOf(error))];
  }
}

function check(id: Id, detail: string, verify: () => void): CheckedLine {
  try {
    verify();
    return held(id, detail);
  } catch (error) {
    return failed(id, messageOf(error));
  }
}

const held = (id: Id, detail: string): CheckedLine => ({
  id,
  title: TITLES[id],
  result: "held",
  detail,
  hint: null,
});
const failed = (id: Id, detail: string): CheckedLine => ({
  id,
  title: TITLES[id],
  result: "failed",
  detail,
  hint: null,
});

export const notProven = (why: string): CheckedLine => ({
  id: "current_checkpoint",
  title: TITLES.current_checkpoint,
  result: "not_checked",
  detail: why,
  hint: null,
});

function messageOf(error: unknown): string {
  if (error instanceof ProofError) return error.message;
  throw error;
}
