import type { QueryKey } from "@tanstack/react-query";

/** The service's change topics, and the words in query keys that each one affects. */
const READ_OF: Readonly<Record<string, readonly string[]>> = {
  log: ["log", "receipts", "events", "incidents", "backups", "sources", "overview", "timeline"],
  backups: ["backups", "sources", "overview", "timeline"],
  commands: ["commands", "sources", "overview", "timeline"],
  incidents: ["incidents", "sources", "agents", "overview"],
  sources: ["sources", "overview"],
  agents: ["agents", "overview"],
  auth_keys: ["auth-keys"],
  people: ["members", "users", "auditor-links", "me", "orgs", "settings"],
  notifications: ["notifications"],
};

/** Whether a query's data may have changed. */
export function concerns(key: QueryKey, topics: readonly string[]): boolean {
  const nouns = new Set(topics.flatMap((topic) => READ_OF[topic] ?? []));
  // Some keys begin with their organisation: ["orgs", id, "receipts", …].
  const isOfOne = key[0] === "orgs" && typeof key[1] === "string" && key[1].startsWith("org_");
  const named = isOfOne ? key.slice(2) : key;
  return named.some((part) => typeof part === "string" && nouns.has(part));
}

/** Parses the data of a `ready` or `change` event; no topics if it is malformed. */
export function topicsIn(data: string): string[] {
  try {
    const parsed: unknown = JSON.parse(data);
    if (typeof parsed !== "object" || parsed === null || !("topics" in parsed)) return [];
    const { topics } = parsed;
    return Array.isArray(topics) ? topics.filter((topic) => typeof topic === "string") : [];
  } catch {
    return [];
  }
}
