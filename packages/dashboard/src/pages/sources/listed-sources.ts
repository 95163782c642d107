import { hasLabels } from "./labels.ts";
import type { SORTS, STATES } from "./search-params.ts";

type Sort = (typeof SORTS)[number];
export type State = (typeof STATES)[number];

/** A source in the list; fields that are not known are null. */
export interface ListedSource {
  id: string;
  slug: string;
  name: string;
  engine: string;
  tags: readonly string[];
  environment: string | null;
  agent_id: string;
  /** Null if the reader may not see it. */
  state: State | null;
  concerns: readonly string[];
  last_backup_at: string | null;
  last_proven_at: string | null;
  next_backup_at: string | null;
}

export interface ListFilter {
  name?: string;
  state?: State;
  environment?: string;
  tag?: string;
  sort?: Sort;
}

/** Filters and sorts the sources, which come worst first. */
export function arranged(
  sources: readonly ListedSource[],
  { name, state, sort, ...labels }: ListFilter,
): ListedSource[] {
  const wanted = name?.trim().toLowerCase() ?? "";
  const found = sources.filter(
    (source) =>
      (state === undefined || source.state === state) &&
      hasLabels(source, labels) &&
      `${source.name} ${source.slug} ${source.engine}`.toLowerCase().includes(wanted),
  );
  switch (sort) {
    case "name":
      return found.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
    case "backup":
      return found.toSorted(byAge("last_backup_at"));
    case "proof":
      return found.toSorted(byAge("last_proven_at"));
    case "trouble":
    case undefined:
    default:
      return found;
  }
}

/** Never counts as older than everything. */
function byAge(clock: "last_backup_at" | "last_proven_at") {
  return (a: ListedSource, b: ListedSource): number => (a[clock] ?? "").localeCompare(b[clock] ?? "");
}
