import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { newId } from "@attestore/contract";
import type { Certificates } from "./certificates.ts";

/** A status, and JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Answers in the place of the service: a whole answer, a cut connection, or (undefined) what the
 * service says; now, or in time.
 */
export type Interference = (request: {
  route: string;
  body: string;
  idempotencyKey: string | undefined;
}) => Intervention | Promise<Intervention>;
type Intervention =
  | { status: number; body: string; headers?: Record<string, string> }
  | "cut"
  | "cut-after"
  | undefined;

export interface SeenCall {
  readonly route: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

/**
 * Speaks TLS, remembers each call, answers a repeated idempotency key as before, and misbehaves as
 * told. A class that extends it says what the API and the object store answer.
 */
export abstract class InterferingServer {
  readonly certificates: Certificates;
  interfere: Interference = () => undefined;
  readonly calls: SeenCall[] = [];
  readonly #server: Server;
  readonly #answers = new Map<string, { fingerprint: string; status: number; body: string }>();

  constructor(certificates: Certificates) {
    this.certificates = certificates;
    this.#server = createServer(
      { key: certificates.key, cert: certificates.cert, minVersion: "TLSv1.3" },
      (request, response) => {
        this.#handle(request, response).catch((error: unknown) => {
          if (!response.headersSent) {
            const { status, body } = failure(500, "internal", String(error));
            response.writeHead(status, { "content-type": "application/json" }).end(body);
          }
        });
      },
    );
  }

  /** Answers a call of the API. */
  protected abstract answer(
    request: IncomingMessage,
    url: URL,
    body: string,
    credential: string,
  ): Promise<JsonAnswer>;

  /** Answers what is under `/objects/`. */
  protected abstract answerObject(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    body: Buffer,
  ): void;

  async listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  get url(): string {
    return `https://localhost:${this.port}`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const route = `${request.method} ${url.pathname}`;
    const header = request.headers["idempotency-key"];
    const idempotencyKey = typeof header === "string" ? header : undefined;
    const isObject = url.pathname.startsWith("/objects/");
    const body = isObject ? "" : raw.toString();
    this.calls.push({ route, idempotencyKey, body });

    const interference = await this.interfere({ route, body, idempotencyKey });
    if (interference === "cut") {
      request.socket.destroy();
      return;
    }
    if (typeof interference === "object") {
      response.writeHead(interference.status, interference.headers ?? {}).end(interference.body);
      return;
    }
    if (isObject) {
      this.answerObject(request, response, url, raw);
      return;
    }
    const { status, body: answer } = await this.#once(request, url, body, idempotencyKey);
    // The effect is there and the client does not hear of it.
    if (interference === "cut-after") {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { "content-type": "application/json" }).end(answer);
  }

  async #once(
    request: IncomingMessage,
    url: URL,
    body: string,
    key: string | undefined,
  ): Promise<JsonAnswer> {
    const credential = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const fingerprint = `${request.method} ${url.pathname} ${body}`;
    const scope = `${credential} ${key}`;
    const before = key === undefined ? undefined : this.#answers.get(scope);
    if (before !== undefined) {
      return before.fingerprint === fingerprint
        ? before
        : failure(409, "idempotency_key_reused", "another body under this key");
    }
    const answer = await this.answer(request, url, body, credential);
    if (key !== undefined && answer.status < 500 && answer.status !== 401)
      this.#answers.set(scope, { fingerprint, ...answer });
    return answer;
  }

  /** Knows no idempotency key any more. */
  protected forgetAnswers(): void {
    this.#answers.clear();
  }
}

export function failure(status: number, error: string, message: string): JsonAnswer {
  return json(status, { error, message, request_id: newId("request"), details: {} });
}

export function json(status: number, body: unknown): JsonAnswer {
  return { status, body: JSON.stringify(body) };
}
