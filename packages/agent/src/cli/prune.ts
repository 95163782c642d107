import { formatBytes, plural } from "@attestore/proof";
import { formatAge } from "./terminal/times.ts";
import type { Layout } from "../state/layout.ts";
import { UserError } from "../errors/user-error.ts";
import { passedBackups } from "../receipts/receipt-history.ts";
import type { KeepRules } from "../config/storage-config.ts";
import { hasRules, keptBy } from "../backends/standalone/keep-rules.ts";
import { openStore } from "../backends/standalone/open-store.ts";
import { requireStorage } from "../backends/standalone/storage-in-place.ts";
import { forgetStored, listStored, type StoredRecord } from "../backends/standalone/stored-backups.ts";
import { confirm } from "./terminal/ask.ts";
import type { Call, Run } from "./invocation/command.ts";
import { openRoot, type OpenRoot } from "./invocation/open-root.ts";
import { takeWorkLock } from "./invocation/work-lock.ts";

interface Judged {
  readonly backup: StoredRecord;
  /** Empty means that it is removed. */
  readonly keptBy: readonly string[];
}

export const prune: Run = async (call) => {
  const { terminal, signal, flags } = call;
  const root = openRoot(call);
  const { layout, config } = root;
  if (config.standalone === null)
    throw new UserError(
      "usage",
      "the service prunes the backups that it stores, by the retention set there for each source",
    );
  const rules = rulesOf(call, root);
  if (!hasRules(rules))
    throw new UserError(
      "usage",
      `no keep rule is set: give one such as --keep-daily 7, or set standalone.retention in ${layout.config}`,
    );
  const dryRun = flags.isOn("dryRun");
  const store = await openStore(config.standalone.storage, config.upload);
  try {
    const wait = flags.isOn("wait", true);
    using _ = await takeWorkLock(layout, "prune", { signal, wait, say: terminal.say });
    await requireStorage(layout, config.standalone.storage);
    const judged = await judge(layout, rules, flags.text("source"));
    const going = judged.filter(({ keptBy: why }) => why.length === 0).map(({ backup }) => backup);
    if (!flags.isOn("json")) for (const each of judged) terminal.data(describe(each, call));
    const bytes = going.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const what = `${going.length} of ${plural(judged.length, "backup")}, ${formatBytes(bytes)}`;
    const agreed =
      dryRun || going.length === 0 || (await confirm(`Remove ${what}?`, { yes: flags.isOn("yes"), signal }));
    const removed = dryRun || !agreed ? [] : going;
    for (const backup of removed) {
      // Remove the record last: until then it shows that the object must still be removed.
      await store.remove(backup, signal);
      await forgetStored(layout, backup.id);
    }
    if (flags.isOn("json"))
      terminal.data(
        JSON.stringify({
          dry_run: dryRun,
          kept: judged
            .filter(({ keptBy: why }) => why.length > 0)
            .map(({ backup, keptBy: by }) => ({ id: backup.id, by })),
          removed: removed.map(({ id }) => id),
          ...(dryRun ? { would_remove: going.map(({ id }) => id) } : {}),
        }),
      );
    else
      terminal.say(
        dryRun ? `Would remove ${what}.` : `Removed ${plural(removed.length, "backup")} from ${store.where}.`,
      );
    return 0;
  } finally {
    store.close();
  }
};

/**
 * Rules on the command line replace those in config.yaml as a whole. A mixture would surprise
 * people.
 */
function rulesOf({ flags }: Call, { config }: OpenRoot): KeepRules {
  const count = (name: "keepLast" | "keepDays" | "keepDaily" | "keepWeekly" | "keepMonthly" | "keepYearly") =>
    flags.count(name, { most: 100_000 });
  const given = {
    last: count("keepLast"),
    days: count("keepDays"),
    daily: count("keepDaily"),
    weekly: count("keepWeekly"),
    monthly: count("keepMonthly"),
    yearly: count("keepYearly"),
  };
  const { last = 0, days = 0, daily = 0, weekly = 0, monthly = 0, yearly = 0 } = given;
  const rules = { last, days, daily, weekly, monthly, yearly };
  const isNoneGiven = Object.values(given).every((value) => value === undefined);
  return isNoneGiven ? (config.standalone?.retention ?? rules) : rules;
}

async function judge(layout: Layout, rules: KeepRules, source: string | undefined): Promise<Judged[]> {
  const stored = (await listStored(layout)).filter((each) => source === undefined || each.source === source);
  if (source !== undefined && stored.length === 0)
    throw new UserError("source_unknown", `no backup of a source "${source}" is stored here`);
  const passed = await passedBackups(layout);
  const judged: Judged[] = [];
  for (const slug of new Set(stored.map((each) => each.source))) {
    const own = stored.filter((each) => each.source === slug);
    const kept = keptBy(own, rules, { passed, now: new Date() });
    judged.push(...own.map((backup) => ({ backup, keptBy: kept.get(backup.id) ?? [] })));
  }
  return judged;
}

function describe({ backup, keptBy: why }: Judged, { terminal }: Call): string {
  const { good, warn } = terminal.onData;
  const mark = why.length > 0 ? good("keep  ") : warn("remove");
  return `${mark}  ${backup.source}  ${backup.id}  ${formatAge(backup.at)}, ${formatBytes(backup.sizeBytes)}${why.length > 0 ? `  (${why.join(", ")})` : ""}`;
}
