import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { newId } from "@attestore/contract";
import {
  canonicalJson,
  CompactRange,
  formatCheckpoint,
  formatLeaf,
  formatLogName,
  formatNote,
  formatVerifierKey,
  leafHash,
  LOG_HEAD_LOST,
  LOG_ROLLED_BACK,
  noteSignatureLine,
  noteVerifier,
  parseLogName,
  proveConsistency,
  proveInclusion,
  publicKeyFromSpki,
  sha256,
  toHex,
  utf8,
  type Hash,
  type Leaf,
  type NoteVerifier,
  type ServiceEventBundle,
} from "@attestore/proof";

/** A real transparency log, in memory. */
export class TestLog {
  readonly verifier: NoteVerifier;
  /** The events that began its generations, up to this one. */
  readonly began: ServiceEventBundle[] = [];
  /** The events that name heads of earlier generations as lost. */
  readonly lost: ServiceEventBundle[] = [];
  readonly #key: KeyObject;
  readonly #hashes: Hash[] = [];
  #nodes = new Map<string, Hash>();
  #range = CompactRange.empty();
  #roots: Hash[] = [CompactRange.empty().root()];

  constructor(origin: string, like?: TestLog) {
    const pair = like === undefined ? generateKeyPairSync("ed25519") : null;
    this.#key = pair?.privateKey ?? (like as TestLog).#key;
    if (like !== undefined) {
      this.verifier = noteVerifier(origin, "ed25519", like.verifier.publicKey);
      this.began.push(...like.began);
      return;
    }
    this.verifier = noteVerifier(
      origin,
      "ed25519",
      publicKeyFromSpki((pair as NonNullable<typeof pair>).publicKey.export({ type: "spki", format: "der" }))
        .bytes,
    );
  }

  get size(): number {
    return this.#hashes.length;
  }
  get verifierKey(): string {
    return formatVerifierKey(this.verifier);
  }

  append(leaf: Leaf): number {
    return this.appendHash(leafHash(formatLeaf(leaf)));
  }

  appendHash(hash: Hash): number {
    this.#range.append(hash, (level, index, node) => this.#nodes.set(`${level}/${index}`, node));
    this.#nodes.set(`0/${this.#hashes.length}`, hash);
    this.#hashes.push(hash);
    this.#roots.push(this.#range.root());
    return this.#hashes.length - 1;
  }

  /**
   * A log that begins with the first `size` leaves of this one and can sign in its name: an evil
   * twin.
   */
  fork(size: number): TestLog {
    const twin = new TestLog(this.verifier.name, this);
    for (const hash of this.#hashes.slice(0, size)) twin.appendHash(hash);
    return twin;
  }

  /**
   * Its next generation, with its first `size` leaves, as an operator begins it who names these
   * heads as lost. `said` changes what the event says.
   */
  nextGeneration(
    size: number,
    lost: readonly { size: number; rootHash: Hash }[],
    said: Record<string, unknown> = {},
  ): TestLog {
    const { first, generation } = parseLogName(this.verifier.name);
    const next = new TestLog(formatLogName({ first, generation: generation + 1 }), this);
    for (const hash of this.#hashes.slice(0, size)) next.appendHash(hash);
    next.began.push(
      next.#serviceEvent(LOG_ROLLED_BACK, {
        v: 1,
        generation: generation + 1,
        ended: this.verifier.name,
        tree_size: size,
        root_hash: toHex(next.rootHash),
        lost: lost.map((head) => ({ tree_size: head.size, root_hash: toHex(head.rootHash) })),
        by: "alice",
        because: "failover",
        ...said,
      }),
    );
    return next;
  }

  /** Names another head as lost. */
  nameLost(head: { origin: string; size: number; rootHash: Hash }): void {
    this.lost.push(
      this.#serviceEvent(LOG_HEAD_LOST, {
        v: 1,
        origin: head.origin,
        tree_size: head.size,
        root_hash: toHex(head.rootHash),
      }),
    );
  }

  #serviceEvent(kind: string, detail: Record<string, unknown>): ServiceEventBundle {
    const now = new Date().toISOString();
    const event = { kind, occurred_at: now, detail };
    const leaf: Leaf = {
      v: 1,
      kind,
      org_id: parseLogName(this.verifier.name).first.split("/").at(-1) ?? "",
      id: newId("event"),
      actor_id: "service",
      recorded_at: now,
      body_sha256: toHex(sha256(utf8(canonicalJson(event)))),
    };
    const index = this.append(leaf);
    return {
      event,
      leaf,
      inclusion_proof: this.inclusion(index),
      checkpoint: this.checkpoint(),
      log: { origin: this.verifier.name, verifier_key: this.verifierKey },
    };
  }

  rootAt(size: number): Hash {
    const root = this.#roots[size];
    if (root === undefined) throw new Error(`the log has no size ${size}`);
    return root;
  }

  get rootHash(): Hash {
    return this.#range.root();
  }

  hashAt(index: number): Hash {
    return this.#read(0, index);
  }

  checkpoint(size = this.size): string {
    const text = formatCheckpoint({ origin: this.#originOf(size), size, rootHash: this.rootAt(size) });
    const key = noteVerifier(this.#originOf(size), "ed25519", this.verifier.publicKey);
    return formatNote(text, [noteSignatureLine(key, sign(null, utf8(text), this.#key))]);
  }

  #originOf(size: number): string {
    const ended = this.began.find(({ event }) => size <= Number(event.detail["tree_size"]));
    return ended === undefined ? this.verifier.name : String(ended.event.detail["ended"]);
  }

  inclusion(index: number, size = this.size): { log_index: number; tree_size: number; hashes: string[] } {
    const hashes = proveInclusion(index, size, this.#read).map(toHex);
    return { log_index: index, tree_size: size, hashes };
  }

  consistency(from: number, to: number): { from: number; to: number; hashes: string[] } {
    return { from, to, hashes: proveConsistency(from, to, this.#read).map(toHex) };
  }

  readonly #read = (level: number, index: number): Hash => {
    const node = this.#nodes.get(`${level}/${index}`);
    if (node === undefined) throw new Error(`the log has no node ${level}/${index}`);
    return node;
  };
}
