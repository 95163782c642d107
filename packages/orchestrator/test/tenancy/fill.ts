/**
 * Requests made from a route's own schemas, with the ids of an organisation wherever the schema
 * says that one goes. A route that is added is filled in by this without a word here, or else the
 * walk fails and says what it does not know.
 */
import { ID_KINDS, idPattern, type IdKind } from "@attestore/contract";
import { exampleOf } from "../../src/platform/openapi/example.ts";
import type { Route } from "../../src/platform/http/route/route.ts";
import type { Call } from "../client.ts";

interface Schema {
  type?: string;
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

const KIND_BY_PATTERN = new Map<string, IdKind>(ID_KINDS.map((kind) => [idPattern(kind), kind]));

/** A place in a request that names something of an organisation. */
export type Slot = IdKind | "code" | "poll_token";
/** What to put into the request's n-th such place. */
export type Pick = (slot: Slot, n: number) => string;

/** Path parameters that are no ids. */
const NAMED: readonly Slot[] = ["code", "poll_token"];

/**
 * The request of a route, without a credential. Throws where a path parameter is of a kind that
 * nothing here knows.
 */
export function fill(route: Route, pick: Pick): Filled {
  let n = 0;
  const slots: Slot[] = [];
  const next = (slot: Slot): string => {
    slots.push(slot);
    return pick(slot, n++);
  };
  const params = (route.params ?? {}) as Schema;
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(next(slotOf(route, name, params.properties?.[name]))),
  );
  const query = new URLSearchParams(queryOf((route.query ?? {}) as Schema, next));
  const json = route.body === undefined ? undefined : valueOf(route.body as Schema, next);
  return {
    slots,
    call: {
      method: route.method,
      path: query.size === 0 ? path : `${path}?${query.toString()}`,
      ...(json === undefined ? {} : { json }),
    },
  };
}

export interface Filled {
  call: Call;
  slots: Slot[];
}

export function nameOf(route: Route): string {
  return `${route.method} ${route.path}`;
}

function slotOf(route: Route, name: string, schema: Schema | undefined): Slot {
  const kind = KIND_BY_PATTERN.get(schema?.pattern ?? "");
  if (kind !== undefined) return kind;
  const named = NAMED.find((slot) => slot === name);
  if (named !== undefined) return named;
  throw new Error(`${nameOf(route)}: the tenancy walk does not know how to fill in :${name}`);
}

/** What has to be there, and every id that may be. */
function queryOf(
  { properties = {}, required = [] }: Schema,
  next: (slot: Slot) => string,
): [string, string][] {
  return Object.entries(properties)
    .filter(([name, schema]) => required.includes(name) || KIND_BY_PATTERN.has(schema.pattern ?? ""))
    .map(([name, schema]) => [name, String(valueOf(schema, next))]);
}

/** The example of a schema, with ids of the walk's own in it. */
function valueOf(schema: Schema, next: (slot: Slot) => string): unknown {
  const kind = KIND_BY_PATTERN.get(schema.pattern ?? "");
  if (kind !== undefined) return next(kind);
  if (schema.anyOf !== undefined) return valueOf(schema.anyOf[0] ?? {}, next);
  if (schema.type === "array" && schema.items !== undefined) return [valueOf(schema.items, next)];
  if (schema.type === "object" && schema.properties !== undefined)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [name, valueOf(inner, next)]),
    );
  return exampleOf(schema);
}
