import { LINES_TYPE, MAX_BODY_BYTES } from "@attestore/contract";
import { parseJson, ProofError } from "@attestore/proof";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../errors/api-error.ts";
import { problemOf } from "./json-values.ts";
import { splitLines } from "./lines.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Accepts application/json, and for routes that take several submissions in one body also
 * application/x-ndjson, whose lines are read one by one later. The body's bytes are kept for the
 * idempotency fingerprint. Refuses as `invalid_json`: bytes that are not UTF-8, a byte order mark,
 * keys that would reach an object's prototype, and the values that json-values.ts names; with
 * `strictJson` also what `readStrictly` refuses.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // parseAs makes it a Buffer; the type allows for text
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    request.state.rawBody = bytes;
    try {
      assertPlainUtf8(request);
      const limit = request.state.route?.bodyLimit ?? MAX_BODY_BYTES;
      if (bytes.length > limit) throw tooLarge("The body", limit);
      if (bytes.length === 0) done(null, undefined);
      else if (request.state.route?.strictJson === true) done(null, readStrictly(bytes, "The body"));
      else
        void parse(request, textOf(bytes, "The body"), (error: Error | null, value?: unknown) => {
          const problem = error ? "is not JSON" : problemOf(value);
          if (problem === null) done(null, value);
          else done(invalidJson(`The body ${problem}.`));
        });
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
 * Reads JSON that is stored as evidence: refuses anything that two parsers could read differently,
 * such as a repeated member.
 * @param what begins the sentence about it: "The body"
 * @throws ApiError `invalid_json`
 */
export function readStrictly(bytes: Buffer, what: string): unknown {
  const text = textOf(bytes, what);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof ProofError) throw invalidJson(`${what} is rejected: ${error.message}.`);
    throw error;
  }
  const problem = problemOf(value);
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
  // Fastify's parser would skip it.
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
