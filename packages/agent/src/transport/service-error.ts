/** Why a call brought no usable answer. */
export type ServiceErrorCode =
  /** No connection, or it broke. */
  | "unreachable"
  | "timeout"
  /** This agent does not trust the service's certificate. */
  | "untrusted"
  /**
   * Something answered, but not as the contract says: a proxy's error page, a broken body, a
   * missing field.
   */
  | "invalid_response"
  /** The service refused, with the contract's error body. */
  | "refused"
  /** The object store refused a presigned URL. */
  | "object_refused"
  /** `upload.windows` in config.yaml allows no uploads now. */
  | "outside_window";

/**
 * The contract's error body with its status. `error` may be a code that this version does not know.
 */
export interface Refusal {
  readonly status: number;
  readonly error: string;
  readonly message: string;
  readonly requestId: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * A call that failed. Its message may be shown to a person; it contains no token and no presigned
 * URL.
 */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;
  /** For `refused`. */
  readonly refusal: Refusal | null;
  /** The HTTP status, if there was one. */
  readonly status: number | null;
  /** The value of Retry-After. */
  readonly retryAfter_s: number | null;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: ErrorOptions & { refusal?: Refusal; status?: number; retryAfter_s?: number | null } = {},
  ) {
    super(message, options);
    this.name = "ServiceError";
    this.code = code;
    this.refusal = options.refusal ?? null;
    this.status = options.refusal?.status ?? options.status ?? null;
    this.retryAfter_s = options.retryAfter_s ?? null;
  }
}

/** Whether the same call may succeed in a moment. */
export function isTransient(error: ServiceError): boolean {
  switch (error.code) {
    case "unreachable":
    case "timeout":
      return true;
    case "untrusted":
    case "outside_window":
      return false;
    case "invalid_response":
    case "object_refused":
      return isTransientStatus(error.status);
    case "refused":
      return isTransientStatus(error.status) || error.refusal?.error === "idempotency_in_progress";
  }
}

/**
 * Whether the service itself said that it will never accept this request. Anything else (a proxy's
 * page, 401 for an agent that may be attached again, 408, 429, 5xx) is about the moment, not about
 * the request.
 */
export function isPermanentRefusal(error: ServiceError): boolean {
  if (error.code !== "refused" || error.refusal === null) return false;
  const { status, error: code } = error.refusal;
  if (status < 400 || status >= 500 || code === "idempotency_in_progress") return false;
  return status !== 401 && status !== 408 && status !== 429;
}

/** Whether the token is not accepted, or no longer. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "refused" && error.status === 401;
}

function isTransientStatus(status: number | null): boolean {
  return status === null || status === 408 || status === 425 || status === 429 || status >= 500;
}
