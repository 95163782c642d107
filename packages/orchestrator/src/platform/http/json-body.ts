import { parseJson, ProofError } from "@attestore/proof";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../errors/api-error.ts";
import { problemOf } from "./json-values.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Accepts application/json and nothing else. The body's bytes are kept for the idempotency
 * fingerprint. Refuses as `invalid_json`: bytes that are not UTF-8, a byte order mark, keys that
 * would reach an object's prototype, and the values that json-values.ts names; with `strictJson`
 * also what proof's parser refuses, such as a repeated member.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    try {
      assertPlainUtf8(request);
    } catch (error) {
      done(error as ApiError);
      return;
    }
    // parseAs makes it a Buffer; the type allows for text
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    request.state.rawBody = bytes;
    if (bytes.length === 0) {
      done(null, undefined);
      return;
    }
    let text: string;
    try {
      text = strictUtf8.decode(bytes);
    } catch {
      done(invalidJson("The body is not UTF-8."));
      return;
    }
    // Fastify's parser would skip it.
    if (text.startsWith("\ufeff")) {
      done(invalidJson("The body begins with a byte order mark."));
      return;
    }
    const take = (error: Error | null, value?: unknown): void => {
      const problem = error ? "is not JSON" : problemOf(value);
      if (problem === null) done(null, value);
      else done(invalidJson(`The body ${problem}.`));
    };
    if (request.state.route?.strictJson !== true) {
      void parse(request, text, take);
      return;
    }
    let value: unknown;
    try {
      value = parseJson(text);
    } catch (error) {
      if (error instanceof ProofError) done(invalidJson(`The body is rejected: ${error.message}.`));
      else done(error as Error);
      return;
    }
    take(null, value);
  });
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

export function unsupportedMediaType(): ApiError {
  return new ApiError(
    "unsupported_media_type",
    "Send the body as application/json in UTF-8, without a content encoding.",
  );
}
