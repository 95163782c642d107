import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { MAX_BODY_BYTES } from "@attestore/contract";
import type { Logger } from "../logging/logger.ts";
import { asDatabaseUnavailable } from "../database/unavailable.ts";
import { ApiError, errorBody, invalidRequest, notFound, unavailable } from "../errors/api-error.ts";
import { invalidJson, tooLarge, unsupportedMediaType } from "./body/json-body.ts";
import { validationError } from "./body/validate.ts";

/**
 * The answer to an error of a layer that knows nothing about HTTP, such as the log; null if it has
 * none.
 */
export type AnswerTo = (error: unknown) => ApiError | null;

/**
 * Turns whatever was thrown into an answer of the contract. Logs only defects, with the request's
 * id, and what `answerTo` knows, such as a log that was set back.
 */
export function toApiError(
  error: unknown,
  request: FastifyRequest,
  { logger, answerTo }: { logger: Logger; answerTo?: AnswerTo | undefined },
): ApiError {
  if (error instanceof ApiError) return error;
  const known = answerTo?.(error) ?? null;
  if (known !== null) {
    logger.error({ err: error, request_id: request.id }, "a request was refused");
    return known;
  }
  if (asDatabaseUnavailable(error) !== null) {
    logger.warn({ err: error, request_id: request.id }, "the database is away");
    return unavailable("The service cannot reach its database right now.");
  }
  if (isFastifyError(error)) {
    if (error.validation !== undefined) return validationError(error.validationContext, error.validation);
    const refused = frameworkError(error.code, request);
    if (refused !== null) return refused;
    if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
      return invalidRequest("The request could not be read.", []);
  }
  logger.error({ err: error, request_id: request.id, route: request.state?.route?.path }, "a request failed");
  return new ApiError(
    "internal",
    "The service failed. If this keeps happening, give the operator the request id.",
  );
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && ("validation" in error || "statusCode" in error);
}

function frameworkError(code: string, request: FastifyRequest): ApiError | null {
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE": {
      return tooLarge("The body", request.routeOptions.bodyLimit ?? MAX_BODY_BYTES);
    }
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupportedMediaType();
    case "FST_ERR_CTP_INVALID_JSON_BODY":
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
      return invalidJson("The body is not JSON.");
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return notFound("path");
    default:
      return null;
  }
}

/**
 * Sends an error's answer. `X-Request-Id` is set here too, because some errors come before the
 * first hook.
 */
export function sendError(reply: FastifyReply, request: FastifyRequest, error: ApiError): FastifyReply {
  return reply
    .code(error.status)
    .header("x-request-id", request.id)
    .headers(error.headers)
    .type("application/json; charset=utf-8")
    .send(Buffer.from(JSON.stringify(errorBody(error, request.id))));
}
