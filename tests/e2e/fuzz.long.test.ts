/**
 * Requests made from the service's own OpenAPI document and then bent: bodies, headers, ids,
 * cursors. Whatever comes, the answer is one that the document has, a refusal is one of the
 * contract's errors, and nothing is a defect of the service.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declareSource, writeEncryptedDump } from "./harness/backups.ts";
import { CONTRACT_ERRORS } from "./harness/errors.ts";
import { exchange, type Answer, type Call } from "./harness/https.ts";
import { attach, createAuthKey } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";

interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
}

interface Operation {
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  security: Record<string, unknown>[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content: Record<string, unknown> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Tries what is made up until that time is over: on a slow machine fewer, and always one. */
async function search<T>(
  made: fc.Arbitrary<T>,
  { runs, limit_ms }: { runs: number; limit_ms: number },
  look: (one: T) => Promise<void>,
): Promise<void> {
  const end = performance.now() + limit_ms;
  let tried = 0;
  const property = fc.asyncProperty(made, async (one) => {
    if (tried > 0 && performance.now() > end) return;
    tried++;
    await look(one);
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: true });
}
const UNLIMITED = "1000000/60";
/** A stream that does not end; the others sign the caller out or hold the request for a while. */
const LEFT_OUT = /\/live$|\/auth\/logout$|\/bootstrap\/\{poll_token\}$/;

let server: Server;
let document: Document;
let tokens: string[];
const ids = new Set<string>();
const cursors = new Set<string>();
beforeAll(async () => {
  const limits = ["DEFAULT", "ATTACH_FAILURES", "BOOTSTRAP_START", "SIGNUP_ADDRESS", "SIGNUP_EMAIL"];
  const more = ["LOGIN_ADDRESS", "LOGIN_EMAIL", "VERIFY_EMAIL"];
  server = await startServer(
    Object.fromEntries([...limits, ...more].map((name) => [`ATTESTORE_RATE_${name}`, UNLIMITED])),
  );
  const person = await signUp([server]);
  const authKey = await createAuthKey(server, person.orgId);
  const agent = await attach({ server, id: person.orgId, authKey });
  const sourceId = await declareSource(agent);
  const backup = await writeEncryptedDump(agent, sourceId);
  tokens = [person.token, agent.token, authKey];
  for (const id of [person.orgId, agent.id, sourceId, backup.id]) ids.add(id);
  document = (await exchange(server, { method: "GET", path: "/api/openapi.json" })).json<Document>();
});
afterAll(() => server.remove());

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    "",
    "\u0000",
    "null",
    "-1",
    "1e999",
    "../..",
    "%00",
    "'; --",
    "\ud800",
    "9".repeat(400),
    "{}",
  ),
);
const anyJson = fc.jsonValue({ depthSize: "small" });

/** Something in one of `among` calls. */
function rarely<T>(arbitrary: fc.Arbitrary<T>, among: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: among - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

type ValueOf = (schema: Schema) => fc.Arbitrary<unknown>;

/** What the schema takes. */
const plain: ValueOf = (schema) => fitting(schema, plain);

/** Mostly what the schema takes, and now and then anything. */
const bent: ValueOf = (schema) =>
  fc.oneof(
    { weight: 20, arbitrary: fitting(schema, bent) },
    { weight: 1, arbitrary: fc.oneof(anyText, anyJson) },
  );

function fitting(schema: Schema, valueOf: ValueOf): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined)
    return fitting(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, valueOf);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueOf));
  switch (schema.type) {
    case "object": {
      const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, valueOf(inner)]);
      return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys: schema.required ?? [],
      });
    }
    case "array":
      return fc.array(valueOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      });
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return fc.integer({
        min: Math.max(schema.minimum ?? -10, -(2 ** 31)),
        max: Math.min(schema.maximum ?? 1e6, 2 ** 31 - 1),
      });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case undefined:
    default:
      return anyJson;
  }
}

function textOf({ pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  if (pattern === undefined)
    return fc.string({ minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 50, 300) });
  const shape = new RegExp(pattern, "u");
  const own = [...ids].filter((id) => shape.test(id));
  // What may not follow is more than the generator knows: it is made, and left out.
  const made = fc
    .stringMatching(new RegExp(pattern.replaceAll(LOOKAHEAD, ""), "u"))
    .filter((text) => shape.test(text));
  return own.length === 0
    ? made
    : fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...own) }, { weight: 1, arbitrary: made });
}

const LOOKAHEAD = /\(\?[=!][^()]*\)/g;

/** What the wire can carry in a header. */
const headerText = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,60}$/);

/** A third of them are what the document asks for: a body of many fields is seldom bent in none. */
function requestOf(path: string, method: string, operation: Operation): fc.Arbitrary<Call> {
  return fc.oneof(
    { weight: 1, arbitrary: plainRequestOf(path, method, operation) },
    { weight: 2, arbitrary: bentRequestOf(path, method, operation) },
  );
}

function plainRequestOf(path: string, method: string, operation: Operation): fc.Arbitrary<Call> {
  return fc
    .record({ ...partsOf(operation, plain), token: fc.constantFrom(...tokensOf(operation)) })
    .map((made) => callOf(path, method, made));
}

/** The path's parameters, those of the query, and the body. */
function partsOf(operation: Operation, valueOf: ValueOf) {
  const of = (where: string) => operation.parameters.filter((parameter) => parameter.in === where);
  const fields = (where: string): fc.Arbitrary<Record<string, unknown>> =>
    fc.record(
      Object.fromEntries(
        of(where).map(({ name, required, schema }) => {
          const value = name === "cursor" ? cursorOr(valueOf(schema)) : valueOf(schema);
          return [name, required ? value : rarely(value, 4)];
        }),
      ),
    );
  const content = operation.requestBody?.content["application/json"];
  const body = content === undefined ? fc.constant(undefined) : valueOf(content.schema);
  return { inPath: fields("path"), query: fields("query"), body };
}

function bentRequestOf(path: string, method: string, operation: Operation): fc.Arbitrary<Call> {
  return fc
    .record({
      ...partsOf(operation, bent),
      unknown: rarely(fc.tuple(fc.string({ minLength: 1 }), anyText), 15),
      raw: rarely(fc.oneof(fc.uint8Array({ maxLength: 200 }), anyText), 15),
      token: fc.oneof(
        { weight: 14, arbitrary: fc.constantFrom(...tokensOf(operation)) },
        { weight: 1, arbitrary: headerText },
      ),
      key: rarely(fc.oneof({ weight: 3, arbitrary: fc.uuid() }, { weight: 1, arbitrary: headerText }), 3),
      type: rarely(fc.oneof(fc.constant("text/plain"), headerText), 15),
      cookie: rarely(headerText, 15),
    })
    .map((made) => callOf(path, method, made));
}

function cursorOr(other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return cursors.size === 0 ? other : fc.oneof(fc.constantFrom(...cursors), other);
}

function tokensOf({ security }: Operation): string[] {
  const names = security.flatMap((one) => Object.keys(one));
  const [session, agent, authKey] = tokens as [string, string, string];
  if (names.includes("agent")) return [agent];
  return names.includes("auth_key") ? [authKey] : [session];
}

interface Made {
  inPath: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  token: string;
  unknown?: [string, string] | undefined;
  raw?: string | Uint8Array | undefined;
  key?: string | undefined;
  type?: string | undefined;
  cookie?: string | undefined;
}

function callOf(path: string, method: string, made: Made): Call {
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => escaped(textIn(made.inPath[name])) || "_",
  );
  const query = Object.entries(made.query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escaped(textIn(value))}`],
  );
  if (made.unknown !== undefined) query.push(made.unknown.map(escaped).join("="));
  const hasBody = method !== "get" && (made.body !== undefined || made.raw !== undefined);
  return {
    method: method.toUpperCase(),
    path: query.length === 0 ? filled : `${filled}?${query.join("&")}`,
    headers: {
      authorization: `Bearer ${made.token}`.trim(),
      ...(hasBody ? { "content-type": made.type ?? "application/json" } : {}),
      ...(made.key === undefined ? {} : { "idempotency-key": made.key }),
      ...(made.cookie === undefined ? {} : { cookie: `__Host-attestore_session=${made.cookie}` }),
    },
    ...(hasBody ? { body: made.raw ?? JSON.stringify(made.body) ?? "" } : {}),
  };
}

const textIn = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function expectOfContract(operation: Operation, call: Call, answer: Answer): void {
  const told = `${call.method} ${call.path} ${JSON.stringify(call.headers)} ${String(call.body)} → ${answer.status} ${answer.body.toString().slice(0, 500)}`;
  expect(answer.status, told).toBeLessThan(500);
  // A path that a parameter bent is another one, or none.
  if (answer.status !== 404 && answer.status !== 405)
    expect(Object.keys(operation.responses), told).toContain(String(answer.status));
  if (answer.status < 400) return;
  const { error, message, request_id, details, ...rest } = answer.json();
  expect(CODES_OF_STATUS.get(answer.status), told).toContain(error);
  expect([typeof message, typeof details, rest], told).toEqual(["string", "object", {}]);
  if (answer.headers["idempotent-replayed"] === undefined)
    expect(request_id, told).toBe(answer.headers["x-request-id"]);
}

/** What an answer names is asked about from then on. */
function remember(answer: Answer): void {
  const told = answer.status < 300 ? answer.body.toString() : "";
  for (const [id] of told.matchAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g)) if (ids.size < 300) ids.add(id);
  const cursor = /"next_cursor":"([^"]+)"/.exec(told)?.[1];
  if (cursor !== undefined && cursors.size < 50) cursors.add(cursor);
}

/**
 * The agent first, then what makes something to ask about, then what ends it; whoever asks may lose
 * the right to with the last.
 */
function turnOf({ path, method }: { path: string; method: string }): number {
  if (path.includes("/users/") && method !== "get") return 4;
  if (method === "delete" || path.endsWith("/revoke")) return 3;
  if (path.startsWith("/v1/")) return 0;
  return method === "get" ? 2 : 1;
}

const CODES_OF_STATUS = Map.groupBy(Object.keys(CONTRACT_ERRORS), (code) => CONTRACT_ERRORS[code] ?? 0);

describe("an arbitrary request", () => {
  test("to a documented call is answered as documented", async () => {
    const operations = Object.entries(document.paths)
      .filter(([path]) => !LEFT_OUT.test(path))
      .flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({ path, method, one })))
      .toSorted((a, b) => turnOf(a) - turnOf(b));
    expect(operations.length).toBeGreaterThan(70);
    const taken = new Set<string>();
    for (const { path, method, one } of operations)
      await search(requestOf(path, method, one), { runs: 25, limit_ms: 3000 }, async (call) => {
        const answer = await exchange(server, call);
        expectOfContract(one, call, answer);
        // The document's own examples are nobody's.
        if (path !== "/api/openapi.json") remember(answer);
        if (answer.status < 300) taken.add(`${method} ${path}`);
      });
    // Otherwise only refusals were looked at.
    expect(taken.size).toBeGreaterThan(operations.length / 2);
    // On a machine that has nothing else to do, a tenth of that. Were the searches cut shorter
    // where it has, fewer calls would be taken.
  });

  test("to an undocumented path is answered as not found", async () => {
    const segments = fc.array(anyText, { minLength: 1, maxLength: 6 });
    const methods = fc.constantFrom("GET", "POST", "PUT", "DELETE");
    await search(fc.tuple(segments, methods), { runs: 100, limit_ms: 5000 }, async ([parts, method]) => {
      const path = `/v1/${parts.map(escaped).join("/")}`;
      const answer = await exchange(server, { method, path });
      const told = `${method} ${path} → ${answer.status} ${answer.body.toString()}`;
      expect([404, 405, 414], told).toContain(answer.status);
    });
  });
});
