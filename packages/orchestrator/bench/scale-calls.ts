import type { History, Sample } from "./scale-history.ts";
import { API_LOG_MS, RECEIPT_EVERY_MS } from "./scale-receipts.ts";

export interface MeasuredCall {
  name: string;
  /** Of the n-th time: each about another record. */
  path: (n: number) => string;
  token: string;
  /** What of the log its answer proves. */
  proves?: "bundle" | "proof" | "consistency";
}

const cursorAt = (id: string): string => Buffer.from(id, "latin1").toString("base64url");

/** Every list with each of its filters, timelines, details, bundles and proofs. */
export function callsOf(history: History, operator: string): MeasuredCall[] {
  const { orgId, samples, size, token, agent } = history;
  const sample = (n: number): Sample => {
    // Neighbours are far from each other, so that not all is in the same pages.
    const found = samples[(n * 89) % samples.length];
    if (found === undefined) throw new Error("there are no samples");
    return found;
  };
  // The API log has only those of the last year.
  const recent = samples.filter(({ recordedAt }) => recordedAt.getTime() > Date.now() - API_LOG_MS);
  const org = `/api/orgs/${orgId}`;
  const month = (n: number): string => {
    const { recordedAt } = sample(n);
    const to = new Date(recordedAt.getTime() + 1000 * RECEIPT_EVERY_MS);
    return `from=${recordedAt.toISOString()}&to=${to.toISOString()}`;
  };
  const lists: [list: string, prefix: string, of: keyof Sample, filters: string[]][] = [
    ["receipts", "rcpt_", "suffix", ["kind=backup", "kind=restore_test", "result=passed", "result=failed"]],
    ["backups", "bkp_", "backupSuffix", ["status=available", "status=expired"]],
    ["events", "evt_", "suffix", ["kind=backup_failed", "kind=agent_revoked"]],
    [
      "commands",
      "cmd_",
      "backupSuffix",
      ["kind=backup", "kind=restore_test", "status=queued", "status=acked"],
    ],
    [
      "api-logs",
      "log_",
      "suffix",
      ["method=GET", "method=POST", "kind=user", "kind=agent", "status=422", "status=201"],
    ],
  ];
  const calls: MeasuredCall[] = [];
  const add = (name: string, path: (n: number) => string, more: Partial<MeasuredCall> = {}): void => {
    calls.push({ name, path, token, ...more });
  };
  add("`/api/auth/me`, to compare with", () => "/api/auth/me");
  for (const [list, prefix, of, filters] of lists) {
    const base = `${org}/${list}`;
    const agentId = (n: number): string => sample(n).agentId;
    add(list, () => base);
    add(`${list}, 200 at once`, () => `${base}?limit=200`);
    add(`${list}, a later page`, (n) => `${base}?cursor=${cursorAt(`${prefix}${String(sample(n)[of])}`)}`);
    for (const filter of filters) {
      add(`${list}, ${filter}`, () => `${base}?${filter}`);
      add(
        `${list}, ${filter}, a later page`,
        (n) => `${base}?${filter}&cursor=${cursorAt(`${prefix}${String(sample(n)[of])}`)}`,
      );
    }
    add(`${list} of an agent`, (n) => `${base}?agent_id=${agentId(n)}`);
    add(`${list} of a period`, (n) => `${base}?${month(n)}`);
    add(`${list} until long ago`, (n) => `${base}?to=${sample(n).recordedAt.toISOString()}`);
    add(`${list} since long ago`, (n) => `${base}?from=${sample(n).recordedAt.toISOString()}`);
    if (list === "api-logs") add(`${list} of an actor`, (n) => `${base}?actor_id=${agentId(n)}`);
    else {
      add(`${list} of a source`, (n) => `${base}?source_id=${sample(n).sourceId}`);
      add(
        `${list} of a source and an agent of a period`,
        (n) => `${base}?source_id=${sample(n).sourceId}&agent_id=${agentId(n)}&${month(n)}`,
      );
    }
  }
  add("receipts of a backup", (n) => `${org}/receipts?backup_id=bkp_${sample(n).backupSuffix}`);
  for (const list of [
    "sources",
    "agents",
    "users",
    "auth-keys",
    "auditor-links",
    "incidents",
    "notifications/channels",
    "notifications/deliveries",
    "log/witnesses",
  ])
    add(list, () => `${org}/${list}`);
  add("orgs, by an operator", () => "/api/orgs", { token: operator });

  const source = (n: number): string => `${org}/sources/${sample(n).sourceId}`;
  add("timeline", (n) => `${source(n)}/timeline`);
  add("timeline, a later page", (n) => `${source(n)}/timeline?cursor=${cursorAt(sample(n).receiptId)}`);
  add("timeline of a period", (n) => `${source(n)}/timeline?${month(n)}`);
  for (const topic of ["backups", "restore_tests", "trouble", "commands"])
    add(`timeline, ${topic}`, (n) => `${source(n)}/timeline?topic=${topic}`);
  add("restore tests of a source", (n) => `${source(n)}/restore-tests`);
  add("drift of a source", (n) => `${source(n)}/drift`);

  add("a source", source);
  add("an agent", () => `${org}/agents/${agent.id}`);
  add("a receipt", (n) => `/api/receipts/${sample(n).receiptId}`);
  add("a backup", (n) => `/api/backups/bkp_${sample(n).backupSuffix}`);
  add("an event", (n) => `/api/events/evt_${sample(n).suffix}`);
  add("a command", (n) => `/api/commands/cmd_${sample(n).backupSuffix}`);
  add("an API log", (n) => `/api/api-logs/log_${recent[(n * 89) % recent.length]?.suffix ?? ""}`);
  add("the log", () => `${org}/log`);
  add("a bundle", (n) => `/api/receipts/${sample(n).receiptId}/bundle`, { proves: "bundle" });

  const byAgent = { token: agent.token };
  add("the log's head, for an agent", () => "/v1/log/head", byAgent);
  add("inclusion, by index", (n) => `/v1/log/proof?leaf=${sample(n).logIndex}&tree_size=${size}`, {
    ...byAgent,
    proves: "proof",
  });
  add("inclusion, by hash", (n) => `/v1/log/proof?leaf=${sample(n).leafHash}&tree_size=${size}`, {
    ...byAgent,
    proves: "proof",
  });
  const later = (n: number): number => Math.floor((sample(n).logIndex + 1 + size) / 2);
  add(
    "inclusion and consistency",
    (n) => `/v1/log/proof?leaf=${sample(n).logIndex}&tree_size=${later(n)}&from=${sample(n).logIndex + 1}`,
    { ...byAgent, proves: "consistency" },
  );
  const tile = (n: number): string => tileNumber(Math.floor(Math.min(sample(n).logIndex, size - 257) / 256));
  add("checkpoint", () => `/log/${orgId}/checkpoint`);
  add("a tile", (n) => `/log/${orgId}/tile/0/${tile(n)}`);
  add("a tile of entries", (n) => `/log/${orgId}/tile/entries/${tile(n)}`);
  return calls;
}

/** C2SP tlog-tiles: `x001/234`. */
function tileNumber(index: number): string {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, "0");
  const groups = digits.match(/\d{3}/g) ?? [];
  return groups.map((group, n) => (n < groups.length - 1 ? `x${group}` : group)).join("/");
}
