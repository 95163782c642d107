import { parseCheckpoint, parseLogName, parseNote } from "@attestore/proof";
import type { Schemas } from "@attestore/contract/client";
import { api } from "../../api/client.ts";
import type { CheckedLine } from "../../verification/checked-line.ts";
import { checkEvent } from "../../verification/event-inclusion.ts";
import type { Keys } from "../../verifier/verify-in-browser.ts";
import { knownLogKey } from "./log-key.ts";
import { readGenerations, readHead } from "./queries.ts";

export interface VerifiedEvent {
  lines: CheckedLine[];
  logKey: NonNullable<Keys["log"]>;
}

/** Fetches the proof that an event is in the current log, and checks it in this browser. */
export async function verifyEvent(orgID: string, event: Schemas["EventRecord"]): Promise<VerifiedEvent> {
  const [logKey, { tree_size }] = await Promise.all([knownLogKey(orgID), readHead(orgID)]);
  const query = { leaf: event.leaf_hash, tree_size: String(tree_size) };
  const { body } = await api.call("get", "/api/orgs/{orgID}/log/proof", { path: { orgID }, query });
  const { origin } = parseCheckpoint(parseNote(body.checkpoint).text);
  const { began } = parseLogName(origin).generation === 1 ? { began: [] } : await readGenerations(orgID, 1n);
  return { lines: await checkEvent(event, body, logKey.key, began), logKey };
}
