import { randomInt } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { idOf } from "./patterns.ts";
import type { Server } from "./server.ts";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The body as JSON; throws if it is none. */
  json: <T = Record<string, unknown>>() => T;
}

export interface Call {
  method: string;
  /** Path and query, or an absolute URL. */
  path: string;
  token?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  body?: Uint8Array | string | undefined;
  idempotencyKey?: string | undefined;
  /** The client's own address, 127.x.y.z; Linux lets one pick. */
  from?: string | undefined;
  /** How long nothing may arrive before the exchange is given up; by default for ever. */
  idle_ms?: number | undefined;
}

/** An address of this machine that no other test speaks from: limits are per address. */
export function ownAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
}

/** One HTTPS exchange, no judgement. */
export function exchange(server: Server, call: Call): Promise<Answer> {
  const url = new URL(call.path.startsWith("https://") ? "/" : call.path, server.url);
  const target = call.path.startsWith("https://") ? new URL(call.path) : url;
  const body = call.json === undefined ? call.body : JSON.stringify(call.json);
  const headers: Record<string, string> = { ...call.headers };
  if (call.json !== undefined) headers["content-type"] ??= "application/json";
  if (call.token !== undefined) headers["authorization"] = `Bearer ${call.token}`;
  if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
  if (body !== undefined && !("transfer-encoding" in headers)) {
    headers["content-length"] ??= String(Buffer.byteLength(body));
  }
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: "localhost",
        lookup: (_name, options, found) =>
          options.all ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4),
        port: target.port,
        // The path as given: URL would normalise what some tests misspell on purpose.
        path: call.path.startsWith("https://") ? target.pathname + target.search : call.path,
        method: call.method,
        headers,
        ca: server.ca,
        agent: server.connections,
        ...(call.from === undefined ? {} : { localAddress: call.from }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: bytes,
            json: <T>() => JSON.parse(bytes.toString("utf8")) as T,
          });
        });
      },
    );
    request.on("error", reject);
    if (call.idle_ms !== undefined)
      request.setTimeout(call.idle_ms, () => request.destroy(new Error("no answer in time")));
    request.end(body);
  });
}

/** A call of the API; what holds for every answer of it is checked here, once for all tests. */
export async function api(server: Server, call: Call): Promise<Answer> {
  const answer = await exchange(server, call);
  const told = `${call.method} ${call.path} → ${answer.status} ${answer.body.toString("utf8").slice(0, 2000)}`;
  const requestId = answer.headers["x-request-id"];
  if (typeof requestId !== "string" || !idOf("req").test(requestId)) {
    throw new Error(`no X-Request-Id of the right shape (${String(requestId)}): ${told}`);
  }
  if (!/^application\/json\b/.test(answer.headers["content-type"] ?? ""))
    throw new Error(`not JSON: ${told}`);
  if (answer.status >= 500) throw new Error(`a defect of the service: ${told}`);
  if (answer.status >= 400) checkErrorBody(answer, requestId, told);
  return answer;
}

function checkErrorBody(answer: Answer, requestId: string, told: string): void {
  const body = answer.json();
  const keys = Object.keys(body).toSorted().join();
  if (keys !== "details,error,message,request_id")
    throw new Error(`error body has the keys ${keys}: ${told}`);
  const { details, error, message, request_id } = body;
  // A replay repeats the body of the first answer byte for byte, its request id too.
  if (request_id !== requestId && answer.headers["idempotent-replayed"] === undefined)
    throw new Error(`request_id is not X-Request-Id ${requestId}: ${told}`);
  if (typeof error !== "string" || typeof message !== "string" || message === "") {
    throw new Error(`error or message is no text: ${told}`);
  }
  if (typeof details !== "object" || details === null || Array.isArray(details)) {
    throw new Error(`details is no object: ${told}`);
  }
  if (
    /\bat .+:\d+:\d+|node_modules|\/packages\/|\/tmp\/|select .+ from|insert into/i.test(
      answer.body.toString(),
    )
  ) {
    throw new Error(`a stack, path or SQL in the answer: ${told}`);
  }
}
