import type { ForeignMetadata } from "../engine.ts";
import type { ContentMetadata } from "./signed-content.ts";

/** What a backup's metadata say about content. */
export interface ExpectedContent {
  /** By table. */
  readonly tags: ReadonlyMap<string, string>;
  /** Every table in the metadata, with or without a tag. */
  readonly named: ReadonlySet<string>;
  readonly sha256: string;
  readonly rest: ContentMetadata["rest"];
  readonly notCompared: { readonly count: number; readonly names: readonly string[] };
}

const SHA256 = /^[0-9a-f]{64}$/;
const MAX_NAMES = 40;

/**
 * We received the metadata: null if they contain nothing to compare with. `apart` are fields of
 * `content` with a tag, each with the name of what it covers.
 */
export function expectedContent(
  metadata: ForeignMetadata,
  apart: Readonly<Record<string, string>> = {},
): ExpectedContent | null {
  const signed = recordOf(metadata["content"]);
  const { tables, sha256, rest, not_compared } = signed;
  if (typeof tables !== "number" || tables <= 0 || !isSha256(sha256)) return null;
  const listed = (Array.isArray(metadata["tables"]) ? metadata["tables"] : []).map(recordOf);
  const known = new Set<unknown>();
  for (const [field, name] of Object.entries(apart))
    if (signed[field] !== undefined) {
      listed.push({ name, content: signed[field] });
      if (isTag(signed[field])) known.add(name);
    }
  const ofRest = recordOf(rest);
  const { count, named } = recordOf(not_compared);
  const isKnown = ({ name, why }: Readonly<Record<string, unknown>>): boolean =>
    why === "apart" && known.has(name);
  const notCompared = (Array.isArray(named) ? named : []).map(recordOf);
  const left = Number(count) - notCompared.filter(isKnown).length;
  const tags = new Map(
    listed.flatMap(({ name, content }) =>
      typeof name === "string" && isTag(content) ? [[name, content] as const] : [],
    ),
  );
  const inRest = typeof ofRest["tables"] === "number" ? ofRest["tables"] : 0;
  // A set with many databases has no room for all digests. `count` says how many more.
  const lost = Math.max(0, tables - tags.size - inRest);
  return {
    tags,
    named: new Set(listed.flatMap(({ name }) => (typeof name === "string" ? [name] : []))),
    sha256,
    rest:
      isSha256(ofRest["sha256"]) && typeof ofRest["tables"] === "number"
        ? { tables: ofRest["tables"], sha256: ofRest["sha256"] }
        : null,
    notCompared: {
      count: (typeof count === "number" && Number.isSafeInteger(count) && left > 0 ? left : 0) + lost,
      names: [
        ...(lost === 0 ? [] : ["a table whose digest is not in the receipt (unnamed)"]),
        ...notCompared
          .slice(0, MAX_NAMES)
          .filter((each) => !isKnown(each))
          .flatMap(({ name, why }) =>
            typeof name === "string" && typeof why === "string" ? [`${name} (${why})`] : [],
          ),
      ],
    },
  };
}

function isTag(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{32}$/.test(value);
}

function isSha256(value: unknown): value is string {
  return typeof value === "string" && SHA256.test(value);
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
