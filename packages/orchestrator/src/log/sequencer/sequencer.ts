import { errorCode, errorMessage } from "@attestore/host/errno";
import type { Pool } from "pg";
import { asDatabaseUnavailable } from "../../platform/database/unavailable.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import { ClockOff } from "../clock-off.ts";
import { commitBatch, type CommittedBatch } from "./batch.ts";
import type { Decision, Submission } from "./decisions.ts";
import type { CallRecords, EntryKind, LogEntry } from "./entry.ts";
import type { CheckpointSigner } from "../checkpoints/checkpoint-signer.ts";
import { readInclusion, type Inclusion } from "../heads/inclusion.ts";
import { SubmissionRefused } from "./submission-refused.ts";
import { withSession } from "../../platform/database/sql-session.ts";

export interface SequencerOptions<Call, Answer> {
  /** Connections of the sequencer's own (see sequencer-pool.ts). */
  pool: Pool;
  calls: CallRecords<Call, Answer>;
  signer: CheckpointSigner;
  logger: Logger;
  /** Maximum number of waiting submissions; more are refused. */
  maxWaiting?: number;
  /** Maximum bytes of leaves and bodies that wait. */
  maxWaitingBytes?: number;
  /** Maximum number of submissions in one transaction. */
  maxBatch?: number;
  /** Called after each committed transaction. */
  onBatch?: (batch: { submissions: number; seconds: number }) => void;
}

/** The outcome of a submission. */
export type Submitted<Answer> =
  | { is: "placed"; inclusion: Inclusion; replayed: boolean }
  /** The same call was answered before, without an entry in the log. */
  | { is: "answered"; answer: Answer };

interface Waiting<Call, Answer> extends Submission<Call> {
  bytes: number;
  resolve: (submitted: Submitted<Answer>) => void;
  reject: (error: unknown) => void;
}

const ATTEMPTS = 3;
/**
 * Serialisation failure, deadlock, lock timeout: the transaction is rolled back and may succeed
 * when repeated.
 */
const PASSING = new Set(["40001", "40P01", "55P03"]);
/** The errors above, exhausted resources (class 53), and the limits of time. */
const TROUBLE = /^(40001|40P01|55P03|53...|57014)$/;

/**
 * Appends the entries of all organisations. One batch is in flight at a time. Submissions that
 * arrive meanwhile form the next one, so batches grow with the load and nobody waits for a timer.
 * Replicas coordinate only through the database: the locked row decides, and no log state is kept
 * here between batches.
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
   * Resolves once the entry is committed and provable in the tree, now or before. Throws the error
   * with which its kind or its call refuses it, and SubmissionRefused. After `database_away` the
   * entry may or may not be in the log; repeating the submission finds out. Throws LogCorruption if
   * its log cannot continue.
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
    // A session can take an advisory lock twice, so duplicates within a batch are caught here.
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

  /** Accepts nothing more and waits until everything accepted is answered. */
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
      // A kind gets back only entries that were submitted with it.
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
      const batch = this.#waiting.splice(0, this.#batchLength());
      for (const { bytes } of batch) this.#waitingBytes -= bytes;
      await this.#commit(batch);
    }
  }

  #batchLength(): number {
    const { maxBatch } = this.#options;
    const last = this.#waiting.slice(0, maxBatch).findIndex(({ entry }) => entry.endsBatch === true);
    return last === -1 ? maxBatch : last + 1;
  }

  /** Never rejects: each submission of the batch gets its own result. */
  async #commit(batch: readonly Waiting<Call, Answer>[]): Promise<void> {
    try {
      const began = performance.now();
      const committed = await this.#attempt(batch);
      this.#options.onBatch({ submissions: batch.length, seconds: (performance.now() - began) / 1000 });
      // Signing the answers uses the thread pool; the next batch need not wait for it.
      for (const waiting of batch) void this.#answer(waiting, committed);
    } catch (error) {
      if (error instanceof ClockOff) {
        this.#options.logger.error(
          { reason: error.message, waiting: batch.length },
          "a batch was not signed",
        );
        for (const { reject } of batch) reject(new SubmissionRefused("clock_off"));
      } else if (isDatabaseTrouble(error)) {
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
      // Ends the connection, and with it any locks that the transaction still holds.
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
          inclusion: await this.#readInclusion({ orgId: entry.orgId, ...decision }),
          replayed: decision.replayed,
        };
      case "appended": {
        const { origin, growth } = logs.log(entry.orgId);
        const { logIndex, leaf, leafHash } = decision.placed;
        const treeSize = growth.size;
        const signing = this.#options.signer.signGrown({ origin, size: treeSize, rootHash: growth.root() });
        const hashes = growth.inclusionProof(logIndex);
        const inclusion = { id: entry.id, origin, logIndex, leaf, leafHash, treeSize, hashes };
        return { is: "placed", inclusion: { ...inclusion, checkpoint: await signing }, replayed: false };
      }
    }
  }

  #readInclusion(entry: { orgId: string; logIndex: number; treeSize: number }): Promise<Inclusion> {
    const { pool, signer } = this.#options;
    return withSession(pool, (session) => readInclusion(session, signer, entry));
  }
}

function isDatabaseTrouble(error: unknown): boolean {
  return asDatabaseUnavailable(error) !== null || TROUBLE.test(errorCode(error) ?? "");
}
