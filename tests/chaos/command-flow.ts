import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { heartbeatBody } from "../e2e/harness/backups.ts";
import { exchange, type Answer, type Call } from "../e2e/harness/https.ts";
import type { WireAgent } from "../e2e/harness/organisation.ts";
import type { Server } from "../e2e/harness/server.ts";

export interface FlowOptions {
  /** Between two calls of each caller. */
  pause_ms?: number;
  /** How long an attempt waits for an answer; by default for ever. */
  idle_ms?: number;
}

/**
 * A person who asks for backups, one after the other, and an agent that says on both replicas at
 * once what it was given: each repeats its call, on the other replica, until it is answered.
 */
export class CommandFlow {
  /** Ids of commands as the person was told them. */
  readonly asked: string[] = [];
  /** `id attempt` of each delivery, as often as the agent was told it. */
  readonly delivered: string[] = [];
  readonly #replicas: readonly Server[];
  readonly #ends: Promise<unknown>[];
  #asking = true;
  #beating = true;
  readonly #options: FlowOptions;
  #turn = 0;

  constructor(
    replicas: readonly Server[],
    agent: WireAgent,
    session: string,
    triggerPath: string,
    options: FlowOptions = {},
  ) {
    this.#replicas = replicas;
    this.#options = options;
    this.#ends = [this.#ask(session, triggerPath), this.#beat(agent), this.#beat(agent)];
  }

  /**
   * Ends when all that was asked for was delivered. Rejects if a call got an answer that it must
   * never get.
   */
  async stop(): Promise<void> {
    this.#asking = false;
    await this.#ends[0];
    const end = performance.now() + 30_000;
    while (this.ids.size < this.asked.length && performance.now() < end) await delay(20);
    this.#beating = false;
    await Promise.all(this.#ends);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#asking = false;
    this.#beating = false;
    await Promise.allSettled(this.#ends);
  }

  get ids(): Set<string> {
    return new Set(this.delivered.map((one) => one.split(" ")[0] ?? ""));
  }

  async #ask(token: string, path: string): Promise<void> {
    while (this.#asking) {
      const idempotencyKey = randomUUID();
      const answer = await this.#send({
        method: "POST",
        path,
        token,
        json: { kind: "backup" },
        idempotencyKey,
      });
      if (answer.status !== 202) throw new Error(`trigger: ${answer.status} ${answer.body.toString()}`);
      this.asked.push(answer.json<{ command_id: string }>().command_id);
      await this.#pause();
    }
  }

  async #beat({ token }: WireAgent): Promise<void> {
    let held: string[] = [];
    while (this.#beating || held.length > 0) {
      const json = heartbeatBody({ acks: held.map((command_id) => ({ command_id })) });
      const answer = await this.#send({ method: "POST", path: "/v1/heartbeat", token, json });
      if (answer.status !== 200) throw new Error(`heartbeat: ${answer.status} ${answer.body.toString()}`);
      const { commands } = answer.json<{ commands: { id: string; attempt: number }[] }>();
      this.delivered.push(...commands.map(({ id, attempt }) => `${id} ${attempt}`));
      held = commands.map(({ id }) => id);
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    if (this.#options.pause_ms !== undefined) await delay(this.#options.pause_ms);
  }

  async #send(call: Call): Promise<Answer> {
    for (;;) {
      const replica = this.#replicas[this.#turn++ % this.#replicas.length];
      if (replica === undefined) throw new Error("there is no replica");
      const answer = await exchange(replica, { ...call, idle_ms: this.#options.idle_ms }).catch(() => null);
      if (answer !== null && answer.status !== 503 && answer.status !== 409) return answer;
      await delay(10);
    }
  }
}
