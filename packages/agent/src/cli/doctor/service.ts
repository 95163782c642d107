import { plural } from "@attestore/proof";
import { formatAge, formatDuration } from "../terminal/times.ts";
import { errorCode } from "@attestore/host/errno";
import type { Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import { isLocked } from "../../state/lock.ts";
import { UserError } from "../../errors/user-error.ts";
import { openAttachment } from "../../service/attachment.ts";
import { readPinnedCa } from "../../transport/pinned-ca.ts";
import { readLastHeartbeat } from "../../backends/attached/heartbeat.ts";
import { LogAlarmError, readLogAlarm } from "../../state/log-alarm.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { observeCheckpoint } from "../../log/witness.ts";
import type { Call } from "../invocation/command.ts";
import { examineCertificates } from "./certificates.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/** Idempotency and receipts don't need exact clocks; people who compare times do. */
const MAX_SKEW_MS = 60_000;

/** Connects to the service with this agent's own credentials, and checks its log. */
export async function examineService(call: Call, layout: Layout, config: Config): Promise<Finding[]> {
  let attachment;
  try {
    attachment = await openAttachment(layout, config);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [failed("attachment", error.message, "attestore init")];
  }
  const findings: Finding[] = [];
  const { service } = attachment;
  try {
    const asked = Date.now();
    const { head, serverTime_ms } = await service.logHead({ signal: call.signal, once: true });
    findings.push(
      ok("service", `${service.url.origin} answers over TLS 1.3 in ${formatDuration(Date.now() - asked)}`),
    );
    const { url, caFile } = config.service ?? {};
    if (url !== undefined)
      findings.push(...(await examineCertificates(url, await readPinnedCa(caFile ?? null), call.signal)));
    if (serverTime_ms !== null) findings.push(examineClock(serverTime_ms - asked));
    await observeCheckpoint(attachment, head.checkpoint, call.signal);
    findings.push(
      ok("log", `${plural(head.tree_size, "entry", "entries")}; extends every head that this agent has seen`),
    );
  } catch (error) {
    if (error instanceof LogAlarmError) findings.push(failed("log", error.message, "attestore alarm"));
    else if (error instanceof ServiceError) findings.push(failed("service", error.message, nextStep(error)));
    else if (error instanceof Error && errorCode(error) !== null)
      findings.push(
        failed(
          "log",
          `the head that the service returned can't be recorded: ${error.message}`,
          "free some space on its disk",
        ),
      );
    else throw error;
  } finally {
    service.close();
  }
  if ((await readLogAlarm(layout)) !== null && !findings.some(({ check }) => check === "log"))
    findings.push(failed("log", "there is an alarm, so nothing is signed", "attestore alarm"));
  findings.push(await examineHeartbeat(layout));
  return findings;
}

async function examineHeartbeat(layout: Layout): Promise<Finding> {
  const running = isLocked(layout, "run");
  const last = await readLastHeartbeat(layout);
  const heard = last === null ? "no heartbeat yet" : `last heartbeat ${formatAge(last.at)}`;
  return running
    ? ok("agent", `runs; ${heard}`)
    : warning("agent", `not running; ${heard}`, "start its systemd unit, or run: attestore run");
}

function examineClock(offset_ms: number): Finding {
  const skew_ms = Math.abs(offset_ms);
  // The service reports whole seconds.
  if (skew_ms < 2_000) return ok("clock", "agrees with the service's");
  const off = `${formatDuration(skew_ms)} ${offset_ms > 0 ? "behind" : "ahead of"} the service's`;
  return skew_ms > MAX_SKEW_MS
    ? warning("clock", off, "set this host's clock (timedatectl)")
    : ok("clock", off);
}

function nextStep(error: ServiceError): string {
  switch (error.code) {
    case "unreachable":
    case "timeout":
      return "check that the service is up and the network works, and that `service.url` in config.yaml is right";
    case "untrusted":
      return "if the message names the clock, correct the clock; otherwise check that `service.ca_file` in config.yaml is the service's current CA";
    case "refused":
      return error.status === 401
        ? "the agent may have been revoked; to attach it again: attestore init --root NEW"
        : "see the message";
    case "invalid_response":
    case "object_refused":
    case "outside_window":
      return "check whether a proxy is in between";
  }
}
