import { oneOf, present, textIn } from "../../api/search-params.ts";

export const SORTS = ["trouble", "name", "backup", "proof"] as const;
export const STATES = ["failed", "missed", "none", "backed_up", "proven"] as const;
export const TABS = ["timeline", "tests", "drift", "settings"] as const;
export const TOPICS = ["backups", "restore_tests", "trouble", "commands"] as const;

/** The list's filter and order in the URL, so that they can be shared. */
export function readSourceListSearch(search: Record<string, unknown>) {
  return present({
    name: textIn(search["name"]),
    state: oneOf(search["state"], STATES),
    environment: textIn(search["environment"]),
    tag: textIn(search["tag"]),
    sort: oneOf(search["sort"], SORTS),
  });
}

/** The open tab of a source's page, and the timeline's filter. */
export function readSourceSearch(search: Record<string, unknown>) {
  return present({ tab: oneOf(search["tab"], TABS), topic: oneOf(search["topic"], TOPICS) });
}
