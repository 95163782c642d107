import type { Issue } from "@attestore/contract";
import type { TSchema } from "@fastify/type-provider-typebox";
import type { FastifySchema, FastifySchemaValidationError } from "fastify";
import { invalidRequest, notFound, type ApiError } from "../../errors/api-error.ts";
import type { Route } from "../route/route.ts";

const MAX_ISSUES = 20;
const NOTHING = { type: "object", additionalProperties: false } as const;

/** The parts of a request that Fastify validates before the handler. */
export function schemaOf(route: Route): FastifySchema {
  return {
    ...(route.params === undefined ? {} : { params: route.params }),
    querystring: route.query ?? NOTHING,
    ...(route.body === undefined
      ? {}
      : { body: takesLines(route) ? ofOneSubmission(route.body) : route.body }),
  };
}

/** Lines are validated one by one, where they are handled. */
function ofOneSubmission(schema: TSchema): object {
  return { content: { "application/json": { schema } } };
}

function takesLines(route: Route): boolean {
  return route.mode === "submit" && route.lines !== undefined;
}

/**
 * Whether a body may be left out: an object in which nothing is required, so no body counts as
 * `{}`.
 */
export function isBodyOptional(body: TSchema): boolean {
  const { type, required, minProperties } = body as {
    type?: unknown;
    required?: readonly string[];
    minProperties?: number;
  };
  return type === "object" && (required ?? []).length === 0 && (minProperties ?? 0) === 0;
}

/**
 * The answer to what ajv found. `part` says where: a wrong path parameter names nothing, everything
 * else is a bad request.
 */
export function validationError(
  part: string | undefined,
  errors: readonly FastifySchemaValidationError[],
): ApiError {
  if (part === "params") return notFound("record");
  const where = part === "querystring" ? "query" : "body";
  const issues = errors.slice(0, MAX_ISSUES).map((error) => issueOf(error));
  return invalidRequest(`The ${where} does not have the form that this call expects.`, issues);
}

function issueOf(error: FastifySchemaValidationError): Issue {
  const { additionalProperty } = error.params;
  const message = error.message ?? "is not valid";
  if (typeof additionalProperty !== "string") return { path: error.instancePath, message };
  return {
    path: `${error.instancePath}/${pointerToken(additionalProperty)}`,
    message: "is not a known field",
  };
}

/** RFC 6901 section 3. Long names are cut, because they come from the caller. */
function pointerToken(name: string): string {
  return name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1");
}
