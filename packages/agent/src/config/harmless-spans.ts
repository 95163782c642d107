import { isMap, isPair, isScalar, visit, type Document, type Node, type Pair } from "yaml";
import { ConfigFile } from "./config-schema.ts";
import { ENGINE_SETTINGS } from "./engines/engine-settings.ts";
import { CHECK_FIELDS } from "./parse-checks.ts";
import { CONTAINER_FIELDS, URI_FIELDS } from "./sandbox-config.ts";
import { OBJECTIVES, SOURCE_FIELDS } from "./source-config.ts";
import { LIMIT_FIELDS } from "./source-limits.ts";

/** From and to, in characters. */
export type Span = readonly [from: number, to: number];

const FIELDS = new Set<string>([
  ...namesIn(ConfigFile),
  ...SOURCE_FIELDS,
  ...Object.values(ENGINE_SETTINGS).flatMap(({ fields }) => fields),
  ...Object.values(CHECK_FIELDS).flat(),
  ...CONTAINER_FIELDS,
  ...URI_FIELDS,
  ...OBJECTIVES,
  ...LIMIT_FIELDS,
  "pick",
]);

/** The fields whose text is worth showing, and is no place for a secret. */
const PLAIN_TEXT = new Set([
  "engine",
  "path",
  "ca_file",
  "source",
  "id",
  "name",
  "expect",
  "kind",
  "image",
  "storage",
  "environment",
  "tags",
  "pick",
  "on_suspicion",
  "pattern",
  "windows",
  "max_rate",
  "region",
  "bucket",
]);

const NAMED_BY_PEOPLE = ["sources", "test_for"];

/** A field's name, or an engine's: a word that may be shown wherever it is. */
export function isOwnWord(word: string): boolean {
  return FIELDS.has(word) || Object.hasOwn(ENGINE_SETTINGS, word);
}

/**
 * The parts of config.yaml that may be shown on a screen or in a log: the names of known fields and
 * of sources, and the values of fields that are no place for a secret.
 */
export function harmlessSpans(document: Document): Span[] {
  const spans: Span[] = [];
  const add = (node: unknown): void => {
    const range = isScalar(node) ? (node as Node).range : null;
    if (range !== null && range !== undefined) spans.push([range[0], range[1]]);
  };
  visit(document, {
    Pair: (_, pair, above) => {
      const name = isScalar(pair.key) ? String(pair.key.value) : null;
      if (name === null) return;
      if (isNamedByPeople(above)) add(pair.key);
      if (!FIELDS.has(name)) return;
      add(pair.key);
      const { value } = pair;
      if (PLAIN_TEXT.has(name) || (isScalar(value) && typeof value.value !== "string")) add(value);
    },
  });
  return spans;
}

function isNamedByPeople(above: readonly unknown[]): boolean {
  const [, root, pair, map] = above;
  return above.length === 4 && isMap(root) && isMap(map) && isPair(pair) && isBlock(pair);
}

function isBlock({ key }: Pair): boolean {
  return isScalar(key) && NAMED_BY_PEOPLE.includes(String(key.value));
}

/** The names of a schema's fields, at any depth. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([word, inner]: [string, unknown]) => [
    ...(word === "properties" && typeof inner === "object" && inner !== null ? Object.keys(inner) : []),
    ...namesIn(inner),
  ]);
}
