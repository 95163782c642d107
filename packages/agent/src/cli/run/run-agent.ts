import { plural } from "@attestore/proof";
import { sweepTemporaryFiles } from "@attestore/host/durable-files";
import type { Layout } from "../../state/layout.ts";
import { lockOrRefuse, tryLock } from "../../state/lock.ts";
import { EngineApiError } from "../../sandboxes/container/engine-api.ts";
import { describeLeftover, reapLeftovers, type Leftover } from "../../sandboxes/leftovers.ts";
import { submitWaiting } from "../../backends/attached/submit-waiting.ts";
import type { Run } from "../invocation/command.ts";
import { openAttachedRoot, pacedUpload } from "../invocation/open-root.ts";
import { loopContext } from "./loop-context.ts";
import { configLoop } from "./config-loop.ts";
import { heartbeatLoop } from "./heartbeat-loop.ts";
import { recoverCommands } from "./recover.ts";
import { submitLoop } from "./submit-loop.ts";
import { workLoop } from "./work-loop.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

/**
 * The caller holds the `run` and `work` locks; whoever submits finishes commands too, and is not
 * waited for.
 */
async function sweepCommands(layout: Layout): Promise<void> {
  using spool = tryLock(layout, "spool", "run (start)");
  if (spool !== null) await sweepTemporaryFiles(layout.commands);
  await sweepTemporaryFiles(layout.configRequests);
}

/** Reports a container runtime that breaks off. Code that needs it gets the same error again. */
async function reap(scratchDir: string, say: (line: string) => void): Promise<Leftover[]> {
  try {
    return await reapLeftovers(scratchDir);
  } catch (error) {
    if (!(error instanceof EngineApiError)) throw error;
    say(`leftovers of killed runs: ${error.message}`);
    return [];
  }
}

/** How long the submission of new receipts may take while the agent stops. */
const LAST_WORDS_MS = 3_000;

export const runAgent: Run = async (call) => {
  const { terminal, signal } = call;
  const { attachment, config, layout, flags } = await openAttachedRoot(call);
  const say = (line: string): void => terminal.say(line);
  try {
    using _ = await lockOrRefuse(layout, "run", "run");
    {
      using __ = await takeWorkLock(layout, "run (start)", { signal, wait: true, say });
      await sweepCommands(layout);
      const interrupted = await recoverCommands(attachment);
      if (interrupted > 0)
        say(`${plural(interrupted, "command was", "commands were")} interrupted when the agent last stopped`);
      for (const leftover of await reap(layout.scratch, say)) say(describeLeftover(leftover));
    }
    // A loop that fails takes the others with it: half an agent is worse than one that its
    // supervisor restarts.
    const failed = new AbortController();
    const run = loopContext(attachment, config, AbortSignal.any([signal, failed.signal]), say, (upload) =>
      pacedUpload(upload, flags),
    );
    say(`attestore runs as ${attachment.agentId} for ${attachment.service.url.origin}, root ${layout.root}`);
    const loops = [heartbeatLoop(run), workLoop(run), configLoop(run), submitLoop(run)].map((loop) =>
      loop.catch((error: unknown) => {
        failed.abort();
        throw error;
      }),
    );
    const ends = await Promise.allSettled(loops);
    // Submit what an aborted run reported, if the service answers.
    await submitWaiting(attachment, { signal: AbortSignal.timeout(LAST_WORDS_MS), once: true }).catch(
      () => undefined,
    );
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    say("attestore stopped");
    return call.stoppedBy() === "SIGINT" ? 130 : 0;
  } finally {
    attachment.service.close();
  }
};
