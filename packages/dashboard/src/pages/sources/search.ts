import { oneOf, present, textIn } from "../../api/search.ts";

export const SORTS = ["trouble", "name", "backup", "proof"] as const;
export const STATES = ["failed", "missed", "none", "backed_up", "proven"] as const;
export const TABS = ["timeline", "tests", "drift", "settings"] as const;
export const TOPICS = ["backups", "restore_tests", "trouble", "commands"] as const;

/** How the list of sources is filtered and ordered: in the address, so that it can be sent to somebody. */
export function readSourceListSearch(search: Record<string, unknown>) {
  return present({
    name: textIn(search["name"]),
    state: oneOf(search["state"], STATES),
    sort: oneOf(search["sort"], SORTS),
  });
}

/** Which part of a source's page is open, and what of its timeline is shown. */
export function readSourceSearch(search: Record<string, unknown>) {
  return present({ tab: oneOf(search["tab"], TABS), topic: oneOf(search["topic"], TOPICS) });
}
