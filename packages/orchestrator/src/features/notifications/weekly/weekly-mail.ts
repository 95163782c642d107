import { plural } from "@attestore/proof";
import type { ArchivedEnvelopes } from "../../../log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../../../log/checkpoints/checkpoint-signer.ts";
import type { Database } from "../../../platform/database/schema.ts";
import { readInOrg } from "../../../platform/database/org-scope.ts";
import type { Mail } from "../../../platform/mail/mail.ts";
import type { Message } from "../messages/message.ts";
import { plainName, readMessageFields } from "../messages/message-fields.ts";
import { readWeekReceipts, type WeekReceipts } from "./week-receipts.ts";
import { type SourceWeek, summarizeWeek } from "./week-summary.ts";

export interface WeeklyDeps {
  db: Database;
  signer: CheckpointSigner;
  envelopes: ArchivedEnvelopes;
  publicUrl: string;
  /** How much fits into a mail. Only tests set it. */
  room?: { maxBytes: number; maxFiles: number };
}

/**
 * The week's receipts as files, what they add up to, and what they do not show. All of it is read
 * when the mail is sent, in one snapshot.
 */
export async function weeklyMail(
  { db, signer, envelopes, publicUrl, room }: WeeklyDeps,
  orgId: string,
  { data }: Message,
): Promise<Omit<Mail, "to">> {
  const said = readMessageFields(data);
  const week = { name: said.text("week"), from: new Date(said.text("from")), to: new Date(said.text("to")) };
  const [sources, receipts] = await readInOrg(db, orgId, async (tx) => [
    await summarizeWeek(tx, orgId, week),
    await readWeekReceipts(tx, envelopes, signer, orgId, week, room),
  ]);
  const sum = (of: (source: SourceWeek) => number): number =>
    sources.reduce((total, source) => total + of(source), 0);
  const tests = `${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed, ${sum(({ missed }) => missed)} missed`;
  const lastDay = new Date(week.to.getTime() - 1).toISOString().slice(0, 10);
  return {
    subject: `[${said.org}] evidence of ${week.name}: restore tests ${tests}`,
    text: `Evidence of ${said.org}, week ${week.name}: ${week.from.toISOString().slice(0, 10)} to ${lastDay} (UTC).

Restore tests: ${tests}. Backups: ${sum(({ backups }) => backups)} made, ${sum(({ backupsMissed }) => backupsMissed)} missed.

${sources.map(sourceLine).join("")}
${notShown(sources)}
${attached(receipts, publicUrl)}
--
You get this mail because weekly evidence is switched on for you. To change that: ${publicUrl}/notifications
`,
    attachments: receipts.attachments,
  };
}

function sourceLine(source: SourceWeek): string {
  const { name, scheduled, passed, failed, missed, undecided, backups, backupsMissed } = source;
  const open = undecided === 0 ? "" : `, ${undecided} still open`;
  return `  ${plainName(name)}: ${plural(scheduled, "restore test")} scheduled; ${passed} passed, ${failed} failed, ${missed} missed${open}. ${plural(backups, "backup")} made, ${backupsMissed} missed.\n`;
}

/** Facts that the mail does not show, although a reader might think so. */
function notShown(sources: readonly SourceWeek[]): string {
  const unproven = sources.filter(({ passed }) => passed === 0);
  const lines = [
    ...unproven.map(({ name }) => `${plainName(name)}: no restore test passed this week.`),
    ...(sources.length === 0 ? ["There are no sources, so nothing was backed up."] : []),
    "Tests that failed, were missed or could not run have no passing receipt. The organisation's log records them.",
    "A passed test proves the backup it names, by the checks it names. It proves nothing about later backups.",
  ];
  return `Not shown by these receipts:\n\n${lines.map((line) => `  - ${line}\n`).join("")}`;
}

function attached({ attachments, total }: WeekReceipts, publicUrl: string): string {
  const missing = total - attachments.length;
  const rest =
    missing === 0
      ? ""
      : `\nNOT attached: ${plural(missing, "more receipt")} of this week, because there is no room in a mail: ${publicUrl}/receipts\n`;
  return `Attached, each with its proof: ${attachments.length} of ${plural(total, "receipt")}.${missing === 0 ? "" : " Those of restore tests come first."}
To verify one offline, with keys from your own hosts:

    attestore-verify rcpt_*.json --key agent.pub --log-key log.vkey
${rest}`;
}
