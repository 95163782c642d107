import { isMeasure, plural, suspicionText } from "@attestore/proof";
import type { NotificationType } from "@attestore/contract";
import type { Mail } from "../../../platform/mail/mail.ts";
import type { Message } from "./message.ts";
import { readMessageFields, type MessageFields } from "./message-fields.ts";

/** For each type, the end of the subject, and what a person must know and do. */
const TEXTS: Readonly<
  Record<Exclude<NotificationType, "evidence.weekly">, (said: MessageFields) => [string, string]>
> = {
  "backup.failed": (said) => [
    `backup of ${said.source} failed`,
    `A backup of ${said.source} failed.${because(said)}
Until a backup succeeds, the last good one is the newest you have. You get this message once, and another one when backups work again.`,
  ],
  "backup.missed": (said) => [
    `backup of ${said.source} is missing`,
    `The backup of ${said.source} scheduled for ${said.text("cause", "scheduled_at")} has not arrived.${because(said)}
You get this message once, and another one when a backup arrives.`,
  ],
  "backup.recovered": (said) => [
    `backups of ${said.source} work again`,
    `A backup of ${said.source} has arrived. The problem that began at ${said.began} is over.`,
  ],
  "restore_test.failed": (said) => [
    `restore test of ${said.source} FAILED`,
    `A backup of ${said.source} was restored, but the restored data is not what it should be.${because(said)}${checks(said)}
Do not rely on this backup. You get this message once, and another one when a restore test passes.`,
  ],
  "restore_test.could_not_run": (said) => [
    `restore test of ${said.source} could not run`,
    `A restore test of ${said.source} could not run, so it proves nothing.${because(said)}
You get this message once, and another one when a restore test passes.`,
  ],
  "restore_test.missed": (said) => [
    `restore test of ${said.source} is missing`,
    `The restore test of ${said.source} scheduled for ${said.text("cause", "scheduled_at")} has not happened.${because(said)}
You get this message once, and another one when a restore test passes.`,
  ],
  "restore_test.recovered": (said) => [
    `restore tests of ${said.source} pass again`,
    `A restore test of ${said.source} has passed. The problem that began at ${said.began} is over.`,
  ],
  "restore_test.suspicious": (said) => [
    `restored data of ${said.source} are suspicious`,
    `A backup of ${said.source} restores, but its data differ from those of earlier backups as if somebody had encrypted, overwritten or removed them:

${suspicions(said)}
Look at the source. Until somebody accepts the change on the agent's host, the last clean backup is kept: attestore accept SOURCE TABLE --because REASON`,
  ],
  "agent.silent": (said) => [
    `agent ${said.agent} is silent`,
    `The agent ${said.agent} has stopped sending heartbeats. ${lastHeartbeat(said)}
While it is silent, its backups and restore tests may not run. On its host, run: systemctl status attestore; attestore doctor`,
  ],
  "agent.recovered": (said) => [
    `agent ${said.agent} is back`,
    `The agent ${said.agent} sends heartbeats again. The problem that began at ${said.began} is over.`,
  ],
  "agent.attached": (said) => [
    `new agent ${said.agent}`,
    `A new agent was attached: ${said.agent}, with the key ${said.text("key_fingerprint")}.
If nobody in your organisation did this, revoke it immediately.`,
  ],
  "attestation.failed": (said) => [
    `agent ${said.agent} cannot record receipts`,
    `The agent ${said.agent} could not have a receipt recorded, or has stopped signing.${because(said)}
If the reason says that the log does not extend what the agent has seen before, treat it as an attack on the service.`,
  ],
  "attestation.recovered": (said) => [
    `agent ${said.agent} records receipts again`,
    `A receipt from the agent ${said.agent} is in the log. The problem that began at ${said.began} is over.`,
  ],
  "drift.detected": (said) => [
    `${said.source} has changed`,
    `The newest backup of ${said.source} differs from the previous one, or was restored in another environment than it was made in:

${indicators(said)}
If you expected this change, there is nothing to do.`,
  ],
  "retention.announced": (said) => [
    `${plural(said.text("removals", "backups"), "backup")} will be removed`,
    `The retention rules no longer keep ${plural(said.text("removals", "backups"), "backup")}. The first will be removed at ${said.text("removals", "first_at")}:

${removals(said)}
To keep one, open it in the dashboard, or run on the service's host: attestore-server backup keep ID
If these are more than you expect, check the sources' rules, and who registers their backups.`,
  ],
  "retention.held": (said) => [
    `retention of ${said.source} has stopped`,
    `No more backups of ${said.source} are removed, because its backups changed suddenly: ${held(said)}.
An attacker who controls its host could do this to get the good backups removed. Look at the source's newest backups and test one.
If they are good, resume retention in the source's settings, or run: attestore-server retention resume --source ${said.text("source", "id")}`,
  ],
  "quota.reached": (said) => [
    `${said.text("quota", "percent")} % of the quota of ${said.text("quota", "name")} is used`,
    `${said.org} uses ${said.text("quota", "used")} of ${said.text("quota", "limit")} ${said.text("quota", "name")} on this service.
Once the quota is used up, ${said.text("quota", "name") === "agents" ? "no further agent can be attached" : "new backups wait on their hosts"}. Stored backups stay, and receipts and alerts continue.
To free space, keep fewer backups with the retention rules, or ask the operator of the service for a larger quota.`,
  ],
  "incident.ended": (said) => [
    `${said.text("incident", "kind").replaceAll("_", " ")} of ${said.source || said.agent} is over`,
    said.text("incident", "resolution") === "failed"
      ? `The restore test of ${said.source} that was missing or could not run has now run, and failed.`
      : `The problem that began at ${said.began} is closed, because its source or agent was removed or revoked, or the run is no longer scheduled.`,
  ],
  "notification.test": (said) => [
    "a test",
    `This is a test message, requested by ${said.text("asked_by")}. Notifications from ${said.org} reach you.`,
  ],
};

/** The mail with the same content as a webhook's body. */
export function mailOf(message: Message, publicUrl: string): Omit<Mail, "to"> {
  const said = readMessageFields(message.data);
  const write = TEXTS[message.type as keyof typeof TEXTS];
  const [subject, text] = write(said);
  const when = message.type === "notification.test" ? "" : `\nAt ${message.occurredAt.toISOString()}.`;
  return {
    subject: `[${said.org}] ${subject}`,
    text: `${text}${when}

${publicUrl}${said.page}

--
You get this mail as a member of ${said.org} on Attestore. To change what you receive: ${publicUrl}/notifications
`,
  };
}

const REASONS: Readonly<Record<string, string>> = {
  agent_revoked: "its agent is revoked",
  failed: "it was tried and failed",
  agent_silent: "its agent is silent",
  service_unavailable: "the service could not request it",
  not_delivered: "its agent has not fetched the command",
  not_acknowledged: "its agent has not acknowledged the command",
  result_too_old:
    "the result that arrived had finished before this run was due: it had waited on the host, or the host's clock is slow",
  check_failed: "a check did not hold",
  nothing_shown: "it was restored, but nothing shows that the data is there",
  told_by_the_agent: "the page below shows what its agent reported",
  no_result: "its agent has the command, but no result has arrived",
};

function lastHeartbeat(said: MessageFields): string {
  const at = said.text("cause", "last_seen_at");
  return at === "" ? "It has never sent one." : `The last one came at ${at}.`;
}

function because(said: MessageFields): string {
  const reason = said.words("cause", "reason");
  return reason === "" ? "" : `\n\nReason: ${REASONS[reason] ?? reason}\n`;
}

function checks(said: MessageFields): string {
  const lines = said
    .list("failed_checks")
    .map((check) => `  ${check.words("id")}: expected ${check.words("expectation")}`);
  return lines.length === 0 ? "" : `\nChecks that did not hold:\n\n${lines.join("\n")}\n`;
}

function suspicions(said: MessageFields): string {
  const lines = said.list("suspicious").map((each) => {
    const measure = each.text("measure");
    if (!isMeasure(measure)) return `  ${each.words("table")}`;
    const [table, column] = [each.words("table"), each.words("column")];
    return `  ${suspicionText({ table, column, measure, now: each.words("now"), before: each.words("before") })}`;
  });
  const more = Number(said.text("suspicious_count")) - lines.length;
  return `${lines.join("\n")}\n${more > 0 ? `  and ${more} more\n` : ""}`;
}

function removals(said: MessageFields): string {
  const lines = said
    .list("sources")
    .map(
      (of) => `  ${of.source}: ${plural(of.text("backups"), "backup")}, the first at ${of.text("first_at")}`,
    );
  const more = Number(said.text("source_count")) - lines.length;
  return `${lines.join("\n")}\n${more > 0 ? `  and backups of ${plural(more, "more source")}\n` : ""}`;
}

function held(said: MessageFields): string {
  return said.text("hold", "reason") === "count_rose"
    ? `${said.text("hold", "last_day")} came in the last day, and the usual number is ${said.text("hold", "usual_a_day")}`
    : `the newest have ${said.text("hold", "newest_bytes")} bytes, and one that would be removed has ${said.text("hold", "removed_bytes")}`;
}

function indicators(said: MessageFields): string {
  return said
    .list("indicators")
    .map((indicator) => {
      const changes = (["added", "removed", "altered"] as const).flatMap((how) =>
        indicator.texts("changes", how).map((name) => `    ${how}: ${name}\n`),
      );
      if (changes.length > 0) return `  ${indicator.words("field")}\n${changes.join("")}`;
      return `  ${indicator.words("field")}: ${indicator.json("before")} → ${indicator.json("after")}\n`;
    })
    .join("");
}
