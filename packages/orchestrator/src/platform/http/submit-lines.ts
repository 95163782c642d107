import { MAX_BODY_BYTES } from "@attestore/contract";
import type { FastifyRequest } from "fastify";
import type { Logger } from "../logging/logger.ts";
import { errorBody } from "../errors/api-error.ts";
import { toWire, type WireAnswer } from "./route/answer.ts";
import { apiLogRow, type ApiLogRow } from "./api-log/api-log-row.ts";
import { validatorCompiler } from "./body/compile-validator.ts";
import { type AnswerTo, toApiError } from "./error-answer.ts";
import { readStrictly, tooLarge } from "./body/json-body.ts";
import { formatLine } from "./body/split-lines.ts";
import type { Call, SubmissionRecord, SubmitRoute } from "./route/route.ts";
import { validationError } from "./body/validate.ts";

interface Lines {
  route: SubmitRoute;
  validate: LineValidator;
}

/** Throws ApiError `invalid_request` for what does not have the route's form. */
export type LineValidator = (value: unknown) => void;

export function lineValidator({ body, method, path }: SubmitRoute): LineValidator {
  const validate = validatorCompiler()({ schema: body ?? {}, method, url: path, httpPart: "body" });
  return (value) => {
    if (validate(value) === false) throw validationError("body", validate.errors ?? []);
  };
}

/**
 * Handles each line of a body as a call of its own, except for what they share: the credential, the
 * request's id and one row of the API log, which is committed with the first of them. They reach
 * the log in the order of their lines, so that an agent's receipts stay a chain there.
 * @returns an answer for each line, in that order
 */
export async function submitLines(
  deps: { logger: Logger; answerTo: AnswerTo | undefined },
  { route, validate }: Lines,
  request: FastifyRequest,
  call: Call,
): Promise<Buffer> {
  // Copied once: a call makes its signal when it is asked for it.
  const shared = { ...call };
  let row: ApiLogRow | null = null;
  const record = { idempotency: null, apiLogRow: () => (row ??= apiLogRow(request, 200)) };
  let before = Promise.resolve();
  const answers = (request.state.lines ?? []).map(async (line) => {
    const turn = Promise.withResolvers<void>();
    const earlier = before;
    const own: SubmissionRecord = { ...record, turn: { before: earlier, over: turn.resolve } };
    before = turn.promise;
    try {
      return await submitLine({ route, validate }, shared, line, own);
    } catch (error) {
      const refused = toApiError(error, request, deps);
      return toWire({ status: refused.status, body: errorBody(refused, request.id) });
    } finally {
      // One that was refused at once lets nobody pass those before it.
      turn.resolve(earlier);
    }
  });
  const answered = await Promise.all(answers);
  request.state.apiLogSettled = answered.some(({ status }) => status === 201);
  return Buffer.concat(answered.map(formatLine));
}

async function submitLine(
  { route, validate }: Lines,
  call: Call,
  line: Buffer,
  record: SubmissionRecord,
): Promise<WireAnswer> {
  const limit = route.bodyLimit ?? MAX_BODY_BYTES;
  if (line.length > limit) throw tooLarge("The line", limit);
  const body = readStrictly(line, "The line");
  validate(body);
  return route.handle({ ...call, body, rawBody: line }, record);
}
