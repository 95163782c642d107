import { endedWith, type Exit } from "../../processes/child.ts";
import { RunError } from "../../errors/run-error.ts";
import { diskFullDuringRestore, whyItDied } from "../disk-full.ts";
import { RestoreRefused } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { isFull, isOfThePlace } from "./session-error.ts";

/**
 * What the dump uses and the server here does not have: character sets, collations, storage
 * engines, plugins, features of another version. That says nothing against the dump.
 */
const LACKING: ReadonlySet<number> = new Set([
  1115, 1126, 1127, 1193, 1235, 1273, 1286, 1289, 1305, 1524, 4161,
]);

/**
 * Whose fault it is that loading a dump failed: the scratch server's, so that nothing is known of
 * the backup, or the dump's. The client's messages quote rows: what goes on is the error's number
 * and the line of the dump.
 */
export function refusalOf(
  exit: Exit,
  errors: string,
  server: Pick<ScratchServer, "runtime" | "hasRunFull" | "hasDied">,
): RunError | RestoreRefused {
  // Before it comes the statement, whatever that holds.
  const last = errors.slice(Math.max(0, errors.lastIndexOf("\nERROR ")));
  const [, digits, state, line] = /^ERROR ([0-9]+) \(([0-9A-Z]{5})\)(?: at line ([0-9]+))?/m.exec(last) ?? [];
  const code = Number(digits ?? 0);
  if (isFull(code) || server.hasRunFull() || /Errcode: 28|No space left on device/.test(last)) {
    return diskFullDuringRestore(server);
  }
  if (server.hasDied())
    return new RunError("sandbox_failed", `the scratch server died during the restore${whyItDied(server)}`);
  // A client that ends by itself says why; of one whose words were lost on the way nothing is
  // known.
  const isSilent = !/^ERROR/m.test(errors);
  if (exit.signal !== null || isOfThePlace(code) || isSilent)
    return new RunError("sandbox_failed", `the mariadb client ended with ${endedWith(exit)} (error ${code})`);
  if (digits === undefined) return new RestoreRefused(`the dump cannot be loaded (${endedWith(exit)})`);
  const where = `error ${digits}, SQLSTATE ${state ?? "?"}${line === undefined ? "" : `, at line ${line} of the dump`}`;
  if (LACKING.has(code)) {
    return new RunError(
      "sandbox_lacks",
      `the scratch server lacks a feature that the dump needs (${where}): install what the source has, or a newer version`,
    );
  }
  return new RestoreRefused(`the dump cannot be loaded (${where})`);
}
