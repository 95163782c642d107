import { errorMessage } from "@attestore/host/errno";
import { equalBytes } from "@attestore/proof";
import type { Head, SignedHeadStore } from "../../log/checkpoints/checkpoint-signer.ts";
import { HeadNotRecorded } from "../../log/checkpoints/head-not-recorded.ts";
import { readSignedHeads, type SignedHeads } from "../../log/checkpoints/signed-heads.ts";
import type { Peer, Procedures } from "../../platform/workers/peer.ts";
import type { SentHead } from "./protocol.ts";

const sent = ({ origin, size, rootHash }: Head): SentHead => [
  origin,
  size,
  Buffer.from(rootHash).toString("hex"),
];
const received = ([origin, size, root]: SentHead): Head => ({
  origin,
  size,
  rootHash: new Uint8Array(Buffer.from(root, "hex")),
});

/**
 * The signed heads as a worker sees them: only the primary writes the file, and it tells each
 * worker which heads the others have signed.
 */
export class SentHeads implements SignedHeadStore {
  readonly #peer: () => Peer;
  readonly #newest = new Map<string, Head>();
  #learn: ((heads: readonly Head[]) => void) | null = null;
  #waiting: { head: Head; done: (problem: string | null) => void }[] = [];

  constructor(peer: () => Peer) {
    this.#peer = peer;
  }

  readonly procedures: Procedures = {
    heads: (heads: readonly SentHead[]) => this.#take(heads.map(received)),
  };

  /**
   * The heads that were signed before this worker was started. It already hears of each new one, so
   * it misses none in between.
   */
  async load(path: string): Promise<void> {
    this.#take([...(await readSignedHeads(path)).values()]);
  }

  /** @param learn told of heads that other workers sign, from now on */
  follow(learn: (heads: readonly Head[]) => void): void {
    this.#learn = learn;
    learn(this.newest());
  }

  newest(): Head[] {
    return [...this.#newest.values()];
  }

  record(head: Head): Promise<void> {
    if ((this.#newest.get(head.origin)?.size ?? -1) >= head.size) return Promise.resolve();
    return new Promise((resolve, reject) => {
      // Those of one batch go together.
      if (this.#waiting.length === 0) queueMicrotask(() => void this.#send());
      this.#waiting.push({
        head,
        done: (problem) => (problem === null ? resolve() : reject(new HeadNotRecorded(problem))),
      });
    });
  }

  async #send(): Promise<void> {
    const batch = this.#waiting.splice(0);
    const heads = batch.map(({ head }) => head);
    const problem = await this.#peer()
      .call<string | null>("record", heads.map(sent))
      .catch((error: Error) => error.message);
    if (problem === null) this.#keep(heads);
    for (const { done } of batch) done(problem);
  }

  #take(heads: readonly Head[]): void {
    this.#keep(heads);
    this.#learn?.(heads);
  }

  #keep(heads: readonly Head[]): void {
    for (const head of heads)
      if ((this.#newest.get(head.origin)?.size ?? -1) < head.size) this.#newest.set(head.origin, head);
  }
}

/** Heads of so long go to the other workers together. */
const TELL_EVERY_MS = 5;

/** The primary's side: writes the heads that workers sign, and tells the others. */
export class HeadsOfWorkers {
  readonly #signed: SignedHeads;
  readonly #peers = new Set<Peer>();
  readonly #news = new Map<string, { head: Head; from: Peer }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(signed: SignedHeads) {
    this.#signed = signed;
  }

  /** From now on this worker gets what the others sign. */
  add(peer: Peer): void {
    this.#peers.add(peer);
  }

  remove(peer: Peer): void {
    this.#peers.delete(peer);
  }

  /**
   * @returns null once they are on the disk, or why they are not: then no signature may leave the
   * worker
   */
  async record(heads: readonly SentHead[], from: Peer): Promise<string | null> {
    try {
      await Promise.all(heads.map((head) => this.#record(received(head), from)));
      return null;
    } catch (error) {
      return errorMessage(error instanceof HeadNotRecorded ? error.cause : error);
    }
  }

  async #record(head: Head, from: Peer): Promise<void> {
    this.#requireNoFork(head);
    await this.#signed.record(head);
    this.#requireNoFork(head);
    if ((this.#news.get(head.origin)?.head.size ?? -1) < head.size)
      this.#news.set(head.origin, { head, from });
    if (this.#timer === null) this.#timer = setTimeout(() => this.#tell(), TELL_EVERY_MS);
  }

  /** Two workers never commit the same size, unless the database was set back in between. */
  #requireNoFork({ origin, size, rootHash }: Head): void {
    const newest = this.#signed.newestOf(origin);
    if (newest?.size === size && !equalBytes(newest.rootHash, rootHash))
      throw new Error("another worker has signed another root of that size");
  }

  #tell(): void {
    this.#timer = null;
    const news = [...this.#news.values()];
    this.#news.clear();
    for (const peer of this.#peers) {
      const heads = news.filter(({ from }) => from !== peer).map(({ head }) => sent(head));
      if (heads.length > 0) peer.tell("heads", heads);
    }
  }
}
