import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Answer } from "../transport/exchange.ts";
import { ServiceError, type Refusal } from "../transport/service-error.ts";

const ErrorAnswer = Type.Object({
  error: Type.String({ pattern: "^[a-z][a-z0-9_]{0,63}$" }),
  message: Type.String({ maxLength: 4096 }),
  request_id: Type.String({ maxLength: 64 }),
  details: Type.Record(Type.String(), Type.Unknown()),
});

/**
 * The value of an expected answer. Fields that this version does not know are dropped, so that a
 * newer service may say more; the ones that it knows must all be there and be right.
 * @throws ServiceError `refused` for the contract's error body, `invalid_response` for anything
 * else
 */
export function readAnswer<Schema extends TSchema>(
  host: string,
  answer: Answer,
  expected: Readonly<Record<number, Schema>>,
): { status: number; value: Static<Schema> } {
  const schema = expected[answer.status];
  if (schema === undefined) throw refusal(host, answer);
  const value = Value.Clean(schema, parseJson(answer.body));
  if (!Value.Check(schema, value)) {
    const [first] = Value.Errors(schema, value);
    const where = first === undefined ? "" : ` (${first.instancePath || "the body"} ${first.message})`;
    throw invalid(host, answer, `its answer does not match the request${where}`);
  }
  return { status: answer.status, value: value as Static<Schema> };
}

const LineAnswer = Type.Object({
  status: Type.Integer({ minimum: 200, maximum: 599 }),
  answer: Type.Object({}),
});

/**
 * The answers to that many submissions of one call, each as if it came alone.
 * @throws ServiceError as `readAnswer` does, also if one of them has no answer
 */
export function readLines(host: string, answer: Answer, count: number): Answer[] {
  if (answer.status !== 200) throw refusal(host, answer);
  const lines = answer.body.toString("utf8").trimEnd().split("\n");
  if (lines.length !== count) throw invalid(host, answer, `it sent ${lines.length} answers, not ${count}`);
  return lines.map((line) => {
    const value = parseJson(Buffer.from(line));
    if (!Value.Check(LineAnswer, value)) throw invalid(host, answer, "its answer does not match the request");
    return { status: value.status, headers: {}, body: Buffer.from(JSON.stringify(value.answer)) };
  });
}

function refusal(host: string, answer: Answer): ServiceError {
  const body = parseJson(answer.body);
  if (answer.status < 400 || !Value.Check(ErrorAnswer, body))
    return invalid(host, answer, "that is not an answer of attestore; is there a proxy in between?");
  const refused: Refusal = {
    status: answer.status,
    error: body.error,
    message: body.message,
    requestId: body.request_id,
    details: body.details,
  };
  return new ServiceError("refused", `${host} refused: ${body.message} (${body.error}, ${body.request_id})`, {
    refusal: refused,
    retryAfter_s: retryAfter(answer),
  });
}

function invalid(host: string, answer: Answer, why: string): ServiceError {
  return new ServiceError("invalid_response", `${host} answered with status ${answer.status}: ${why}`, {
    status: answer.status,
    retryAfter_s: retryAfter(answer),
  });
}

/** Whole seconds; a date (RFC 9110 section 10.2.3) is converted to seconds from now. */
function retryAfter({ headers }: Answer): number | null {
  const text = headers["retry-after"];
  if (text === undefined) return null;
  if (/^\d{1,7}$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
