import type { NotificationType } from "@attestore/contract";
import type { Mail } from "../../platform/mail/mail.ts";
import type { Message } from "./delivery-queue.ts";
import { readMessageFields, type MessageFields } from "./message-fields.ts";

/** A subject's end and what a person has to know and do: of each type. */
const TEXTS: Readonly<
  Record<Exclude<NotificationType, "evidence.weekly">, (said: MessageFields) => [string, string]>
> = {
  "backup.failed": (said) => [
    `backup of ${said.source} failed`,
    `A backup of ${said.source} failed.${because(said)}
Until one succeeds there is none that is newer than the last one. This is told once; you will be told when it works again.`,
  ],
  "backup.missed": (said) => [
    `backup of ${said.source} is missing`,
    `The backup of ${said.source} that was scheduled for ${said.text("cause", "scheduled_at")} has not arrived.${because(said)}
This is told once; you will be told when a backup arrives.`,
  ],
  "backup.recovered": (said) => [
    `backups of ${said.source} work again`,
    `A backup of ${said.source} has arrived. What began at ${said.began} is over.`,
  ],
  "restore_test.failed": (said) => [
    `restore test of ${said.source} FAILED`,
    `A backup of ${said.source} was restored, and what came back is not what it has to be.${because(said)}${checks(said)}
Do not rely on this backup. This is told once; you will be told when a restore test passes.`,
  ],
  "restore_test.could_not_run": (said) => [
    `restore test of ${said.source} could not run`,
    `A restore test of ${said.source} could not run, so nothing is proven by it.${because(said)}
This is told once; you will be told when a restore test passes.`,
  ],
  "restore_test.missed": (said) => [
    `restore test of ${said.source} is missing`,
    `The restore test of ${said.source} that was scheduled for ${said.text("cause", "scheduled_at")} has not happened.${because(said)}
This is told once; you will be told when one passes.`,
  ],
  "restore_test.recovered": (said) => [
    `restore tests of ${said.source} pass again`,
    `A restore test of ${said.source} has passed. What began at ${said.began} is over.`,
  ],
  "agent.silent": (said) => [
    `agent ${said.agent} is silent`,
    `Nothing is heard from the agent ${said.agent} any more. It was last heard at ${said.text("cause", "last_seen_at") || "no time"}.
Its backups and restore tests do not run meanwhile. On its host: systemctl status attestore; attestore doctor`,
  ],
  "agent.recovered": (said) => [
    `agent ${said.agent} is back`,
    `The agent ${said.agent} is heard again. What began at ${said.began} is over.`,
  ],
  "agent.attached": (said) => [
    `new agent ${said.agent}`,
    `A new agent was let in: ${said.agent}, with the key ${said.text("key_fingerprint")}.
If nobody of you did this, revoke it at once.`,
  ],
  "attestation.failed": (said) => [
    `agent ${said.agent} cannot attest`,
    `The agent ${said.agent} could not have a receipt recorded, or has stopped signing.${because(said)}
If the reason is about the log not extending what the agent has seen before, treat it as an attack on the service.`,
  ],
  "attestation.recovered": (said) => [
    `agent ${said.agent} attests again`,
    `A receipt of the agent ${said.agent} is in the log. What began at ${said.began} is over.`,
  ],
  "drift.detected": (said) => [
    `${said.source} has changed`,
    `The newest backup of ${said.source} is not as the one before, or was not restored where it was made:

${indicators(said)}
If you know of the change, nothing is to be done.`,
  ],
  "retention.announced": (said) => [
    `${said.text("removals", "backups")} backups are to be removed`,
    `The retention rules keep ${said.text("removals", "backups")} backups no longer. The first goes at ${said.text("removals", "first_at")}:

${removals(said)}
To keep one, open it in the dashboard, or run on the service's host: attestore-server backup keep ID
If so many should not go, look at the sources' rules, and at who registers their backups.`,
  ],
  "retention.held": (said) => [
    `retention of ${said.source} has stopped`,
    `No backup of ${said.source} is removed any more, because its backups have changed suddenly: ${held(said)}.
Somebody who has taken over its host could do this to get the good backups removed. Look at the source's newest backups and test one.
If they are what they should be, let the retention go on: in the source's settings, or attestore-server retention resume --source ${said.text("source", "id")}`,
  ],
  "quota.reached": (said) => [
    `${said.text("quota", "percent")} % of the quota of ${said.text("quota", "name")} are used`,
    `${said.org} has ${said.text("quota", "used")} of the ${said.text("quota", "limit")} ${said.text("quota", "name")} that it may have on this service.
What is beyond it is refused: ${said.text("quota", "name") === "agents" ? "no further agent can be attached" : "new backups wait on their hosts"}. What is stored stays, and receipts and alarms go on.
Let the retention rules keep less, or ask the operator of the service for more.`,
  ],
  "incident.ended": (said) => [
    `${said.text("incident", "kind").replaceAll("_", " ")} of ${said.source || said.agent} is over`,
    said.text("incident", "resolution") === "failed"
      ? `The restore test of ${said.source} that was missing or could not run has run, and failed.`
      : `What began at ${said.began} is over: nobody waits for it any more, because it was removed, revoked or is not scheduled.`,
  ],
  "notification.test": (said) => [
    "a test",
    `This is a test, which ${said.text("asked_by")} asked for. Notifications of ${said.org} reach you.`,
  ],
};

/** The mail that says what a webhook's body says. */
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
You get this as a user of ${said.org} on Attestore. What you are told: ${publicUrl}/notifications
`,
  };
}

const REASONS: Readonly<Record<string, string>> = {
  agent_revoked: "its agent is revoked",
  failed: "it was tried and failed",
  agent_silent: "its agent is silent",
  service_unavailable: "the service could not ask for it",
  not_delivered: "its agent has not fetched the command",
  not_acknowledged: "its agent has not acknowledged the command",
  result_too_old:
    "what came finished before it was due: it had waited on the host, or the host's clock is behind",
  check_failed: "a check did not hold",
  nothing_shown: "it was restored, and nothing shows that the data is there",
  told_by_the_agent: "the page below shows what its agent reported",
  no_result: "its agent has the command and no result came",
};

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

function removals(said: MessageFields): string {
  const lines = said
    .list("sources")
    .map((of) => `  ${of.source}: ${of.text("backups")} backups, the first at ${of.text("first_at")}`);
  const more = Number(said.text("source_count")) - lines.length;
  return `${lines.join("\n")}\n${more > 0 ? `  and those of ${more} more sources\n` : ""}`;
}

function held(said: MessageFields): string {
  return said.text("hold", "reason") === "count_rose"
    ? `${said.text("hold", "last_day")} came in the last day, and ${said.text("hold", "usual_a_day")} a day are usual`
    : `the newest have ${said.text("hold", "newest_bytes")} bytes, and one that would go has ${said.text("hold", "removed_bytes")}`;
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
