import { basename } from "node:path";
import { listRotations } from "../key-rotation/rotation.ts";
import type { Layout } from "../state/layout.ts";

/**
 * The call of attestore-verify that holds receipts of this root against its own keys: the one that
 * signs now, the statements that lead from it to those before, and of receipts in a log the log's,
 * without which it can tell of none.
 */
export async function verifyCommand(layout: Layout, receipt: string, isInLog: boolean): Promise<string> {
  const rotations = (await listRotations(layout)).filter((file) => basename(file).endsWith("-signing.json"));
  return [
    "attestore-verify",
    receipt,
    "--key",
    layout.publicKey,
    ...rotations.flatMap((file) => ["--rotation", file]),
    ...(isInLog ? ["--log-key", layout.logKey] : []),
  ]
    .map((word) => shellWord(word))
    .join(" ");
}

/** One word of a POSIX shell, for somebody to paste: a root may lie anywhere. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
