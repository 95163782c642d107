import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { plural } from "@attestore/proof";
import { DamagedFile } from "../../state/damaged-file.ts";
import type { Layout } from "../../state/layout.ts";
import { readJson } from "../../state/read-json.ts";
import { failed, type Finding, ok } from "@attestore/host/finding";

const MOST_NAMED = 10;

/** Files that the agent wrote and can no longer read. One of them can stop every run. */
export async function examineDamaged(layout: Layout): Promise<Finding> {
  const places = [
    layout.log,
    layout.draws,
    layout.unnamedTables,
    layout.blobs,
    layout.commands,
    layout.configRequests,
    layout.receipts,
    layout.receiptsWaiting,
    layout.events,
    layout.eventsWaiting,
  ];
  const damaged: string[] = [];
  for (const place of places)
    for (const name of (await nullIfMissing(readdir(place))) ?? [])
      if (name.endsWith(".json") && !(await isWhole(join(place, name)))) damaged.push(join(place, name));
  if (damaged.length === 0) return ok("records", "each can be read");
  const more = damaged.length > MOST_NAMED ? ` and ${damaged.length - MOST_NAMED} more` : "";
  return failed(
    "records",
    `${plural(damaged.length, "damaged file", "damaged files")}: ${damaged.slice(0, MOST_NAMED).join(", ")}${more}`,
    `put copies back, or move them out of the root: docs/agent.md, "A damaged file of the root", says what is lost then`,
  );
}

async function isWhole(path: string): Promise<boolean> {
  try {
    await readJson(path);
    return true;
  } catch (error) {
    if (error instanceof DamagedFile) return false;
    throw error;
  }
}

/** What a damaged file keeps a check from finding; the file itself is named by `examineDamaged`. */
export async function unlessDamaged(
  title: string,
  examine: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examine();
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    return [failed(title, `not examined: ${error.path} is damaged`, "see records")];
  }
}
