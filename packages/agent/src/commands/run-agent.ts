import { lockOrRefuse } from "../root/lock.ts";
import { submitWaiting } from "../spool/submit-waiting.ts";
import type { Run } from "./command.ts";
import { openAttachedRoot, pacedUpload } from "./open-root.ts";
import { agentRun } from "./run/agent-run.ts";
import { heartbeatLoop } from "./run/heartbeat-loop.ts";
import { recoverCommands } from "./run/recover.ts";
import { submitLoop } from "./run/submit-loop.ts";
import { workLoop } from "./run/work-loop.ts";
import { takeWorkLock } from "./work-lock.ts";

/** How long what was just signed may take to be submitted while the agent stops. */
const LAST_WORDS_MS = 3_000;

export const runAgent: Run = async (call) => {
  const { terminal, signal } = call;
  const { attachment, config, layout, flags } = await openAttachedRoot(call);
  const say = (line: string): void => terminal.say(line);
  try {
    using _ = await lockOrRefuse(layout, "run", "run");
    {
      using __ = await takeWorkLock(layout, "run (start)", { signal, wait: true, say });
      const interrupted = await recoverCommands(attachment);
      if (interrupted > 0) say(`${interrupted} commands were interrupted when the agent last stopped`);
    }
    // A loop that fails takes the others with it: half an agent is worse than one that its supervisor restarts.
    const failed = new AbortController();
    const run = agentRun(attachment, config, AbortSignal.any([signal, failed.signal]), say, (upload) =>
      pacedUpload(upload, flags),
    );
    say(`attestore runs as ${attachment.agentId} for ${attachment.service.url.origin}, root ${layout.root}`);
    const loops = [heartbeatLoop(run), workLoop(run), submitLoop(run)].map((loop) =>
      loop.catch((error: unknown) => {
        failed.abort();
        throw error;
      }),
    );
    const ends = await Promise.allSettled(loops);
    // What an aborted run has to say is said now, if the service listens.
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
