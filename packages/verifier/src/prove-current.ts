import {
  formatLeaf,
  hashFromHex,
  leafHash,
  openCheckpoint,
  parseCheckpoint,
  parseJson,
  parseLogProof,
  parseNote,
  ProofError,
  toHex,
  verifyConsistency,
  verifyInclusion,
  type LogProof,
  type NoteVerifier,
  type OpenedCheckpoint,
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
  const size = await headSize(service);
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
  let now: OpenedCheckpoint;
  try {
    proof = parseLogProof(answer);
    now = await openCheckpoint(proof.checkpoint, logKey);
  } catch (error) {
    return [failed("current_checkpoint", messageOf(error))];
  }
  const { inclusion, consistency } = proof;
  return [
    held("current_checkpoint", `signed by ${logKey.name} at ${plural(now.size, "leaf", "leaves")}`),
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
async function headSize(service: Service): Promise<number> {
  const head = await get(service, "/v1/log/head");
  try {
    const value = parseJson(head);
    if (
      typeof value === "object" &&
      value !== null &&
      "tree_size" in value &&
      Number.isSafeInteger(value["tree_size"])
    )
      return Number(value["tree_size"]);
  } catch {
    // Treated below like any other answer without a size.
  }
  throw new CannotTell("service_refused", `${service.url.host} did not answer with a log's head`);
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
