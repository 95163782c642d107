import type { QueryKey } from "@tanstack/react-query";

/** What the service says has changed, and what is read of it: nouns that the keys of queries hold. */
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

/** Whether what a query read may be another now. */
export function concerns(key: QueryKey, topics: readonly string[]): boolean {
  const nouns = new Set(topics.flatMap((topic) => READ_OF[topic] ?? []));
  // Some keys begin with the organisation that they are of: ["orgs", id, "receipts", …].
  const isOfOne = key[0] === "orgs" && typeof key[1] === "string" && key[1].startsWith("org_");
  const named = isOfOne ? key.slice(2) : key;
  return named.some((part) => typeof part === "string" && nouns.has(part));
}

/** The data of a `ready` or `change` event; nothing for what is none. */
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
