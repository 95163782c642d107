import type { ForeignMetadata, SourceCheck } from "../../engines/engine.ts";

/** A backup's findings about the source itself; null if nobody looked. */
export function sourceCheckOf(metadata: ForeignMetadata): SourceCheck | null {
  const check = metadata["source_check"] as Partial<SourceCheck> | null | undefined;
  const { by, damaged, not_checked, damaged_names, not_checked_names } = check ?? {};
  const isOne =
    typeof by === "string" &&
    typeof damaged === "number" &&
    typeof not_checked === "number" &&
    Array.isArray(damaged_names) &&
    Array.isArray(not_checked_names);
  return isOne ? (check as SourceCheck) : null;
}

/** For people. Nothing if all of it was looked at and is whole. */
export function sourceCheckLines(source: string, check: SourceCheck | null): string[] {
  if (check === null) return [];
  const { by, damaged, damaged_names, not_checked, not_checked_names } = check;
  return [
    ...(damaged === 0
      ? []
      : [
          `${source}: ${by} says that ${damaged} of the source's indexes or tables are damaged: ${listed(damaged_names, damaged)}`,
        ]),
    ...(not_checked === 0
      ? []
      : [`${source}: ${by} did not look at ${not_checked}: ${listed(not_checked_names, not_checked)}`]),
  ];
}

const MAX_SHOWN = 5;

function listed(names: readonly string[], count: number): string {
  const shown = names.slice(0, MAX_SHOWN);
  return `${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}`;
}
