import type { ErrorBody, ErrorCode } from "../errors.ts";
import type { Paths } from "./paths.ts";

export interface ClientRequest {
  method: string;
  /** The path with its query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface ClientResponse {
  status: number;
  headers: { get(name: string): string | null };
  body: string;
}

/**
 * The value of an answer that the transport has already read and validated. The transport has
 * thrown refusals.
 */
export interface ReadResponse {
  status: number;
  value: unknown;
}

/** One exchange with the service over any transport. Rejects if no answer arrived. */
export type Transport = (request: ClientRequest) => Promise<ClientResponse | ReadResponse>;

type Operation = { path: unknown; query: unknown; body: unknown; answers: object };
type Needs<Name extends string, Value> = Value extends undefined
  ? { [name in Name]?: undefined }
  : Partial<Value> extends Value
    ? { [name in Name]?: Value }
    : { [name in Name]: Value };

/** The arguments of a call besides its method and path. */
export type CallOptions<O extends Operation> = Needs<"path", O["path"]> &
  Needs<"query", O["query"]> &
  Needs<"body", O["body"]> & {
    /** A ULID or UUID. It makes a call that changes something safe to repeat. */
    idempotencyKey?: string;
    headers?: Record<string, string>;
  };

/** The status of the answer, with its body. */
export type CallAnswer<O extends Operation> = {
  [Status in keyof O["answers"]]: { status: Status; body: O["answers"][Status] };
}[keyof O["answers"]];

type OperationOf<
  Path extends keyof Paths,
  Method extends keyof Paths[Path],
> = Paths[Path][Method] extends Operation ? Paths[Path][Method] : never;

export interface Client {
  /**
   * Throws CallRefused for an error of the service, and CallFailed for an answer that the service
   * never gives.
   */
  call<Path extends keyof Paths, Method extends keyof Paths[Path] & string>(
    method: Method,
    path: Path,
    ...options: Record<string, never> extends CallOptions<OperationOf<Path, Method>>
      ? [CallOptions<OperationOf<Path, Method>>?]
      : [CallOptions<OperationOf<Path, Method>>]
  ): Promise<CallAnswer<OperationOf<Path, Method>>>;
}

/** An error answer of the service (contract, section 2). */
export class CallRefused extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly details: Record<string, unknown>;
  /** Seconds until a retry makes sense, if the answer says so. */
  readonly retryAfter_s: number | null;

  constructor(status: number, body: ErrorBody, retryAfter_s: number | null) {
    super(body.message);
    this.name = "CallRefused";
    this.status = status;
    this.code = body.error;
    this.requestId = body.request_id;
    this.details = body.details;
    this.retryAfter_s = retryAfter_s;
  }
}

/**
 * An answer that does not come from the service: another program has this address or lies in
 * between.
 */
export class CallFailed extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The answer, with status ${status}, is not from an Attestore service.`);
    this.name = "CallFailed";
    this.status = status;
  }
}

/** The API's calls by their OpenAPI paths, with types from paths.ts. */
export function createClient(transport: Transport): Client {
  return {
    async call(method, path, ...[options]) {
      const given = (options ?? {}) as Given;
      const response = await transport({
        method: method.toUpperCase(),
        path: filled(path, given.path ?? {}) + queryText(given.query ?? {}),
        headers: {
          ...(given.body === undefined ? {} : { "content-type": "application/json" }),
          ...(given.idempotencyKey === undefined ? {} : { "idempotency-key": given.idempotencyKey }),
          ...given.headers,
        },
        ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
      });
      if ("value" in response) return { status: response.status, body: response.value } as never;
      const { status, headers, body } = response;
      const json = (headers.get("content-type") ?? "").startsWith("application/json")
        ? parsed(status, body)
        : body;
      if (status >= 200 && status < 300) return { status, body: json } as never;
      if (!isErrorBody(json)) throw new CallFailed(status);
      const retryAfter = headers.get("retry-after");
      throw new CallRefused(
        status,
        json,
        retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null,
      );
    },
  };
}

interface Given {
  path?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: unknown;
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

function filled(path: string, values: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

function queryText(query: Record<string, string | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, value);
  return search.size === 0 ? "" : `?${search}`;
}

function parsed(status: number, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CallFailed(status);
  }
}

function isErrorBody(value: unknown): value is ErrorBody {
  return (
    typeof value === "object" &&
    value !== null &&
    "error" in value &&
    typeof value.error === "string" &&
    "message" in value &&
    "request_id" in value
  );
}
