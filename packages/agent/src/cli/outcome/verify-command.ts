import { shellWord } from "@attestore/proof";
import { basename } from "node:path";
import { listRotations } from "../../key-rotation/rotation.ts";
import type { Layout } from "../../state/layout.ts";

/**
 * The call of attestore-verify that checks receipts of this root against its own keys. It names the
 * key that signs now, the statements that lead from it to earlier keys, and, for receipts in a log,
 * the log's key, without which the verifier can't tell.
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
