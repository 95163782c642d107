import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type BackupRecord, CIPHER, put, SOURCE_METADATA, uploadUrl } from "../harness/backups.ts";
import { api } from "../harness/https.ts";
import type { WireAgent } from "../harness/organisation.ts";
import { accepted, backupStatement, restoreTestStatement } from "../harness/statements.ts";
import { type Dashboard, openDashboard, type Person } from "./open-dashboard.ts";

export let dashboard: Dashboard;

/** Of a file whose tests look at sources, with the real service and agents. */
export function useSourcesDashboard(): void {
  beforeAll(async () => {
    dashboard = await openDashboard({
      ATTESTORE_HEARTBEAT_INTERVAL_S: "1",
      // Where all cores are taken, a test asks for long whether an agent is there yet.
      ATTESTORE_RATE_DEFAULT: "1000000/60",
    });
  });
  afterAll(() => dashboard.close());
}

export const call = async <T>(person: Person, method: string, path: string, json?: unknown): Promise<T> => {
  const answer = await api(dashboard.server, { method, path, token: person.token, json });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`);
  return answer.json<T>();
};
/** Asks again for as long as a busy machine may take to load a page. */
export const eventually = <T>(ask: () => T | Promise<T>) => expect.poll(ask);
export const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { name, level: 1 }).waitFor();
export const descriptionOf = (page: Page, name: string) =>
  page.getByRole("button", { name }).getAttribute("aria-description");

export interface HistoryOptions {
  /** How many days ago each backup was made. */
  days: readonly number[];
  result?: "passed" | "failed";
  summary?: (backup: number) => object;
}

/** Past backups with their receipts, and a restore test of the newest. */
export async function history(
  agent: WireAgent,
  sourceId: string,
  options: HistoryOptions,
): Promise<BackupRecord[]> {
  const made: BackupRecord[] = [];
  for (const [index, days] of options.days.entries()) {
    const bytes = randomBytes(1500 + index);
    const upload = await uploadUrl(agent, sourceId, bytes);
    await put(agent, upload, bytes);
    const summary = options.summary?.(index);
    const answer = await agent.call("POST", "/v1/backups", {
      upload_id: upload.upload_id,
      source_id: sourceId,
      created_at: new Date(Date.now() - days * 86_400_000).toISOString(),
      cipher: CIPHER,
      source_metadata:
        summary === undefined
          ? SOURCE_METADATA
          : {
              ...SOURCE_METADATA,
              schema_hash: index.toString(16).padStart(2, "0").repeat(32),
              schema_summary: summary,
            },
    });
    if (answer.status !== 201) throw new Error(`register: ${answer.body.toString()}`);
    const backup = answer.json<BackupRecord>();
    await accepted(agent, backupStatement(agent, backup));
    made.push(backup);
  }
  const newest = made.at(-1);
  if (newest !== undefined && options.result !== undefined)
    await accepted(agent, restoreTestStatement(agent, newest, options.result));
  return made;
}

export const table = (name: string, parts: Record<string, string>) => ({ kind: "table", name, parts });
