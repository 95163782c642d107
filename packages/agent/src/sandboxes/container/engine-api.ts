import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { errorCode } from "@attestore/host/errno";

const MAX_ANSWER = 8 << 20;
const ANSWER_MS = 120_000;

/**
 * The runtime's error answer, or that there was none: `code` is the HTTP status or the system's
 * code.
 */
export class EngineApiError extends Error {
  readonly code: string;
  readonly status: number | null;
  constructor(what: string, code: string, status: number | null, options?: ErrorOptions) {
    super(what, options);
    this.name = "EngineApiError";
    this.code = code;
    this.status = status;
  }
}

/**
 * The Docker Engine API (docs.docker.com/reference/api/engine) over a unix socket, as Docker and
 * Podman offer it. Paths have no version, so each uses its newest; what we use has been the same in
 * all of them.
 */
export class EngineApi {
  readonly socket: string;

  constructor(socket: string) {
    this.socket = socket;
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.call("GET", "/_ping", undefined, signal);
  }

  /**
   * The answer's body as JSON, null if there is none.
   * @throws EngineApiError
   */
  async call(
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: unknown,
    signal: AbortSignal = AbortSignal.timeout(ANSWER_MS),
  ): Promise<unknown> {
    const { status, text } = await this.#exchange(method, path, body, signal);
    if (status >= 400) throw refused(method, path, status, text);
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : null;
  }

  /**
   * A POST whose connection turns into the streams of a process: raw bytes to its stdin, frames
   * from it (`FrameReader`). `rest` is the part of them that came with the answer.
   * @throws EngineApiError
   */
  hijack(path: string, body: unknown): Promise<{ socket: Socket; rest: Buffer }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ socket: Socket; rest: Buffer }>();
    const payload = Buffer.from(JSON.stringify(body ?? {}));
    const outgoing = request({
      socketPath: this.socket,
      method: "POST",
      path,
      agent: false,
      headers: {
        host: "localhost",
        "content-type": "application/json",
        "content-length": payload.length,
        connection: "Upgrade",
        upgrade: "tcp",
      },
    });
    outgoing.on("upgrade", (_answer, socket, rest) => resolve({ socket: socket as Socket, rest }));
    outgoing.on("response", (answer) => {
      readText(answer).then((text) => {
        reject(refused("POST", path, answer.statusCode ?? 0, text));
        outgoing.destroy();
      }, reject);
    });
    outgoing.on("error", (error) => reject(unreachable(path, error)));
    outgoing.end(payload);
    return promise;
  }

  #exchange(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const payload = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const outgoing = request({
      socketPath: this.socket,
      method,
      path,
      agent: false,
      signal,
      headers: {
        host: "localhost",
        ...(payload === null ? {} : { "content-type": "application/json", "content-length": payload.length }),
      },
    });
    outgoing.on("response", (answer) => {
      readText(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 0, text }),
        (error: unknown) => reject(unreachable(path, error)),
      );
    });
    outgoing.on("error", (error) => reject(unreachable(path, error)));
    // Node does not treat this as a response, and nothing else would arrive.
    outgoing.on("upgrade", (_answer, stream) => {
      stream.destroy();
      reject(
        new EngineApiError(
          `${path.split("?")[0]} got an answer in another protocol`,
          "another_protocol",
          null,
        ),
      );
    });
    if (payload === null) outgoing.end();
    else outgoing.end(payload);
    return promise;
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MAX_ANSWER) throw new Error("the answer is too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function refused(method: string, path: string, status: number, text: string): EngineApiError {
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.){1,300})/.exec(text)?.[1] ?? text.trim().slice(0, 300);
  return new EngineApiError(
    `${method} ${path.split("?")[0]} gave ${status}: ${message}`,
    String(status),
    status,
  );
}

function unreachable(path: string, error: unknown): EngineApiError {
  const code = errorCode(error) ?? (error instanceof Error ? error.name : "unknown");
  return new EngineApiError(`${path.split("?")[0]} was not answered (${code})`, code, null, { cause: error });
}
