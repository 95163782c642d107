import { errorCode, errorMessage } from "@attestore/host/errno";
import type { Pool } from "pg";
import { asDatabaseUnavailable } from "../platform/database/unavailable.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { commitBatch, type CommittedBatch } from "./batch.ts";
import type { Decision, Submission } from "./decisions.ts";
import type { CallRecords, EntryKind, LogEntry } from "./entry.ts";
import type { CheckpointSigner } from "./checkpoint-signer.ts";
import { readPlacement, type Placement } from "./inclusion.ts";
import { SubmissionRefused } from "./submission-refused.ts";
import { withSession } from "../platform/database/sql-session.ts";

export interface SequencerOptions<Call, Answer> {
  /** Connections of the sequencer's own (see sequencer-pool.ts). */
  pool: Pool;
  calls: CallRecords<Call, Answer>;
  signer: CheckpointSigner;
  logger: Logger;
  /** Submissions that may wait; what comes beyond them is refused. */
  maxWaiting?: number;
  /** Bytes of their leaves and bodies that may wait. */
  maxWaitingBytes?: number;
  /** Most submissions of one transaction. */
  maxBatch?: number;
  /** Told of each transaction that committed. */
  onBatch?: (batch: { submissions: number; seconds: number }) => void;
}

/** What a submission comes to. */
export type Submitted<Answer> =
  | { is: "placed"; placement: Placement; replayed: boolean }
  /** The same call was answered before, and not with a place. */
  | { is: "answered"; answer: Answer };

interface Waiting<Call, Answer> extends Submission<Call> {
  bytes: number;
  resolve: (submitted: Submitted<Answer>) => void;
  reject: (error: unknown) => void;
}

const ATTEMPTS = 3;
/** Serialisation failure, deadlock, lock not available in time: the transaction is undone and may succeed the next time. */
const PASSING = new Set(["40001", "40P01", "55P03"]);
/** What may pass, resources that ran out (class 53), and what took too long for the server or for the driver. */
const TROUBLE = /^(40001|40P01|55P03|53...|57014|Query read timeout)$/;

/**
 * Gives the entries of all organisations their places. One batch is in flight at a time; whatever arrives meanwhile is the
 * next one, so a batch is as large as the load is and nobody waits for a timer. Replicas need no agreement besides
 * the database: the locked row decides, and nothing of the log is kept here from one batch to the next.
 */
export class Sequencer<Call, Answer> {
  readonly #options: Required<SequencerOptions<Call, Answer>>;
  readonly #callsInProgress = new Set<string>();
  #waiting: Waiting<Call, Answer>[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(options: SequencerOptions<Call, Answer>) {
    this.#options = {
      maxWaiting: 5000,
      maxWaitingBytes: 128 * 1024 * 1024,
      maxBatch: 500,
      onBatch: () => undefined,
      ...options,
    };
  }

  /**
   * Resolves once the entry is committed, in the tree and provable, or was before. Throws what its kind or its call refuses it for,
   * and SubmissionRefused: after `database_away` it may or may not be in the log, and the same submission again finds out.
   * Throws LogCorruption when its log may not go on.
   */
  async submit<Entry extends LogEntry>(
    kind: EntryKind<Entry>,
    entry: Entry,
    call: Call,
    bodyBytes: number,
  ): Promise<Submitted<Answer>> {
    const bytes = bodyBytes + entry.leaf.length;
    this.#requireRoom(bytes);
    const name = this.#options.calls.nameOf(call);
    if (name === null) return this.#enqueue(kind, entry, call, bytes);
    // One session may take an advisory lock twice, so two of one batch are told apart here.
    if (this.#callsInProgress.has(name)) throw new SubmissionRefused("in_progress");
    this.#callsInProgress.add(name);
    try {
      return await this.#enqueue(kind, entry, call, bytes);
    } finally {
      this.#callsInProgress.delete(name);
    }
  }

  /** Submissions that wait for the batch in flight to commit. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes nothing more and waits until what was taken is answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  /** Throws SubmissionRefused `closed`, `full`. */
  #requireRoom(bytes: number): void {
    if (this.#closed) throw new SubmissionRefused("closed");
    const { maxWaiting, maxWaitingBytes } = this.#options;
    if (this.#waiting.length >= maxWaiting || this.#waitingBytes + bytes > maxWaitingBytes)
      throw new SubmissionRefused("full");
  }

  #enqueue<Entry extends LogEntry>(
    kind: EntryKind<Entry>,
    entry: Entry,
    call: Call,
    bytes: number,
  ): Promise<Submitted<Answer>> {
    return new Promise((resolve, reject) => {
      // A kind only ever gets entries back that were submitted with it.
      this.#waiting.push({
        kind: kind as unknown as EntryKind<LogEntry>,
        entry,
        call,
        bytes,
        resolve,
        reject,
      });
      this.#waitingBytes += bytes;
      this.#running ??= this.#run().finally(() => {
        this.#running = null;
      });
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#options.maxBatch);
      for (const { bytes } of batch) this.#waitingBytes -= bytes;
      await this.#commit(batch);
    }
  }

  /** Never rejects: each one of the batch is told. */
  async #commit(batch: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      const began = performance.now();
      const committed = await this.#attempt(batch);
      this.#options.onBatch({ submissions: batch.length, seconds: (performance.now() - began) / 1000 });
      // Answering takes the thread pool; the next batch need not wait for it.
      for (const waiting of batch) void this.#answer(waiting, committed);
    } catch (error) {
      if (isDatabaseTrouble(error)) {
        this.#options.logger.warn({ reason: errorMessage(error), waiting: batch.length }, "a batch failed");
        for (const { reject } of batch) reject(new SubmissionRefused("database_away"));
      } else if (batch.length > 1) {
        // One entry that the database refuses must not fail the others.
        this.#options.logger.error(
          { err: error, waiting: batch.length },
          "a batch failed; trying its entries one by one",
        );
        for (const waiting of batch) await this.#commit([waiting]);
      } else for (const { reject } of batch) reject(error);
    }
  }

  async #attempt(batch: readonly Waiting<Call, Answer>[]): Promise<CommittedBatch<Call, Answer>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transact(batch);
      } catch (error) {
        if (attempt === ATTEMPTS || !PASSING.has(errorCode(error) ?? "")) throw error;
      }
    }
  }

  async #transact(batch: readonly Waiting<Call, Answer>[]): Promise<CommittedBatch<Call, Answer>> {
    const client = await this.#options.pool.connect();
    try {
      const committed = await commitBatch(client, batch, this.#options);
      client.release();
      return committed;
    } catch (error) {
      // Ends the connection, and with it whatever the transaction still holds.
      client.release(true);
      throw error;
    }
  }

  async #answer(
    waiting: Waiting<Call, Answer>,
    { decisions, logs }: CommittedBatch<Call, Answer>,
  ): Promise<void> {
    try {
      const decision = decisions.get(waiting);
      if (decision === undefined) throw new Error("a batch forgot a submission");
      waiting.resolve(await this.#submitted(waiting.entry, decision, logs));
    } catch (error) {
      waiting.reject(error);
    }
  }

  async #submitted(
    entry: LogEntry,
    decision: Decision<Answer>,
    logs: CommittedBatch<Call, Answer>["logs"],
  ): Promise<Submitted<Answer>> {
    switch (decision.is) {
      case "refused":
        throw decision.error;
      case "answered":
        return decision;
      case "recorded":
        return {
          is: "placed",
          placement: await this.#readPlacement({ orgId: entry.orgId, ...decision }),
          replayed: decision.replayed,
        };
      case "appended": {
        const { origin, growth } = logs.log(entry.orgId);
        const { logIndex, leaf, leafHash } = decision.placed;
        const treeSize = growth.size;
        const signing = this.#options.signer.signGrown({ origin, size: treeSize, rootHash: growth.root() });
        const hashes = growth.inclusionProof(logIndex);
        const placement = { id: entry.id, origin, logIndex, leaf, leafHash, treeSize, hashes };
        return { is: "placed", placement: { ...placement, checkpoint: await signing }, replayed: false };
      }
    }
  }

  #readPlacement(entry: { orgId: string; logIndex: number; treeSize: number }): Promise<Placement> {
    const { pool, signer } = this.#options;
    return withSession(pool, (session) => readPlacement(session, signer, entry));
  }
}

function isDatabaseTrouble(error: unknown): boolean {
  return asDatabaseUnavailable(error) !== null || TROUBLE.test(errorCode(error) ?? errorMessage(error));
}
