import { createHash, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { BackupRecord } from "../e2e/harness/backups.ts";
import { seal } from "../e2e/harness/dsse.ts";
import { exchange } from "../e2e/harness/https.ts";
import type { WireAgent } from "../e2e/harness/organisation.ts";
import type { Server } from "../e2e/harness/server.ts";
import { restoreTestStatement, type ReceiptAccepted } from "../e2e/harness/statements.ts";

/** A receipt that the service has answered 201 for. */
export interface Acknowledged {
  agent: WireAgent;
  receipt: ReceiptAccepted;
  /** Hex SHA-256 of the envelope's bytes. */
  envelopeSha256: string;
}

export interface StreamOptions {
  /** Each attempt goes to another one of these, where there are some. */
  replicas?: readonly Server[] | null;
  /** Between two receipts of one worker. */
  pause_ms?: number;
  /** How long an attempt waits for an answer; by default for ever. */
  idle_ms?: number;
  /** Told of each receipt with the body that was submitted, instead of keeping them all. */
  onAcknowledged?: ((one: Acknowledged, body: string) => void) | null;
}

/**
 * Agents that submit receipt after receipt. As a real agent does, each repeats a submission, the
 * same bytes under the same key, until it is acknowledged, through whatever happens to the service
 * meanwhile.
 */
export class ReceiptStream {
  readonly acknowledged: Acknowledged[] = [];
  /** How long each took, its repetitions included. */
  readonly took_ms: number[] = [];
  /** Attempts that got no answer, and answers of 503. */
  disturbed = 0;
  #stopping = false;
  readonly #workers: Promise<void>[];
  readonly #options: Required<Omit<StreamOptions, "idle_ms">> & { idle_ms: number | undefined };
  #turn = 0;

  constructor(
    agents: readonly { agent: WireAgent; backup: BackupRecord }[],
    workersEach: number,
    { replicas = null, pause_ms = 0, idle_ms, onAcknowledged = null }: StreamOptions = {},
  ) {
    this.#options = { replicas, pause_ms, idle_ms, onAcknowledged };
    this.#workers = agents.flatMap(({ agent, backup }) =>
      Array.from({ length: workersEach }, () => this.#work(agent, backup)),
    );
  }

  /** Rejects if any submission got an answer that it must never get. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#workers);
  }

  /** A test that failed ends it too. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch(() => undefined);
  }

  /** Waits until this many more are acknowledged. */
  async advance(count: number): Promise<void> {
    const goal = this.acknowledged.length + count;
    const ended = Promise.all(this.#workers).then(() => {
      throw new Error("the stream ended");
    });
    const reached = async (): Promise<void> => {
      const deadline = performance.now() + 60_000;
      while (this.acknowledged.length < goal) {
        if (performance.now() > deadline) throw new Error("the service acknowledges nothing any more");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await Promise.race([ended, reached()]);
  }

  async #work(agent: WireAgent, backup: BackupRecord): Promise<void> {
    while (!this.#stopping) {
      const statement = restoreTestStatement(agent, backup);
      statement.predicate["agent_version"] = randomUUID(); // each receipt another one
      const body = JSON.stringify(seal(agent.signer, statement));
      const began = performance.now();
      const receipt = await this.#submit(agent, body, randomUUID());
      const envelopeSha256 = createHash("sha256").update(body).digest("hex");
      const one = { agent, receipt, envelopeSha256 };
      if (this.#options.onAcknowledged === null) {
        this.took_ms.push(performance.now() - began);
        this.acknowledged.push(one);
      } else this.#options.onAcknowledged(one, body);
      if (this.#options.pause_ms > 0) await delay(this.#options.pause_ms);
    }
  }

  async #submit(agent: WireAgent, body: string, idempotencyKey: string): Promise<ReceiptAccepted> {
    for (;;) {
      const { replicas, idle_ms } = this.#options;
      const replica = replicas?.[this.#turn++ % replicas.length];
      const answer = await exchange(replica ?? agent.server, {
        method: "POST",
        path: "/v1/receipts",
        token: agent.token,
        headers: { "content-type": "application/json" },
        body,
        idempotencyKey,
        idle_ms,
      }).catch(() => null);
      if (answer?.status === 201) return answer.json<ReceiptAccepted>();
      // 409: the first attempt, whose connection broke, is still being worked on.
      if (answer !== null && answer.status !== 503 && answer.status !== 409)
        throw new Error(`a receipt was answered ${answer.status} ${answer.body.toString()}`);
      this.disturbed++;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
