import { ERROR_STATUS, type ErrorCode, LINES_TYPE } from "@attestore/contract";
import type { Route } from "../http/route/route.ts";
import { isBodyOptional } from "../http/body/validate.ts";
import { exampleOf } from "./example.ts";
import { type JsonSchema, SchemaNames } from "./schema-names.ts";
import { errorCodesOf } from "./error-codes.ts";

export interface OpenApiDocument {
  openapi: "3.1.0";
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    securitySchemes: Record<string, object>;
    headers: object;
  };
}

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Content> };
  responses: Record<string, Response>;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
}

interface Content {
  schema: JsonSchema;
  example?: unknown;
}

interface Response {
  description: string;
  headers?: object;
  content: Record<string, Content>;
}

const DESCRIPTION =
  "Attestore proves that backups restore. Agents use the calls under /v1/; people and their programs use those under /api/. " +
  "Timestamps are RFC 3339 in UTC, durations carry their unit in their name, digests and hashes are lower-case hex SHA-256, sizes are bytes. " +
  "Lists are newest first, in pages of `limit`; `next_cursor` is the `cursor` of the next page. " +
  "An `Idempotency-Key` makes a call that changes something safe to repeat.";

const SECURITY_SCHEMES = {
  agent: { type: "http", scheme: "bearer", description: "The agent's token, `ats_…`." },
  auth_key: { type: "http", scheme: "bearer", description: "An auth key, `atk_…`." },
  session: { type: "http", scheme: "bearer", description: "A session's token, `atss_…`." },
  session_cookie: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-attestore_session",
    description: "The same token, as the dashboard has it; changes need the service's own `Origin`.",
  },
} as const;

/**
 * The service's API as OpenAPI 3.1, made from the schemas that validate. `named` are schemas with
 * the names that they get.
 */
export function openApiDocument(
  routes: readonly Route[],
  named: Readonly<Record<string, unknown>>,
  { url, version }: { url: string; version: string },
): OpenApiDocument {
  const names = new SchemaNames(named);
  const paths: OpenApiDocument["paths"] = {};
  for (const route of routes) {
    const path = pathOf(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, names) };
  }
  const tags = [...new Set(routes.map(tagOf))].map((name) => ({ name, description: TAGS[name] ?? name }));
  return {
    openapi: "3.1.0",
    info: {
      title: "Attestore",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url }],
    tags,
    paths,
    components: { schemas: names.components(), securitySchemes: SECURITY_SCHEMES, headers: HEADERS },
  };
}

const TAGS: Readonly<Record<string, string>> = {
  agent: "What agents call",
  bootstrap: "How an agent attaches",
  auth: "Signing in and out",
  orgs: "Organisations and what they have",
  receipts: "Receipts and their proofs",
  backups: "Backups",
  "auditor-links": "Opening an auditor link",
  events: "Events of the log",
  commands: "Commands to agents",
  "api-logs": "Who called what",
};

function tagOf(route: Route): string {
  const [, surface = "", noun = ""] = route.path.split("/");
  return surface === "v1" ? "agent" : noun;
}

/** `/api/orgs/:orgID` is `/api/orgs/{orgID}` here. */
export function pathOf(route: Route): string {
  return route.path.replaceAll(/:([A-Za-z_]+)/g, "{$1}");
}

function operationOf(route: Route, names: SchemaNames): Operation {
  const { body } = route;
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z0-9]+/g, "_")}`,
    summary: route.summary,
    tags: [tagOf(route)],
    security: securityOf(route),
    parameters: parametersOf(route, names),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !isBodyOptional(body),
            content: {
              "application/json": { schema: names.schema(body), example: exampleOf(body) },
              ...linesOf(route),
            },
          },
        }),
    responses: responsesOf(route, names),
  };
}

/** Several of these bodies, one on each line. */
function linesOf(route: Route): Record<string, Content> {
  if (route.mode !== "submit" || route.lines === undefined) return {};
  return { [LINES_TYPE]: { schema: { type: "string", contentMediaType: "application/json" } } };
}

function securityOf({ credential }: Route): Record<string, string[]>[] {
  switch (credential) {
    case "anonymous":
      return [];
    case "user":
    case "session":
      return [{ session: [] }, { session_cookie: [] }];
    case "agent":
    case "auth_key":
      return [{ [credential]: [] }];
  }
}

const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A ULID or UUID chosen by the caller: the same key with the same body gets the first answer again.",
  schema: { type: "string", maxLength: 36 },
  example: "01890a5d-ac96-774b-bcce-b302099a8057",
};

function parametersOf(route: Route, names: SchemaNames): Parameter[] {
  const inPath = Object.entries(propertiesOf(route.params)).map(([name, schema]): Parameter => ({
    name,
    in: "path",
    required: true,
    ...described(schema, names),
  }));
  const required = new Set((route.query as { required?: string[] } | undefined)?.required);
  const inQuery = Object.entries(propertiesOf(route.query)).map(([name, schema]): Parameter => ({
    name,
    in: "query",
    required: required.has(name),
    ...described(schema, names),
  }));
  const changes = route.mode === "write" || route.mode === "submit";
  return [...inPath, ...inQuery, ...(changes && route.method === "POST" ? [IDEMPOTENCY_KEY] : [])];
}

function described(schema: JsonSchema, names: SchemaNames): Pick<Parameter, "schema" | "description"> {
  const { description, ...rest } = names.schema(schema);
  return { schema: rest, ...(typeof description === "string" ? { description } : {}) };
}

function propertiesOf(schema: unknown): Record<string, JsonSchema> {
  return (schema as { properties?: Record<string, JsonSchema> } | undefined)?.properties ?? {};
}

const HEADERS = {
  "X-Request-Id": { description: "The request's id, `req_…`.", schema: { type: "string" } },
  "Retry-After": { description: "Seconds to wait before trying again.", schema: { type: "string" } },
};
const REQUEST_ID = { "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" } };

function responsesOf(route: Route, names: SchemaNames): Operation["responses"] {
  const responses: Operation["responses"] = {};
  for (const [status, schema] of Object.entries(route.answers))
    responses[status] = {
      description: DESCRIPTIONS[status] ?? "Done.",
      headers: REQUEST_ID,
      content:
        typeof schema === "string"
          ? { [schema]: { schema: { type: schema.startsWith("application/json") ? "object" : "string" } } }
          : { "application/json": { schema: names.schema(schema), example: exampleOf(schema) } },
    };
  for (const [status, codes] of Object.entries(
    Object.groupBy(errorCodesOf(route), (code) => ERROR_STATUS[code]),
  ))
    responses[status] ??= errorResponse(codes ?? []);
  return responses;
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  "200": "Done.",
  "201": "Made.",
  "202": "Accepted.",
};

function errorResponse(codes: readonly ErrorCode[]): Response {
  const limited = codes.some((code) =>
    ["rate_limited", "unavailable", "idempotency_in_progress"].includes(code),
  );
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: {
      ...REQUEST_ID,
      ...(limited ? { "Retry-After": { $ref: "#/components/headers/Retry-After" } } : {}),
    },
    content: {
      "application/json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/ErrorBody" },
            { type: "object", properties: { error: { enum: [...codes] } } },
          ],
        },
        example: {
          error: codes[0],
          message: "What happened, to what, and what to do next.",
          request_id: "req_01k9hq3v6ye8sa5m2c4d7f9g1h",
          details: {},
        },
      },
    },
  };
}
