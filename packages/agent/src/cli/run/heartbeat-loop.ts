import { setTimeout as pause } from "node:timers/promises";
import { backoffDelay, LONGEST_WAIT_MS } from "../../transport/backoff.ts";
import { hasToResubmit } from "../../backends/attached/resubmit-lost.ts";
import { sendHeartbeat } from "../../backends/attached/heartbeat.ts";
import { isUnauthenticated } from "../../transport/service-error.ts";
import { CommandAcks } from "./command-acks.ts";
import { CommandWait } from "./command-wait.ts";
import type { LoopContext } from "./loop-context.ts";
import { transientFailure, type TransientFailure } from "./transient-failure.ts";

const AFTER_FAILURE = { tries: Infinity, first_ms: 1_000, longest_ms: 60_000 };

/**
 * Sends heartbeats at the service's interval, and as soon as the service has commands, until the
 * signal fires.
 */
export async function heartbeatLoop(run: LoopContext): Promise<void> {
  const { attachment, signal, say } = run;
  const { layout } = attachment;
  const commands = new CommandWait(attachment.service);
  const commandAcks = new CommandAcks(layout);
  const unknown = new Set<string>();
  let failures = 0;
  let troubled: TransientFailure["of"] | null = null;
  let alarmed = false;
  let wasUninvited = false;
  while (!signal.aborted) {
    let wait_ms: number;
    let isAnswered = false;
    try {
      if (await commandAcks.findHandedOver()) run.work.ring();
      const acks = commandAcks.next();
      const { response, unknownCommands, takenRequests, uninvited, checkpointProblem } = await sendHeartbeat(
        attachment,
        await run.config(),
        { signal, acks, once: true },
      );
      commandAcks.sent(acks);
      commands.heard(response.commands.length + unknownCommands.length + takenRequests);
      if (takenRequests > 0) run.requests.ring();
      if (uninvited > 0 && !wasUninvited) say(UNINVITED);
      wasUninvited = uninvited > 0;
      let taken = 0;
      for (const command of response.commands) {
        if (!(await commandAcks.take(command))) continue;
        taken++;
        say(`${command.id}: ${command.kind} of ${command.source.slug}`);
      }
      for (const { id, kind } of unknownCommands) {
        // It comes again and again, because nobody acknowledges it.
        if (!unknown.has(id)) say(unknownKind(id, kind));
        unknown.add(id);
      }
      if (response.commands.length > 0) run.work.ring();
      if (troubled !== null)
        say(troubled === "disk" ? "there is disk space again" : "the service answers again");
      troubled = null;
      // Whatever waited for the service can go now, without waiting for its own turn.
      if (failures > 0) run.spool.ring();
      if (failures > 0) run.work.ring();
      failures = 0;
      const isAlarm = checkpointProblem !== null && checkpointProblem.code === "log_alarm";
      if (isAlarm && !alarmed) {
        say(checkpointProblem.message);
        run.spool.ring();
      }
      // Receipts that the alarm held back, or that the log has lost, can go now.
      if ((alarmed && !isAlarm) || (await hasToResubmit(layout))) run.spool.ring();
      alarmed = isAlarm;
      const interval_ms = Math.min(response.next_interval_s * 1000, LONGEST_WAIT_MS);
      // Acknowledges received commands at once, so that whoever asked for them sees that they have
      // begun.
      wait_ms = taken > 0 ? 0 : interval_ms * (0.9 + Math.random() * 0.2);
      isAnswered = true;
    } catch (error) {
      if (signal.aborted) return;
      const trouble = transientFailure(error, layout);
      if (trouble === null) throw error;
      failures++;
      if (trouble.of !== troubled || isUnauthenticated(error)) say(trouble.message);
      troubled = trouble.of;
      wait_ms = backoffDelay(AFTER_FAILURE, failures, trouble.retryAfter_s);
    }
    if (isAnswered) await commands.wait(wait_ms, signal);
    else await pause(wait_ms, undefined, { signal }).catch(() => undefined);
  }
}

const UNINVITED =
  "the service sent requests to change config.yaml, which does not allow that (allow_remote_config): they are ignored";

function unknownKind(id: string, kind: string): string {
  return `${id}: this agent does not know the command kind "${kind}" and ignores it. A newer version of attestore may run it.`;
}
