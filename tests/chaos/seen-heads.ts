import { hashFromHex, verifyConsistency, verifyInclusion } from "@attestore/proof";
import { openCheckpoint, type Checkpoint } from "../e2e/harness/checkpoint.ts";
import { type Answer, exchange } from "../e2e/harness/https.ts";
import type { WireAgent } from "../e2e/harness/organisation.ts";
import { until } from "../e2e/harness/wait.ts";
import type { Acknowledged } from "./receipt-stream.ts";

/** Every head of one organisation's log that anybody was shown. */
export class SeenHeads {
  readonly #agent: WireAgent;
  readonly #roots = new Map<number, string>();

  constructor(agent: WireAgent) {
    this.#agent = agent;
  }

  get sizes(): number[] {
    return [...this.#roots.keys()].toSorted((a, b) => a - b);
  }

  /**
   * Opens the head of an answer, checks the answer's proof, and keeps the head. Throws at the sight
   * of a fork.
   */
  take({ receipt }: Acknowledged): void {
    const checkpoint = openCheckpoint(receipt.checkpoint, this.#agent.log.verifier_key);
    verifyInclusion({
      leafIndex: BigInt(receipt.log_index),
      treeSize: BigInt(checkpoint.size),
      leafHash: hashFromHex(receipt.leaf_hash),
      rootHash: hashFromHex(checkpoint.rootHash),
      hashes: receipt.inclusion_proof.hashes.map(hashFromHex),
    });
    this.#keep(checkpoint);
  }

  /** Asks for the newest head, and for the proof that it extends each of these sizes. */
  async requireExtended(sizes: readonly number[]): Promise<void> {
    const answer = await this.#read("/v1/log/head");
    const newest = openCheckpoint(
      answer.json<{ checkpoint: string }>().checkpoint,
      this.#agent.log.verifier_key,
    );
    this.#keep(newest);
    const largest = this.sizes.at(-1) ?? 0;
    if (newest.size < largest)
      throw new Error(`a head of ${largest} leaves was seen, the newest has ${newest.size}`);
    for (const from of sizes) {
      const query = `leaf=0&tree_size=${newest.size}&from=${from}`;
      const proof = await this.#read(`/v1/log/proof?${query}`);
      if (proof.status !== 200) throw new Error(`${query}: ${proof.status} ${proof.body.toString()}`);
      const { consistency } = proof.json<{ consistency: { hashes: string[] } }>();
      verifyConsistency({
        from: BigInt(from),
        to: BigInt(newest.size),
        fromRoot: hashFromHex(this.#roots.get(from) ?? ""),
        toRoot: hashFromHex(newest.rootHash),
        hashes: consistency.hashes.map(hashFromHex),
      });
    }
  }

  /** Right after a fault, the service may still say that it cannot reach its database. */
  #read(path: string): Promise<Answer> {
    const { server, token } = this.#agent;
    return until(`${path} is answered`, async () => {
      const answer = await exchange(server, { method: "GET", path, token, idle_ms: 10_000 }).catch(
        () => null,
      );
      return answer !== null && answer.status !== 503 && answer;
    });
  }

  #keep({ size, rootHash }: Checkpoint): void {
    const seen = this.#roots.get(size);
    if (seen !== undefined && seen !== rootHash) throw new Error(`the log has two heads of ${size} leaves`);
    this.#roots.set(size, rootHash);
  }
}
