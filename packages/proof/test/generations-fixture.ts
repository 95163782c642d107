import {
  canonicalJson,
  CompactRange,
  equalBytes,
  type ServiceEventBundle,
  formatLeaf,
  formatVerifierKey,
  hashFromHex,
  type Leaf,
  leafHash,
  LOG_HEAD_LOST,
  LOG_ROLLED_BACK,
  parseLogName,
  proveConsistency,
  proveInclusion,
  sha256,
  toHex,
  utf8,
  type Hash,
} from "../src/index.ts";
import { ids, LOG_NAME, signedCheckpoint } from "./receipt-fixture.ts";
import { type TestKey, verifierOf } from "./signing-keys.ts";

const AT = "2026-11-20T03:00:00.000Z";
let number = 0;

/** A log that can lose entries and begin its next generation, as the service does it. */
export class GenerationsLog {
  readonly #key: TestKey;
  #origin = LOG_NAME;
  #leaves: Hash[] = [];
  readonly events: ServiceEventBundle[] = [];

  /** With the receipt's leaf at `index`, if one is given, among others as in `bundleOf`. */
  constructor(key: TestKey, entries: number, receipt?: { leaf: Leaf; index: number }) {
    this.#key = key;
    for (let n = 0; n < entries; n++)
      this.append(leafHash(receipt?.index === n ? formatLeaf(receipt.leaf) : utf8(`another leaf ${n}`)));
  }

  get size(): number {
    return this.#leaves.length;
  }
  get origin(): string {
    return this.#origin;
  }

  append(hash: Hash): number {
    return this.#leaves.push(hash) - 1;
  }

  root(size = this.size): Hash {
    return this.#build(size).root;
  }

  checkpoint(size = this.size, origin = this.#origin): Promise<string> {
    return signedCheckpoint(this.#key, size, this.root(size), origin);
  }

  inclusion(index: number, size = this.size): Hash[] {
    return proveInclusion(index, size, this.#build(size).read);
  }

  consistency(from: number, to = this.size): Hash[] {
    return proveConsistency(from, to, this.#build(to).read);
  }

  /** The log loses all but `size` entries and goes on. `said` changes what its event says. */
  async rollBack(
    size: number,
    lost: { size: number; rootHash: Hash }[] = [],
    said: Record<string, unknown> = {},
  ): Promise<ServiceEventBundle> {
    const { first, generation } = parseLogName(this.#origin);
    this.#leaves = this.#leaves.slice(0, size);
    const detail = {
      v: 1,
      message: "the log lost entries",
      generation: generation + 1,
      ended: this.#origin,
      tree_size: size,
      root_hash: toHex(this.root()),
      lost: lost.map((head) => ({ tree_size: head.size, root_hash: toHex(head.rootHash) })),
      by: "alice",
      because: "failover",
      ...said,
    };
    this.#origin = `${first}/${generation + 1}`;
    const bundle = await this.#event(LOG_ROLLED_BACK, detail);
    this.events.push(bundle);
    return bundle;
  }

  lose(origin: string, { size, rootHash }: { size: number; rootHash: Hash }): Promise<ServiceEventBundle> {
    return this.#event(LOG_HEAD_LOST, { v: 1, origin, tree_size: size, root_hash: toHex(rootHash) });
  }

  async #event(kind: string, detail: Record<string, unknown>): Promise<ServiceEventBundle> {
    const event = { kind, occurred_at: AT, detail };
    const leaf = {
      v: 1 as const,
      kind,
      org_id: ids.org,
      id: `evt_01jd3gqq8zb14p1s0a5r2h${String(++number).padStart(4, "0")}`,
      actor_id: "service",
      recorded_at: AT,
      body_sha256: toHex(sha256(utf8(canonicalJson(event)))),
    };
    const index = this.append(leafHash(formatLeaf(leaf)));
    return {
      event,
      leaf,
      inclusion_proof: {
        log_index: index,
        tree_size: this.size,
        hashes: this.inclusion(index).map(toHex),
      },
      checkpoint: await this.checkpoint(),
      log: { origin: this.#origin, verifier_key: formatVerifierKey(verifierOf(this.#key, this.#origin)) },
    };
  }

  #build(size: number): { root: Hash; read: (level: number, index: number) => Hash } {
    const nodes = new Map<string, Hash>();
    const range = CompactRange.empty();
    for (const hash of this.#leaves.slice(0, size))
      range.append(hash, (level, index, node) => nodes.set(`${level}/${index}`, node));
    const read = (level: number, index: number): Hash => {
      const node = nodes.get(`${level}/${index}`);
      if (node === undefined) throw new Error(`the log has no node ${level}/${index}`);
      return node;
    };
    return { root: range.root(), read };
  }
}

/** The same root with one bit changed. */
export function otherRoot(root: Hash): Hash {
  const other = hashFromHex(toHex(root));
  other[0] = (other[0] ?? 0) ^ 1;
  if (equalBytes(other, root)) throw new Error("the root did not change");
  return other;
}
