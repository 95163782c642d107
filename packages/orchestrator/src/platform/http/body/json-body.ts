import { LINES_TYPE, MAX_BODY_BYTES } from "@attestore/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../../errors/api-error.ts";
import { problemOf } from "./json-values.ts";
import { splitLines } from "./split-lines.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Accepts application/json, and for routes that take several submissions in one body also
 * application/x-ndjson, whose lines are read one by one later. The body's bytes are kept for the
 * idempotency fingerprint. Refuses as `invalid_json` what `readStrictly` refuses.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // parseAs makes it a Buffer; the type allows for text
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    request.state.rawBody = bytes;
    try {
      assertPlainUtf8(request);
      const limit = request.state.route?.bodyLimit ?? MAX_BODY_BYTES;
      if (bytes.length > limit) throw tooLarge("The body", limit);
      done(null, bytes.length === 0 ? undefined : readStrictly(bytes, "The body"));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser(LINES_TYPE, { parseAs: "buffer" }, (request, body, done) => {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const { route } = request.state;
    try {
      if (route?.mode !== "submit" || route.lines === undefined) throw unsupportedMediaType();
      assertPlainUtf8(request);
      request.state.rawBody = bytes;
      request.state.lines = splitLines(bytes, route.lines);
      done(null, undefined);
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * Reads JSON that has only one reading: refuses bytes that are not UTF-8, a byte order mark, and
 * what json-values.ts names.
 * @param what begins the sentence about it: "The body"
 * @throws ApiError `invalid_json`
 */
export function readStrictly(bytes: Buffer, what: string): unknown {
  const text = textOf(bytes, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson(`${what} is not JSON.`);
  }
  const problem = problemOf(value, text);
  if (problem !== null) throw invalidJson(`${what} ${problem}.`);
  return value;
}

function textOf(bytes: Buffer, what: string): string {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    throw invalidJson(`${what} is not UTF-8.`);
  }
  if (text.startsWith("\ufeff")) throw invalidJson(`${what} begins with a byte order mark.`);
  return text;
}

/** JSON is UTF-8 (RFC 8259 section 8.1), and content codings are not accepted. */
function assertPlainUtf8(request: FastifyRequest): void {
  const type = request.headers["content-type"] ?? "";
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1];
  if (charset !== undefined && charset.toLowerCase() !== "utf-8") throw unsupportedMediaType();
  const coding = request.headers["content-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "identity") throw unsupportedMediaType();
}

export function invalidJson(message: string): ApiError {
  return new ApiError("invalid_json", message);
}

export function tooLarge(what: string, limit_bytes: number): ApiError {
  return new ApiError("payload_too_large", `${what} is larger than ${limit_bytes} bytes.`, { limit_bytes });
}

export function unsupportedMediaType(): ApiError {
  return new ApiError(
    "unsupported_media_type",
    "Send the body as application/json in UTF-8, without a content encoding.",
  );
}
