import type { ChildProcess } from "node:child_process";
import { UserError } from "../../platform/errors/user-error.ts";

/** @throws UserError `backup_failed` with the program's last words, unless it ends with 0 */
export function endOf(child: ChildProcess, program: string): Promise<void> {
  let complaint = "";
  child.stderr?.on("data", (text: Buffer) => {
    complaint = `${complaint}${text.toString("utf8")}`.slice(-2000);
  });
  const ended = new Promise<void>((resolve, reject) => {
    const fail = (reason: string): void =>
      reject(new UserError("backup_failed", `${program} failed: ${reason}`));
    child.once("error", (error) => fail(error.message));
    child.once("close", (code, signal) =>
      code === 0 ? resolve() : fail(complaint.trim() || `it ended with ${code ?? signal}`),
    );
  });
  ended.catch(() => undefined); // Whoever awaits it may come later.
  return ended;
}
