import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { plural } from "@attestore/proof";
import { UserError } from "../../errors/user-error.ts";
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
    layout.keys,
    join(layout.keys, "rotations"),
    layout.blobs,
    layout.storedBackups,
    layout.commands,
    layout.configRequests,
    layout.receipts,
    layout.receiptsWaiting,
    layout.receiptsRefused,
    layout.events,
    layout.eventsWaiting,
    layout.eventsRefused,
  ];
  const damaged: string[] = [];
  for (const place of places)
    for (const name of (await nullIfMissing(readdir(place))) ?? []) {
      const trouble = name.endsWith(".json") ? await troubleOf(join(place, name)) : null;
      if (trouble !== null) damaged.push(trouble);
    }
  if (damaged.length === 0) return ok("records", "each can be read");
  const more = damaged.length > MOST_NAMED ? ` and ${damaged.length - MOST_NAMED} more` : "";
  return failed(
    "records",
    `${plural(damaged.length, "damaged file", "damaged files")}: ${damaged.slice(0, MOST_NAMED).join(", ")}${more}`,
    `put copies back, or move them out of the root: docs/agent.md, "A damaged file of the root", says what is lost then`,
  );
}

/** The file, and the system's code if that cannot read it; null if it is whole. */
async function troubleOf(path: string): Promise<string | null> {
  try {
    await readJson(path);
    return null;
  } catch (error) {
    if (error instanceof DamagedFile) return path;
    if (!isUnreadable(error)) throw error;
    return `${path} (${errorCode(error.cause)})`;
  }
}

function isUnreadable(error: unknown): error is UserError {
  return error instanceof UserError && error.code === "root_unusable";
}

/** What a damaged file keeps a check from finding; the file itself is named by `examineDamaged`. */
export async function unlessDamaged(
  title: string,
  examine: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examine();
  } catch (error) {
    if (error instanceof DamagedFile)
      return [failed(title, `not examined: ${error.path} is damaged`, "see records")];
    if (!isUnreadable(error)) throw error;
    return [failed(title, `not examined: ${error.message}`, "see records")];
  }
}
