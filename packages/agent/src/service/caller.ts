import { randomUUID } from "node:crypto";
import type { Agent } from "node:https";
import { MAX_BODY_BYTES } from "@attestore/contract";
import { type Client, type ClientRequest, createClient } from "@attestore/contract/client";
import type { TSchema } from "typebox";
import { agentVersion } from "../state/host-facts.ts";
import { type Backoff, retrying } from "../transport/backoff.ts";
import { type Answer, exchange } from "../transport/exchange.ts";
import { readAnswer } from "./read-answer.ts";

export interface CallOptions {
  readonly signal: AbortSignal;
  /**
   * Kept by a caller that may have to repeat the call later; otherwise a fresh one. Null: none,
   * because repeating the call changes nothing.
   */
  readonly idempotencyKey?: string | null;
  /** Tries once; the caller repeats it. */
  readonly once?: boolean;
}

/** How one kind of call differs from the others. */
export interface Sending {
  credential?: string | null;
  timeout_ms?: number;
  maxResponseBytes?: number;
  /** Gets the Date header. */
  onDate?: (date: string | undefined) => void;
}

export interface Reading extends Sending {
  /** The expected form of an answer, by its status; any other is thrown. */
  expected: Readonly<Record<number, TSchema>>;
}

export interface CallerOptions {
  readonly url: URL;
  readonly token: string | null;
  readonly connections: Agent;
  readonly backoff: Backoff;
  readonly timeout_ms: number;
}

/**
 * Makes calls to the service: with the agent's token and an idempotency key, in a limited time, and
 * again after temporary failures.
 */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** The API's typed client over this agent's connections, which validates answers. */
  api(what: Reading, options: CallOptions): Client {
    const { host } = this.#options.url;
    return createClient((call) =>
      this.send(what, options, call, (answer) => readAnswer(host, answer, what.expected)),
    );
  }

  /** One call; repeats it after temporary failures, which `read` throws as such. */
  async send<T>(
    what: Sending,
    { signal, idempotencyKey, once = false }: CallOptions,
    { method, path, headers, body }: ClientRequest,
    read: (answer: Answer) => T,
  ): Promise<T> {
    const { url, token, connections, backoff, timeout_ms } = this.#options;
    const target = new URL(path, url);
    const credential = what.credential === undefined ? token : what.credential;
    const sent: Record<string, string> = {
      ...headers,
      accept: "application/json",
      "user-agent": `attestore/${agentVersion}`,
    };
    if (credential !== null) sent["authorization"] = `Bearer ${credential}`;
    // One key for all tries of one call: if an answer was lost, the call still takes effect only
    // once.
    if (method === "POST" && idempotencyKey !== null)
      sent["idempotency-key"] = idempotencyKey ?? randomUUID();
    const attempt = async () => {
      const answer = await exchange({
        method: method === "POST" ? "POST" : "GET",
        url: target,
        headers: sent,
        ...(body === undefined ? {} : { body }),
        connections,
        timeout_ms: what.timeout_ms ?? timeout_ms,
        maxResponseBytes: what.maxResponseBytes ?? MAX_BODY_BYTES,
        signal,
      });
      what.onDate?.(answer.headers.date);
      return read(answer);
    };
    return once ? attempt() : retrying(backoff, signal, attempt);
  }
}
