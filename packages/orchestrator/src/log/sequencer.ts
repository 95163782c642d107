import { errorCode, errorMessage } from "@attestore/host/errno";
import type { Pool } from "pg";
import { asDatabaseUnavailable } from "../platform/database/unavailable.ts";
import { keyInProgress } from "../platform/http/idempotency-key.ts";
import { unavailable } from "../platform/errors/api-error.ts";
import type { WireAnswer } from "../platform/http/answer.ts";
import type { SubmissionRecord } from "../platform/http/route.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { commitBatch, type CommittedBatch } from "./batch.ts";
import type { Decision, Submission } from "./decisions.ts";
import type { EntryKind, LogEntry } from "./entry.ts";
import type { CheckpointSigner } from "./checkpoint-signer.ts";
import type { Placement } from "./inclusion.ts";
import { readPlacement } from "./read-inclusion.ts";
import { withSession } from "./sql-session.ts";

export interface SequencerOptions {
  /** Connections of the sequencer's own (see sequencer-pool.ts). */
  pool: Pool;
  signer: CheckpointSigner;
  logger: Logger;
  /** Submissions that may wait; beyond them the answer is 503. */
  maxWaiting?: number;
  /** Bytes of their leaves and bodies that may wait. */
  maxWaitingBytes?: number;
  /** Most submissions of one transaction. */
  maxBatch?: number;
  /** Told of each transaction that committed. */
  onBatch?: (batch: { submissions: number; seconds: number }) => void;
}

/** What a submission comes to. */
export type Submitted =
  | { is: "placed"; placement: Placement; replayed: boolean }
  | { is: "remembered"; answer: WireAnswer };

interface Waiting extends Submission {
  bytes: number;
  resolve: (submitted: Submitted) => void;
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
export class Sequencer {
  readonly #options: Required<SequencerOptions>;
  readonly #keysInProgress = new Set<string>();
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(options: SequencerOptions) {
    this.#options = {
      maxWaiting: 5000,
      maxWaitingBytes: 128 * 1024 * 1024,
      maxBatch: 500,
      onBatch: () => undefined,
      ...options,
    };
  }

  /**
   * Resolves once the entry is committed, in the tree and provable, or was before. Throws ApiError: what its kind refuses it for,
   * `agent_revoked`, `idempotency_key_reused`, `idempotency_in_progress`; and `unavailable` when too many wait or the
   * database fails, in which case it may or may not be in the log: the same submission again finds out.
   * Throws LogCorruption when its log may not go on.
   */
  async submit<Entry extends LogEntry>(
    kind: EntryKind<Entry>,
    entry: Entry,
    record: SubmissionRecord,
    bodyBytes: number,
  ): Promise<Submitted> {
    const bytes = bodyBytes + entry.leaf.length;
    this.#requireRoom(bytes);
    const key = record.idempotency?.scopeSha256.toString("base64");
    if (key === undefined) return this.#enqueue(kind, entry, record, bytes);
    // One session may take an advisory lock twice, so two of one batch are told apart here.
    if (this.#keysInProgress.has(key)) throw keyInProgress();
    this.#keysInProgress.add(key);
    try {
      return await this.#enqueue(kind, entry, record, bytes);
    } finally {
      this.#keysInProgress.delete(key);
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

  /** Throws `unavailable`. */
  #requireRoom(bytes: number): void {
    if (this.#closed) throw unavailable("The service is shutting down.");
    const { maxWaiting, maxWaitingBytes } = this.#options;
    if (this.#waiting.length >= maxWaiting || this.#waitingBytes + bytes > maxWaitingBytes)
      throw unavailable("More is submitted than the service can record right now.");
  }

  #enqueue<Entry extends LogEntry>(
    kind: EntryKind<Entry>,
    entry: Entry,
    record: SubmissionRecord,
    bytes: number,
  ): Promise<Submitted> {
    return new Promise((resolve, reject) => {
      // A kind only ever gets entries back that were submitted with it.
      this.#waiting.push({
        kind: kind as unknown as EntryKind<LogEntry>,
        entry,
        record,
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
  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const began = performance.now();
      const committed = await this.#attempt(batch);
      this.#options.onBatch({ submissions: batch.length, seconds: (performance.now() - began) / 1000 });
      // Answering takes the thread pool; the next batch need not wait for it.
      for (const waiting of batch) void this.#answer(waiting, committed);
    } catch (error) {
      if (isDatabaseTrouble(error)) {
        this.#options.logger.warn({ reason: errorMessage(error), waiting: batch.length }, "a batch failed");
        for (const { reject } of batch)
          reject(unavailable("The service cannot reach its database right now."));
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

  async #attempt(batch: readonly Waiting[]): Promise<CommittedBatch> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transact(batch);
      } catch (error) {
        if (attempt === ATTEMPTS || !PASSING.has(errorCode(error) ?? "")) throw error;
      }
    }
  }

  async #transact(batch: readonly Waiting[]): Promise<CommittedBatch> {
    const client = await this.#options.pool.connect();
    try {
      const committed = await commitBatch(client, batch, this.#options.signer);
      client.release();
      return committed;
    } catch (error) {
      // Ends the connection, and with it whatever the transaction still holds.
      client.release(true);
      throw error;
    }
  }

  async #answer(waiting: Waiting, { decisions, logs }: CommittedBatch): Promise<void> {
    try {
      const decision = decisions.get(waiting);
      if (decision === undefined) throw new Error("a batch forgot a submission");
      waiting.resolve(await this.#submitted(waiting.entry, decision, logs));
    } catch (error) {
      waiting.reject(error);
    }
  }

  async #submitted(entry: LogEntry, decision: Decision, logs: CommittedBatch["logs"]): Promise<Submitted> {
    switch (decision.is) {
      case "refused":
        throw decision.error;
      case "remembered":
        return { is: "remembered", answer: { status: decision.status, body: decision.body, replayed: true } };
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
