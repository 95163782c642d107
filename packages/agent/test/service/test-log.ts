import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import {
  CompactRange,
  formatCheckpoint,
  formatLeaf,
  formatNote,
  formatVerifierKey,
  leafHash,
  noteSignatureLine,
  noteVerifier,
  proveConsistency,
  proveInclusion,
  publicKeyFromSpki,
  toHex,
  utf8,
  type Hash,
  type Leaf,
  type NoteVerifier,
} from "@attestore/proof";

/** A real transparency log, in memory. */
export class TestLog {
  readonly verifier: NoteVerifier;
  readonly #key: KeyObject;
  readonly #hashes: Hash[] = [];
  #nodes = new Map<string, Hash>();
  #range = CompactRange.empty();
  #roots: Hash[] = [CompactRange.empty().root()];

  constructor(origin: string, like?: TestLog) {
    const pair = like === undefined ? generateKeyPairSync("ed25519") : null;
    this.#key = pair?.privateKey ?? (like as TestLog).#key;
    this.verifier =
      like?.verifier ??
      noteVerifier(
        origin,
        "ed25519",
        publicKeyFromSpki(
          (pair as NonNullable<typeof pair>).publicKey.export({ type: "spki", format: "der" }),
        ).bytes,
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

  get rootHash(): Hash {
    return this.#range.root();
  }

  hashAt(index: number): Hash {
    return this.#read(0, index);
  }

  checkpoint(size = this.size): string {
    const rootHash = this.#roots[size];
    if (rootHash === undefined) throw new Error(`the log has no size ${size}`);
    const text = formatCheckpoint({ origin: this.verifier.name, size, rootHash });
    return formatNote(text, [noteSignatureLine(this.verifier, sign(null, utf8(text), this.#key))]);
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
