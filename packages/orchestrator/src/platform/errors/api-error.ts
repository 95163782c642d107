import { ERROR_STATUS, type ErrorBody, type ErrorCode, type Issue } from "@attestore/contract";

/**
 * An answer from the contract's error table, thrown by handlers and by the steps before them. The
 * status follows from the code. The caller sees its message, so it must contain no secret, SQL,
 * path or stack. Anything else that is thrown is a defect of ours and answered as `internal`.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown>;
  /** Response headers that belong to it, e.g. `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    details: Record<string, unknown> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = details;
    this.headers = headers;
  }
}

/** 400 `invalid_request`, with the places in the request that are wrong. */
export function invalidRequest(message: string, issues: Issue[]): ApiError {
  return new ApiError("invalid_request", message, { issues });
}

/**
 * 404 `not_found`: no such record, or one of another organisation; the answer never tells which.
 */
export function notFound(what: string): ApiError {
  return new ApiError("not_found", `There is no such ${what}.`);
}

/** 503 `unavailable`, worth another try in a moment. */
export function unavailable(message: string): ApiError {
  return new ApiError("unavailable", message, {}, { "retry-after": "2" });
}

export function errorBody(error: ApiError, requestId: string): ErrorBody {
  return { error: error.code, message: error.message, request_id: requestId, details: error.details };
}
