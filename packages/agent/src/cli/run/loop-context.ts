import { readConfig, type Config } from "../../config/config.ts";
import type { UploadConfig } from "../../config/upload-config.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Attachment } from "../../service/attachment.ts";
import { Wakeup } from "./wakeup.ts";

/** What the loops of a running agent share. */
export interface LoopContext {
  readonly attachment: Attachment;
  /** Fires when the agent is to stop; what is under way ends cleanly. */
  readonly signal: AbortSignal;
  /** One line of what happens, for the journal. */
  readonly say: (line: string) => void;
  /** config.yaml as it is now; the last good one while it is broken. */
  readonly config: () => Promise<Config>;
  /** Something may be there to run, or to deliver. */
  readonly work: Wakeup;
  /** Something may be there to submit. */
  readonly spool: Wakeup;
}

export function loopContext(
  attachment: Attachment,
  config: Config,
  signal: AbortSignal,
  say: (line: string) => void,
  pace: (upload: UploadConfig) => UploadConfig,
): LoopContext {
  const { layout } = attachment;
  let last = config;
  let complaint = "";
  return {
    attachment,
    signal,
    say,
    work: new Wakeup(),
    spool: new Wakeup(),
    config: async () => {
      try {
        const read = await readConfig(layout.config, layout.root);
        last = { ...read, upload: pace(read.upload) };
        complaint = "";
      } catch (error) {
        // A ConfigError, or that there is none at this moment, or none that we may read: editors
        // replace a file in more ways than one.
        if (!(error instanceof UserError)) throw error;
        // Said once, not at every heartbeat.
        if (error.message !== complaint)
          say(`config.yaml is invalid, so the last valid one stays in use:\n${error.message}`);
        complaint = error.message;
      }
      return last;
    },
  };
}
