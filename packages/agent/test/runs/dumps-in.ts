import type { SourceConfigOf } from "../../src/config/source-config.ts";

/** The dumps that others left in a directory, as a source. */
export function dumpsIn(
  directory: string,
  more: Partial<SourceConfigOf<"dumps">> = {},
): SourceConfigOf<"dumps"> {
  return {
    slug: "legacy",
    engine: "dumps",
    sandbox: "process",
    checkTimeout_s: 60,
    checks: [],
    place: { kind: "directory", path: directory },
    pattern: "*",
    min_age_s: 0,
    max_age_s: null,
    min_bytes: 1,
    ...more,
  };
}
