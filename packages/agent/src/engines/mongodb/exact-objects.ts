import type { DatabaseObject } from "../content/tagged-objects.ts";
import { documentIn, exactText, type Field, fieldsOf } from "./exact-text.ts";

/**
 * What a server lists of collections, views and indexes, each as an object with everything that a
 * restore must bring back. docs/formats.md says what earlier versions lack.
 */

/** Of lists that this agent signs. */
export const OBJECTS_VERSION = 5;
/** Of those that it compares. 3 and 4 are PostgreSQL's. */
export const OBJECTS_VERSIONS = [1, 2, OBJECTS_VERSION] as const;

/**
 * Each server makes its own id. The other is about replication, and mongorestore leaves it out.
 */
const NOT_OF_A_COLLECTION = new Set(["uuid", "recordIdsReplicated"]);
/**
 * A restore makes each index in the server's newest format. Its name and its fields, whose order
 * matters, are listed apart.
 */
const NOT_OF_AN_INDEX = new Set(["key", "name", "v", "ns", "background"]);
/** They hold values that are compared with documents, so types and order matter. */
const EXPRESSIONS = new Set(["validator", "pipeline", "partialFilterExpression"]);

const EXACT = { typed: true, sorted: false };
/** The server itself may change a number's type. */
const IN_ORDER = { typed: false, sorted: false };
/** mongorestore may change the order of names in an option of an index, which means nothing. */
const ANY_ORDER = { typed: false, sorted: true };

const TRUE = Buffer.of(1);

/** One as a server's replies have it, in BSON. */
export interface ServerCollection {
  readonly database: string;
  readonly collection: string;
  readonly isView: boolean;
  readonly listed: Uint8Array;
  readonly indexes: readonly Uint8Array[];
}

export function exactObjects({
  database,
  collection,
  isView,
  listed,
  indexes,
}: ServerCollection): DatabaseObject[] {
  const relation = `${database}.${collection}`;
  const whole = fieldsOf(listed);
  const type = whole
    .find(({ name }) => name === "type")
    ?.value.toString("latin1", 4)
    .replace("\0", "");
  const options = documentIn(whole, "options");
  return [
    {
      kind: isView ? "view" : "collection",
      name: relation,
      definition: definitionOf(
        [database, collection, type === "timeseries" ? type : ""],
        [
          exactText(
            (options === null ? [] : fieldsOf(options)).filter((field) => !isLeftOut(field)),
            { sorted: true, ruleOf: (name) => (EXPRESSIONS.has(name) ? EXACT : IN_ORDER) },
          ),
        ],
      ),
    },
    ...indexes.map((bytes) => indexObject(database, collection, fieldsOf(bytes))),
  ];
}

/** Whether it has some of what versions 1 and 2 have only in part. */
export function hasExpression({ definition }: DatabaseObject): boolean {
  return [...EXPRESSIONS].some((name) => definition.includes(`[\\"${name}\\",`));
}

function indexObject(database: string, collection: string, fields: readonly Field[]): DatabaseObject {
  const name =
    fields
      .find((field) => field.name === "name")
      ?.value.toString("utf8", 4)
      .replace("\0", "") ?? "";
  const key = documentIn(fields, "key");
  return {
    kind: "index",
    name: `${database}.${collection} ${name}`,
    definition: definitionOf(
      [database, collection, name],
      [
        exactText(key === null ? [] : fieldsOf(key), { sorted: false, ruleOf: () => IN_ORDER }),
        exactText(
          fields.filter((field) => !NOT_OF_AN_INDEX.has(field.name)),
          { sorted: true, ruleOf: (option) => (EXPRESSIONS.has(option) ? EXACT : ANY_ORDER) },
        ),
      ],
    ),
  };
}

/** `autoIndexId: true` is the default, and mongorestore leaves it out. */
function isLeftOut({ name, value }: Field): boolean {
  return NOT_OF_A_COLLECTION.has(name) || (name === "autoIndexId" && value.equals(TRUE));
}

/** The names apart: one with a space could otherwise be read as two. */
function definitionOf(names: readonly string[], texts: readonly string[]): string {
  return JSON.stringify([names, ...texts]);
}
