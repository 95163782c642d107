/** Names of what differs between two summaries of a schema. */
export interface SchemaChanges {
  added: string[];
  removed: string[];
  altered: string[];
}

const MAX_NAMES = 1000;
const MAX_DEPTH = 8;

/**
 * Compares what an agent's engine sent as `schema_summary` with two backups: an object of names with their definitions, nested as far
 * as the engine likes, whose members are named by their path (`orders.total`); or a list of names, or a text of one a line.
 * Null where one of the two was not sent.
 */
export function schemaChanges(before: unknown, after: unknown): SchemaChanges | null {
  if (before === undefined || before === null || after === undefined || after === null) return null;
  const [old, now] = [namesIn(before), namesIn(after)];
  return {
    added: listed([...now.keys()].filter((name) => !old.has(name))),
    removed: listed([...old.keys()].filter((name) => !now.has(name))),
    altered: listed([...now.keys()].filter((name) => old.has(name) && old.get(name) !== now.get(name))),
  };
}

function listed(names: string[]): string[] {
  return names.toSorted().slice(0, MAX_NAMES);
}

function namesIn(summary: unknown): Map<string, string> {
  const names = new Map<string, string>();
  collect(summary, "", 0, names);
  return names;
}

function collect(value: unknown, path: string, depth: number, names: Map<string, string>): void {
  const under = (name: string): string => (path === "" ? name : `${path}.${name}`);
  if (depth === 0 && typeof value === "string") {
    for (const line of value.split("\n")) if (line.trim() !== "") names.set(line.trim(), "");
  } else if (Array.isArray(value) && value.every((element) => typeof element === "string")) {
    if (path !== "") names.set(path, "");
    for (const element of value) names.set(under(element), "");
  } else if (typeof value === "object" && value !== null && !Array.isArray(value) && depth < MAX_DEPTH) {
    if (path !== "") names.set(path, "");
    for (const [name, member] of Object.entries(value)) collect(member, under(name), depth + 1, names);
  } else names.set(path, JSON.stringify(value));
}
