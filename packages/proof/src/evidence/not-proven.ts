import { DEFAULT_RPO_S, PROOF_AGE_S } from "../proven/not-proven-because.ts";
import type { EvidenceSummary, SourceSummary } from "./summary.ts";

/**
 * Lists in words what a pack does not show: first what this pack lacks, then what no pack shows.
 */
export function notProven(
  { sources, totals, scheduled_restore_tests }: Omit<EvidenceSummary, "not_proven">,
  { missedUntold }: { missedUntold: number },
): string[] {
  const named = (of: (source: SourceSummary) => boolean): string =>
    sources
      .filter(of)
      .map(({ slug }) => slug)
      .join(", ");
  const notAtEnd = named(({ proof, removed_at }) => !proof.proven && removed_at === null);
  const untested = named(({ restore_tests: { passed, failed } }) => passed + failed === 0);
  const unproven = named(({ restore_tests: { passed, failed } }) => passed === 0 && failed > 0);
  const unscheduled = named(({ scheduled_restore_tests: { total } }) => total === 0);
  const unlimited = named(({ rpo, rto }) => rpo.objective_s === null || rto.objective_s === null);
  const withoutReceipt = sources.reduce((total, source) => total + source.backups_without_receipt, 0);
  const waiting = totals.scheduled_restore_tests.waiting + totals.scheduled_backups.waiting;
  const when = (condition: unknown, text: string): string[] => (condition ? [text] : []);
  return [
    ...when(sources.length === 0, "There are no sources: nothing is shown about any data."),
    ...when(
      notAtEnd,
      `Not proven at the end of the period, as neither the newest backup nor one within its RPO (${DEFAULT_RPO_S / 3600} hours unless set) had passed a restore test in the ${PROOF_AGE_S / 86_400} days before, or a failure stood: ${notAtEnd}.`,
    ),
    ...when(
      untested,
      `No restore test ran in the period, so nothing shows that their backups restore: ${untested}.`,
    ),
    ...when(unproven, `Restore tests ran, and none passed: ${unproven}.`),
    ...when(
      unscheduled,
      `No restore test was scheduled in the period, so none could be missed: ${unscheduled}.`,
    ),
    ...when(
      unlimited,
      `An objective for RPO or RTO is not set, so nothing is compared with it: ${unlimited}.`,
    ),
    ...when(
      withoutReceipt,
      `${withoutReceipt} scheduled backups were registered in time and have no receipt: that they were made is the service's word.`,
    ),
    ...when(waiting, `${waiting} scheduled runs could still be done in time when the pack was made.`),
    ...when(
      missedUntold,
      `${missedUntold} missed runs have no entry of their own in the log: only the first of each incident has one. attestore-verify makes their times again from the schedules that the log tells of.`,
    ),
    ...when(
      scheduled_restore_tests.omitted,
      `The summary lists the first ${scheduled_restore_tests.items.length} scheduled restore tests; all of them are counted, and are in runs/.`,
    ),
    ...ALWAYS,
  ];
}

const ALWAYS: readonly string[] = [
  "A restore test shows what its checks looked at, and no more. Which checks run is decided on the host; a receipt has each one's expectation and what was observed.",
  "A receipt is what an agent on the customer's host signed. Whoever controls that host and its key can sign what did not happen. A second host that tests restores (test_agent_id) makes that harder.",
  "The log shows that nothing which was in it was left out or changed. What an agent never reported is not in it; the agents' receipts form chains, and attestore-verify tells where a link is missing, also where an agent's first receipt here follows on one from before the pack. A receipt at the very end of a chain that is left out does not show until the agent's next one.",
  "Times of entries are the service's clock; times in receipts are the hosts' clocks. A receipt counts for a scheduled run unless, by its host's clock, it finished more than five minutes before the run was due.",
  "Schedules, objectives and names of sources are the service's word, as is since when there is a source, which backup before the period was the last, how long a scheduled run had, and what became of one that no receipt or event tells of.",
  "Where the period reaches up to the export, that the checkpoint was then the newest one is the service's word, unless agents cosigned it.",
  "That everybody is shown the same log is what agents check with every heartbeat. A pack cannot show it; compare its checkpoint with what an agent holds (attestore status).",
  "Whose keys sign here is the service's word: the log's entries agent_attached and keys/ are written by it. attestore-verify calls a pack TRUE only by agents' keys that you give it, from the hosts or from a list that the organisation's owner signed, and by the log's key from a host.",
  "That a backup was kept until now, and can be downloaded, is not shown: only that it restored when it was tested.",
];
