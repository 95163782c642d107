import { ConfigError, readConfig, type Config } from "../../config/config.ts";
import type { UploadConfig } from "../../config/upload-config.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Attachment } from "../../service/attachment.ts";
import { Wakeup } from "./wakeup.ts";

/** Shared by the loops of a running agent. */
export interface LoopContext {
  readonly attachment: Attachment;
  /** Fires when the agent is to stop; whatever is running ends cleanly. */
  readonly signal: AbortSignal;
  /** One line about what happens, for the journal. */
  readonly say: (line: string) => void;
  /** The current config.yaml; the last good one while it is broken. */
  readonly config: () => Promise<Config>;
  /** There may be something to run, or to deliver. */
  readonly work: Wakeup;
  /** Somebody may have asked something of config.yaml. */
  readonly requests: Wakeup;
  /** There may be something to submit. */
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
    requests: new Wakeup(),
    spool: new Wakeup(),
    config: async () => {
      try {
        const read = await readConfig(layout.config, layout.root);
        last = { ...read, upload: pace(read.upload) };
        complaint = "";
      } catch (error) {
        // A ConfigError, or the file is missing or unreadable at this moment: editors replace a
        // file in several ways.
        if (!(error instanceof UserError)) throw error;
        // Reported once, not at every heartbeat.
        if (error.message !== complaint)
          say(
            `config.yaml is invalid, so the last valid one stays in use:\n${error instanceof ConfigError ? error.shown : error.message}`,
          );
        complaint = error.message;
      }
      return last;
    },
  };
}
