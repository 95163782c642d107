import type { ForeignMetadata } from "../../engine.ts";
import type { ContentMetadata } from "./describe-content.ts";
import { LARGE_OBJECTS } from "./tables.ts";

/** What a backup's metadata says of content. */
export interface ExpectedContent {
  /** By table. */
  readonly tags: ReadonlyMap<string, string>;
  /** Every table that is named, with or without. */
  readonly named: ReadonlySet<string>;
  readonly sha256: string;
  readonly rest: ContentMetadata["rest"];
  readonly settings: NonNullable<ContentMetadata["settings"]>;
  readonly notCompared: { readonly count: number; readonly names: readonly string[] };
}

const SHA256 = /^[0-9a-f]{64}$/;
const TAG = /^[0-9a-f]{32}$/;
const MAX_NAMES = 40;

/** It came over the wire: null unless there is something to compare with. */
export function expectedContent(metadata: ForeignMetadata): ExpectedContent | null {
  const { tables, sha256, rest, settings, not_compared, large_objects } = recordOf(metadata["content"]);
  const { bytea_output, quote_all_identifiers, lc_monetary, client_encoding } = recordOf(settings);
  const isKnown =
    typeof tables === "number" &&
    tables > 0 &&
    isSha256(sha256) &&
    (bytea_output === "hex" || bytea_output === "escape") &&
    (quote_all_identifiers === "on" || quote_all_identifiers === "off") &&
    typeof lc_monetary === "string" &&
    typeof client_encoding === "string" &&
    /^[A-Za-z0-9_]{1,32}$/.test(client_encoding);
  if (!isKnown) return null;
  const listed = (Array.isArray(metadata["tables"]) ? metadata["tables"] : []).map(recordOf);
  if (large_objects !== undefined) listed.push({ name: LARGE_OBJECTS, content: large_objects });
  const ofRest = recordOf(rest);
  const { count, named } = recordOf(not_compared);
  return {
    tags: new Map(
      listed.flatMap(({ name, content }) =>
        typeof name === "string" && typeof content === "string" && TAG.test(content)
          ? [[name, content] as const]
          : [],
      ),
    ),
    named: new Set(listed.flatMap(({ name }) => (typeof name === "string" ? [name] : []))),
    sha256,
    rest:
      isSha256(ofRest["sha256"]) && typeof ofRest["tables"] === "number"
        ? { tables: ofRest["tables"], sha256: ofRest["sha256"] }
        : null,
    settings: { bytea_output, quote_all_identifiers, lc_monetary, client_encoding },
    notCompared: {
      count: typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0,
      names: (Array.isArray(named) ? named : [])
        .slice(0, MAX_NAMES)
        .map(recordOf)
        .flatMap(({ name, why }) =>
          typeof name === "string" && typeof why === "string" ? [`${name} (${why})`] : [],
        ),
    },
  };
}

function isSha256(value: unknown): value is string {
  return typeof value === "string" && SHA256.test(value);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
