/**
 * The plans of queries as they ran, told by PostgreSQL's auto_explain as notices to the connection
 * that asked.
 */
import { EventEmitter } from "node:events";
import pg from "pg";
import type { ConnectionSettings } from "../../src/platform/database/connection-settings.ts";

/**
 * The most that one step of a plan may read: some pages of a list, however they are put together.
 */
const MOST_ROWS = 1500;
interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Index Cond"?: string;
  "Recheck Cond"?: string;
  Filter?: string;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: PlanNode[];
}

export interface Explained {
  "Query Text": string;
  Plan: PlanNode;
}

/** Connections of these settings, and of `more`, have their queries explained. */
export function explaining(
  connection: ConnectionSettings,
  more: Record<string, string> = {},
): ConnectionSettings {
  const settings = {
    ...more,
    session_preload_libraries: "auto_explain",
    client_min_messages: "notice",
    "auto_explain.log_level": "notice",
    "auto_explain.log_format": "json",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_buffers": "on",
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  return { ...connection, options: options.join(" ") } as ConnectionSettings;
}

/**
 * Gathers what is told from now on, in every connection of this process: a replica's pools are its
 * own.
 */
export function gatherPlans(): { told: Explained[]; stop: () => void } {
  const told: Explained[] = [];
  pg.Client.prototype.emit = function (this: pg.Client, event: string, ...values: unknown[]) {
    const message = event === "notice" ? (values[0] as { message?: string }).message : undefined;
    const json = /^duration: [^\n]*plan:\n([^]*)$/.exec(message ?? "")?.[1];
    if (json !== undefined) told.push(JSON.parse(json) as Explained);
    return EventEmitter.prototype.emit.call(this, event, ...values);
  } as pg.Client["emit"];
  return {
    told,
    stop: () => {
      Reflect.deleteProperty(pg.Client.prototype, "emit");
    },
  };
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const inner of node.Plans ?? []) yield* nodesOf(inner);
}

function readBy(node: PlanNode): number {
  const rows =
    (node["Actual Rows"] ?? 0) +
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0);
  return rows * (node["Actual Loops"] ?? 1);
}

/** Rows that each step of a plan reads from these tables, in all its loops. */
export function rowsRead(
  { Plan: plan }: Explained,
  tables: ReadonlySet<string>,
): { step: string; rows: number }[] {
  return [...nodesOf(plan)]
    .filter((node) => tables.has(node["Relation Name"] ?? ""))
    .map((node) => ({
      step: `${node["Node Type"]} ${node["Relation Name"]} ${node["Index Name"] ?? ""}`,
      rows: readBy(node),
    }));
}

/** Pages of the database that a statement looked at, in PostgreSQL's cache or not. */
export function pagesRead({ Plan: plan }: Explained): number {
  return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
}

const CONDITIONS = ["Index Cond", "Recheck Cond", "Filter"] as const;

/** What Citus was seen to spread over machines by organisation (docs/citus.md). */
export const SPREAD_ON_CITUS = new Set(["receipts", "events", "log_leaves", "log_tiles", "source_days"]);

/** The tables of a statement that reads some that are spread together with others; null if not. */
export function spreadWithOthers({ Plan: plan }: Explained): string | null {
  const tables = new Set([...nodesOf(plan)].flatMap((node) => node["Relation Name"] ?? []));
  const spread = [...tables].filter((name) => SPREAD_ON_CITUS.has(name));
  return spread.length === 0 || spread.length === tables.size ? null : [...tables].toSorted().join(" ");
}

/**
 * How a statement reads tables that are spread more than once without naming the organisation each
 * time but one: several machines would have to read each other's rows, which Citus refuses. Null if
 * it does not.
 */
export function readsAcrossOrgs({ "Query Text": text, Plan: plan }: Explained): string | null {
  const reads = [...nodesOf(plan)].filter((node) => SPREAD_ON_CITUS.has(node["Relation Name"] ?? ""));
  const unbound = reads.filter((node) => !CONDITIONS.some((name) => node[name]?.includes("org_id") === true));
  return reads.length < 2 || unbound.length < 2 ? null : text.replaceAll(/\s+/g, " ");
}

/** What a plan does that it may not. */
export function complaintsAbout(
  { "Query Text": text, Plan: plan }: Explained,
  large: ReadonlySet<string>,
): string[] {
  return [...nodesOf(plan)].flatMap((node) => {
    const read = readBy(node);
    const table = node["Relation Name"] ?? "";
    const isThrough = node["Node Type"] === "Seq Scan" && large.has(table);
    if (!isThrough && read <= MOST_ROWS) return [];
    return [
      `${node["Node Type"]} ${table} ${node["Index Name"] ?? ""}: ${read} rows, in ${text.replaceAll(/\s+/g, " ")}`,
    ];
  });
}
