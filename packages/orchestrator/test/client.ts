import { Agent, request } from "node:https";

export interface Call {
  method: string;
  path: string;
  token?: string | undefined;
  json?: unknown;
  /** The body's bytes, in place of `json`. */
  body?: string | Uint8Array;
  headers?: Record<string, string | string[]>;
  idempotencyKey?: string;
  /** Where the call comes from: an address of 127.0.0.0/8. */
  from?: string;
  /** Of a stream that goes on for ever: its first bytes are the answer, and end it. */
  isEndless?: boolean;
}

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
  /** The body, parsed; empty where it is not JSON. */
  json: Record<string, unknown>;
}

const connections = new Agent({ keepAlive: true, maxSockets: 128 });
let addresses = 0;

/** An address that no earlier call came from. */
export function ownAddress(): string {
  addresses += 1;
  return `127.${10 + (addresses >> 16)}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

export async function send(server: { port: number; ca: string }, call: Call): Promise<Answer> {
  const body = call.body ?? (call.json === undefined ? undefined : JSON.stringify(call.json));
  const headers: Record<string, string | string[]> = {
    ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
    ...(call.body === undefined && body !== undefined ? { "content-type": "application/json" } : {}),
    ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
    ...call.headers,
  };
  if ("transfer-encoding" in headers) delete headers["content-length"];
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        servername: "localhost",
        port: server.port,
        ca: server.ca,
        agent: connections,
        method: call.method,
        path: call.path,
        headers,
        ...(call.from === undefined ? {} : { localAddress: call.from }),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        const answered = (): void => {
          const bytes = Buffer.concat(chunks);
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers as Record<string, string | undefined>,
            body: bytes,
            json: parsed(bytes),
          });
        };
        incoming.on("end", answered);
        if (call.isEndless === true && incoming.statusCode === 200)
          incoming.once("data", () => {
            outgoing.destroy();
            answered();
          });
      },
    );
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      // The service may end an idle connection at the moment at which it is used again.
      const isStale = outgoing.reusedSocket && error.code === "ECONNRESET" && call.method === "GET";
      if (isStale) resolve(send(server, call));
      else reject(error);
    });
    outgoing.end(body);
  });
}

function parsed(bytes: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}
