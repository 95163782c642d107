import type { Command } from "commander";
import { mailPasskeyNotice } from "../features/passkeys/notices.ts";
import { forgetPasskeys } from "../features/passkeys/owners.ts";
import { endSessionsOfPerson } from "../features/sessions/end-sessions.ts";
import { notFound } from "../platform/errors/api-error.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";

/**
 * `attestore-server passkey reset`: for somebody who lost their passkeys and their recovery codes.
 */
export function passkeyCommand(): Command {
  const reset = consoleCommand(
    "reset",
    "Remove all passkeys and recovery codes of a person, and sign them out",
  )
    .argument("<email>", "the person's address")
    .action((email: string, options: { json?: boolean }) =>
      runInConsole(options, async (console) => {
        const removed = await console.act("passkey reset", async (tx) => {
          const count = await forgetPasskeys(tx, email);
          if (count === 0) throw notFound(`person with a passkey as ${email}`);
          await endSessionsOfPerson(tx, email, null);
          await mailPasskeyNotice(tx, console, email, { is: "reset" });
          return { orgId: null, done: count };
        });
        return {
          json: { email, passkeys_removed: removed },
          talk: [
            `${email} no longer has a passkey or recovery codes, and is signed out everywhere.`,
            "They can sign in with a code sent by mail. An operator must then add a new passkey first.",
          ],
          result: String(removed),
          next: `${console.publicUrl}/login`,
        };
      }),
    );

  return commandGroup("passkey", "Reset the passkeys of somebody who lost them", [reset]);
}
