import type { Command } from "commander";
import { mailPasskeyNotice } from "../features/passkeys/notices.ts";
import { forgetPasskeys } from "../features/passkeys/owners.ts";
import { endSessionsOfPerson } from "../features/sessions/end-sessions.ts";
import { notFound } from "../platform/errors/api-error.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";

/** `attestore-server passkey reset`: for somebody who lost their passkeys and their recovery codes. */
export function passkeyCommand(): Command {
  const reset = consoleCommand("reset", "Take somebody's passkeys and recovery codes away, and sign them out")
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
            `${email} has no passkey and no recovery code any more, and is signed out everywhere.`,
            "A code by mail signs them in. An operator is then asked for a new passkey before anything else.",
          ],
          result: String(removed),
          next: `${console.publicUrl}/login`,
        };
      }),
    );

  return commandGroup("passkey", "How people sign in", [reset]);
}
