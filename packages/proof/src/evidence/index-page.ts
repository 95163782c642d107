import { CONTROLS } from "./controls.ts";
import { PACK_FILES } from "./pack-files.ts";
import { cell, code, escaped, moment, objective, runs, table, type Cell } from "./index-parts.ts";
import { INDEX_STYLE } from "./index-style.ts";
import type { NotProvenBecause } from "../proven/not-proven-because.ts";
import type { EvidenceException, EvidenceSummary, SourceSummary } from "./summary.ts";

/**
 * Makes index.html: the summary as a page to read and print. It loads nothing and runs no script.
 * It depends on the summary alone, so a verifier that recomputes the summary can compare the page.
 */
export function indexPage(summary: EvidenceSummary, generator: string): string {
  const { org, period, totals } = summary;
  const title = `Evidence of backups and restore tests: ${org.name}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${INDEX_STYLE}</style>
</head>
<body>
<header>
<p class="kind">Evidence pack</p>
<h1>${escaped(org.name)}</h1>
<p>${moment(period.from)} to ${moment(period.to)} (not included), UTC. Made ${moment(summary.exported_at)}.</p>
</header>
<main>
<section>
<h2>In short</h2>
${shortly(totals)}
<p class="check">This page is a reading aid. Check the pack before you rely on it: <code>attestore-verify PACK.zip --log-key log.vkey --keys hosts.keys</code>, with
the log's key and the agents' keys from the hosts: the keys in the pack are a claim. <code>${PACK_FILES.readme}</code> says how to do it without our tools.</p>
</section>
<section>
<h2>Sources</h2>
${sourceTable(summary.sources)}
<p class="note">RPO: the longest time that a loss would have cost in the period. RTO: the longest restore of a test that passed.
Proven at the end: the newest backup, or one within the RPO (36 hours unless set), had passed a restore test in the 7 days before, and no failure
stood. “None” stands where there was nothing to measure.</p>
</section>
<section>
<h2>What went wrong</h2>
${exceptionTable(summary)}
</section>
<section>
<h2>Scheduled restore tests</h2>
${testTable(summary)}
</section>
<section>
<h2>Changes of the policy</h2>
${changeTable(summary)}
</section>
${acceptedSection(summary)}<section>
<h2>Controls</h2>
<p>Which files speak to which control. Whether it is met is for the auditor to say.</p>
${table(
  ["Control", "Asks", "Shown here", "Files"],
  CONTROLS.map(({ framework, control, asks, shows, files }) => [
    { html: `${escaped(framework)}<br><strong>${escaped(control)}</strong>` },
    cell(asks),
    cell(shows),
    { html: files.map(code).join(" ") },
  ]),
)}
</section>
<section>
<h2>What is not proven</h2>
<ul>${summary.not_proven.map((text) => `<li>${escaped(text)}</li>`).join("\n")}</ul>
</section>
<section>
<h2>The log</h2>
<p>${summary.log.entries_in_period} entries of the log are of this period. All proofs lead to one signed checkpoint of ${summary.log.tree_size} entries,
${code(PACK_FILES.checkpoint)}: log ${code(summary.log.origin)}, root ${code(summary.log.root_hash)}.</p>
${generationTable(summary)}</section>
</main>
<footer><p>${escaped(generator)}</p></footer>
</body>
</html>
`;
}

/** Nothing for a log that never lost an entry. */
function generationTable({ generations = [] }: EvidenceSummary): string {
  if (generations.length === 0) return "";
  return `<p>The log lost entries and went on from what was left: this is its generation ${generations.length + 1}.</p>
${table(
  ["Generation", "Began", "Event", "Entries left", "Lost heads named", "By", "Because"],
  generations.map((each) => [
    cell(String(each.generation)),
    { html: moment(each.at) },
    { html: code(each.event_id) },
    cell(String(each.entries_left)),
    cell(String(each.lost_heads)),
    cell(each.by),
    cell(each.because),
  ]),
)}
`;
}

function shortly(totals: EvidenceSummary["totals"]): string {
  const { scheduled_restore_tests: tests, scheduled_backups: backups, restore_tests } = totals;
  return table(
    ["", "Scheduled", "Passed or made", "Failed", "Missed", "Still waiting", "Withdrawn"],
    [
      [cell("Restore tests"), ...runs(tests)],
      [cell("Backups"), ...runs(backups)],
    ],
  ).concat(
    `<p>All restore tests, scheduled or not: ${restore_tests.passed} passed, ${restore_tests.failed} failed. ${totals.backups} backups have a receipt.
${totals.receipts} receipts and ${totals.events} events are in the pack.</p>`,
  );
}

function sourceTable(sources: readonly SourceSummary[]): string {
  if (sources.length === 0) return "<p>There are none.</p>";
  return table(
    [
      "Source",
      "Restore tests",
      "Scheduled tests missed",
      "Backups",
      "Last passed",
      "Proven at the end",
      "RPO",
      "RTO",
    ],
    sources.map((source) => [
      {
        html: `<strong>${escaped(source.name)}</strong><br>${code(source.slug)} ${escaped(source.engine)}${source.removed_at === null ? "" : "<br>removed"}`,
      },
      {
        html: `${source.restore_tests.passed} passed<br>${source.restore_tests.failed} failed<br>${source.restore_failed} could not run`,
        bad: source.restore_tests.failed + source.restore_failed > 0,
      },
      {
        html: `${source.scheduled_restore_tests.missed} of ${source.scheduled_restore_tests.total}`,
        bad: source.scheduled_restore_tests.missed > 0,
      },
      {
        html: `${source.backups}, ${source.scheduled_backups.missed} missed, ${source.backup_failed} failed`,
        bad: source.scheduled_backups.missed + source.backup_failed > 0,
      },
      source.last_passed_at === null ? { html: "never", bad: true } : { html: moment(source.last_passed_at) },
      source.proof.proven
        ? { html: "proven" }
        : {
            html: `<strong>not proven</strong><br>${NOT_PROVEN_WORDS[source.proof.because ?? "never_proven"]}`,
            bad: true,
          },
      objective(source.rpo),
      objective(source.rto),
    ]),
  );
}

const WHAT: Record<EvidenceException["what"], string> = {
  restore_test_failed: "Restore test failed: it ran, and the data are not as they should be",
  restore_test_missed: "Restore test missed: no result in its time",
  backup_missed: "Backup missed: none in its time",
  backup_failed: "Backup could not be made",
  restore_failed: "Restore test could not be run",
  attestation_failed: "Receipt could not be made",
};

const NOT_PROVEN_WORDS: Record<NotProvenBecause, string> = {
  never_backed_up: "no backup in the pack",
  restore_test_failed: "a failed restore test stood",
  never_proven: "no restore test in the pack passed",
  proof_too_old: "no test had passed in 7 days",
  newest_not_proven: "the newest backup had not passed, and the last that had was older than the RPO",
};

function exceptionTable({ exceptions, sources }: EvidenceSummary): string {
  if (exceptions.items.length === 0) return "<p>Nothing that the log or the schedules tell of.</p>";
  const rows = exceptions.items
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .map(({ at, source_id, what, id }): Cell[] => [
      { html: moment(at) },
      slugCell(sources, source_id),
      cell(WHAT[what]),
      { html: id === null ? "no entry of its own" : code(id) },
    ]);
  return table(["When", "Source", "What", "Told by"], rows) + omitted(exceptions.omitted);
}

function testTable({ scheduled_restore_tests: tests, sources }: EvidenceSummary): string {
  if (tests.items.length === 0) return "<p>None was scheduled.</p>";
  const rows = tests.items.map(({ source_id, scheduled_at, status, receipt_id }): Cell[] => [
    { html: moment(scheduled_at) },
    slugCell(sources, source_id),
    { html: escaped(status), bad: status === "failed" || status === "missed" },
    { html: receipt_id === null ? "" : code(receipt_id) },
  ]);
  return table(["Scheduled", "Source", "Result", "Receipt"], rows) + omitted(tests.omitted);
}

function changeTable({ policy_changes: changes, sources }: EvidenceSummary): string {
  if (changes.items.length === 0) return "<p>The log tells of none.</p>";
  const rows = changes.items.map(({ at, source_id, kind, changed, actor_id, event_id }): Cell[] => [
    { html: moment(at) },
    slugCell(sources, source_id),
    cell(kind === "source_removed" ? "removed" : changed.join(", ")),
    { html: code(actor_id) },
    { html: code(event_id) },
  ]);
  return table(["When", "Source", "Changed", "By", "Event"], rows) + omitted(changes.omitted);
}

function acceptedSection({ accepted_changes: accepted, sources }: EvidenceSummary): string {
  if (accepted === undefined) return "";
  const rows = accepted.items.map(({ at, source_id, change, tables, by, because, event_id }): Cell[] => [
    { html: moment(at) },
    slugCell(sources, source_id),
    cell(tables.length === 0 ? change : tables.join(", ")),
    cell(by ?? ""),
    cell(because ?? ""),
    { html: code(event_id) },
  ]);
  return `<section>
<h2>Changes of sources that somebody accepted</h2>
<p>Tables that were gone or had fewer rows than restore tests saw before, or another database under a source's name. The agent's host says who accepted it.</p>
${table(["When", "Source", "What", "By", "Because", "Event"], rows)}${omitted(accepted.omitted)}
</section>
`;
}

function slugCell(sources: readonly SourceSummary[], id: string | null): Cell {
  const source = sources.find((each) => each.id === id);
  return { html: source === undefined ? (id === null ? "" : code(id)) : escaped(source.slug) };
}

function omitted(count: number): string {
  return count === 0 ? "" : `<p class="note">And ${count} more, which are not listed here.</p>`;
}
