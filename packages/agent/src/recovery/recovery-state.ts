import { plural } from "@attestore/proof";
import { join } from "node:path";
import { replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/** This host's record of its recovery kit: that it exists, never its content. */
export interface RecoveryState {
  readonly v: 1;
  /** The kit's public half; every backup is encrypted to it. */
  readonly recipient: string;
  readonly made_at: string;
  readonly shares: { readonly count: number; readonly threshold: number } | null;
  /** When somebody last showed that they still have the key, by decrypting with it. */
  readonly tested_at: string | null;
}

export async function readRecoveryState(layout: Layout): Promise<RecoveryState | null> {
  return (await readJson(fileOf(layout))) as RecoveryState | null;
}

export async function writeRecoveryState(layout: Layout, state: RecoveryState): Promise<void> {
  await replaceJsonFile(fileOf(layout), state);
}

function fileOf(layout: Layout): string {
  return join(layout.keys, "recovery.json");
}

const TEST_AGAIN_DAYS = 365;

/** What the user must do about it; null if nothing. */
export function recoveryGap(
  state: RecoveryState | null,
  recipients: readonly string[],
  now = Date.now(),
): { readonly what: string; readonly next: string } | null {
  if (state === null || !recipients.includes(state.recipient)) {
    return {
      what:
        state === null
          ? "no recovery kit: if this host and its keys are lost, the backups are lost too"
          : "backups are not encrypted to the recovery kit's key, or no longer",
      next: "attestore keys recovery-kit",
    };
  }
  const next = "attestore keys recovery-kit --test";
  if (state.tested_at === null)
    return { what: "the recovery kit was never tested, so nobody knows whether it works", next };
  const age_days = (now - Date.parse(state.tested_at)) / 86_400_000;
  return age_days > TEST_AGAIN_DAYS
    ? { what: `the recovery kit was last tested ${plural(Math.floor(age_days), "day")} ago`, next }
    : null;
}
