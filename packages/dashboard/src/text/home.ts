import { formatDuration, plural } from "./format.ts";
import type { Schemas } from "@attestore/contract/client";

export type Source = Schemas["SourceOverview"];
export type Concern = Source["concerns"][number];
type Step = Schemas["NextStep"]["kind"];

/** Texts of the home page. */
export const home = {
  title: "Home",
  sources: {
    heading: "Sources, worst first",
    filter: "Filter sources by name",
    days: "Days shown",
    daysOption: (days: number) => `${plural(days, "day")}`,
    columns: {
      source: "Source",
      backup: "Last backup",
      proof: "Last proof",
      days: (days: number) => `The last ${plural(days, "day")}`,
      restore: "Restore time",
    },
    noMatch: (text: string) => `No source has “${text}” in its name.`,
    showAll: (more: number) => `Show the other ${plural(more, "source")}`,
    chips: "Filter sources by state",
    all: (count: number) => `All ${count}`,
    noneLeft: "No source matches the filters.",
    menu: (name: string) => `Actions for ${name}`,
    actions: "Actions",
    sortAgain: "Sort again, worst first",
    daysZone: "Days are in UTC. Each bar shows that day's worst result.",
    shown: (shown: number, all: number) =>
      shown === all ? plural(all, "source") : `${shown} of ${plural(all, "source")}`,
  },
  worst: {
    heading: "Needs attention",
    since: "began",
    lastProven: "last proven",
    neverProven: "never proven",
    open: "Open",
    again: { backup: "Back up again", restore_test: "Test again" },
    started: {
      backup: "A backup is requested. This page follows it.",
      restore_test: "A restore test is requested. This page follows it.",
    },
    others: (count: number) => `${plural(count, "other source", "other sources")} below`,
  },
  clock: {
    never: "never",
    rpoExceeded: (seconds: number) => `over its RPO of ${formatDuration(seconds)}`,
    rto: (seconds: number) => `of ${formatDuration(seconds)}`,
    rtoExceeded: (seconds: number) => `over its RTO of ${formatDuration(seconds)}`,
    running: { backup: "A backup is queued or running", restore_test: "A restore test is queued or running" },
    unmeasured: "not measured",
  },
  agents: {
    heading: "Agents",
    all: "All agents",
    none: "No agent is attached.",
    columns: { name: "Agent", seen: "Last seen", spool: "Queued" },
    silent: "silent",
    neverSeen: "not yet",
    nothingWaits: "nothing",
    unknown: "unknown",
    more: (more: number) => `and ${plural(more, "more agent", "more agents")}`,
  },
  log: {
    heading: "Transparency log",
    entries: (count: number) => plural(count, "entry", "entries"),
    grew: "last entry ",
    signed: "hourly head signed ",
    neverSigned: "no hourly head yet",
    readOnly:
      "The log is read-only: the service's database lost entries. Receipts wait on their hosts. Tell the operator of this service.",
    late: "The hourly head is late. Tell the operator of this service.",
    open: "Open the log",
  },
  steps: {
    heading: "Your next step",
    attach_agent: {
      what: "Attach an agent",
      why: "An agent on your host makes backups and restores them. Without one, nothing can be proven.",
      action: "Attach an agent",
    },
    declare_source: {
      what: "Add a source",
      why: "Your agent is attached. Say what to back up: here, or on its host:",
      action: "Add a source",
    },
    run_agent: {
      what: "Start the agent",
      why: "The service does not hear from this agent, so nothing is backed up or tested. On its host, start it and leave it running:",
      action: "Open the agent",
    },
    look_into_failure: {
      what: "Find out what failed",
      why: "The last run failed and has not been repeated, so nobody knows whether this source restores.",
      action: "Open the source",
    },
    make_backup: {
      what: "Make the first backup",
      why: "This source has none yet.",
      action: "Open the source",
    },
    test_restore: {
      what: "Restore it once",
      why: "This source has backups, but none has been restored yet.",
      action: "Open the source",
    },
    write_check: {
      what: "Write a check",
      why: "Its restore tests run only the built-in checks. Add checks of your own data: with New check on its tab Restore tests, or in config.yaml on its host.",
      action: "Open the source",
    },
    set_schedule: {
      what: "Set a schedule",
      why: "This source is backed up and tested only when somebody starts it.",
      action: "Open the source",
    },
    set_objectives: {
      what: "Set objectives",
      why: "Set how much data you can afford to lose (RPO) and how long a restore may take (RTO). Attestore watches both.",
      action: "Open the source",
    },
    make_recovery_kit: {
      what: "Make a recovery kit",
      why: "If this agent's host is lost, the key that decrypts its backups is lost too. Print a recovery kit on the agent's host:",
      action: "Open the agent",
    },
    test_recovery_kit: {
      what: "Test the recovery kit",
      why: "Nobody has tested whether the printed recovery kit decrypts a backup. With the paper in hand, run on the agent's host:",
      action: "Open the agent",
    },
  } satisfies Record<Step | "heading", unknown>,
  commands: {
    declare_source: "source add",
    make_recovery_kit: "keys recovery-kit --output kit.html",
    test_recovery_kit: "keys recovery-kit --test",
    label: "Command to run on the agent's host",
  },
  empty: {
    noAgent: "To start, attach an agent on one of your hosts.",
    noSource: "An agent is attached, but it has no source to back up.",
  },
} as const;

/** What is wrong with a source, as a clause after its name. */
export const CONCERNS: Readonly<Record<Concern, string>> = {
  restore_test_failed: "its last restore test failed",
  restore_could_not_run: "its last restore test could not run",
  backup_failed: "its last backup failed",
  attestation_failed: "one of its receipts could not be made",
  backup_missed: "a scheduled backup did not happen",
  restore_test_missed: "a scheduled restore test did not happen",
  rpo_exceeded: "its last backup is older than its RPO",
  rto_exceeded: "its last restore took longer than its RTO",
  never_backed_up: "it has never been backed up",
  never_proven: "it has never been proven",
  proof_too_old: "its last passed restore test is more than 7 days old",
  newest_not_proven: "its newest backup is not proven, and the last proven one is older than its RPO",
  agent_silent: "its agent is silent",
  agent_revoked: "its agent is revoked",
  schema_drift: "its schema changed this week",
  environment_drift: "its environment changed this week",
};

/**
 * The page's headline: `12 of 13 sources are proven.`, and one sentence: the age of the oldest
 * current proof or, without any, what is wrong with the worst source. The sources come in the
 * page's order (worst first), and the time is the service's.
 */
export function answer(sources: readonly Source[], now: Date): { headline: string; sentence: string | null } {
  const proven = sources.filter(({ state }) => state === "proven");
  const headline = headlineOf(proven.length, sources.length);
  const oldest = proven.map(({ last_proven_at }) => last_proven_at ?? "").toSorted()[0];
  if (oldest !== undefined && oldest !== "")
    return {
      headline,
      sentence:
        proven.length === 1
          ? `The proof is ${age(oldest, now)} old.`
          : `The oldest current proof is ${age(oldest, now)} old.`,
    };
  const [worst] = sources;
  return { headline, sentence: worst === undefined ? null : `${worst.name}: ${grievance(worst, now)}.` };
}

function headlineOf(proven: number, all: number): string {
  if (all === 0) return "Nothing is proven yet.";
  if (proven === all)
    return all === 1 ? "Your source is proven." : `${all === 2 ? "Both" : `All ${all}`} sources are proven.`;
  if (proven === 0) return all === 1 ? "Your source is not proven." : `None of ${all} sources is proven.`;
  return `${proven} of ${all} sources ${proven === 1 ? "is" : "are"} proven.`;
}

/** `its last restore test failed 2 h ago; last proven 9 days ago` */
function grievance(source: Source, now: Date): string {
  const [first = "never_proven"] = source.concerns;
  const when =
    source.state === "failed" && source.failed_at !== null ? ` ${age(source.failed_at, now)} ago` : "";
  const clause = `${CONCERNS[first]}${when}`;
  if (source.last_proven_at === null)
    return first === "never_proven" || first === "never_backed_up" ? clause : `${clause}; never proven`;
  return `${clause}; last proven ${age(source.last_proven_at, now)} ago`;
}

function age(at: string, now: Date): string {
  return formatDuration((now.getTime() - Date.parse(at)) / 1000);
}

const DAY_WORDS = {
  f: "failed",
  m: "missed",
  p: "proven",
  b: "backed up only",
  "-": "nothing",
} as const;
export type DayLetter = keyof typeof DAY_WORDS;
export const DAY_LETTERS = Object.keys(DAY_WORDS) as DayLetter[];

export function dayWord(letter: DayLetter): string {
  return DAY_WORDS[letter];
}

const DAY_STATUS = { f: "failed", m: "missed", p: "proven", b: "backed_up", "-": "none" } as const;

export function dayStatus(letter: DayLetter): Source["state"] {
  return DAY_STATUS[letter];
}

/**
 * The day strip for screen readers: `Last 30 days: failed on 20 Nov; missed on 3 Nov; 25 proven; 3
 * backed up only.`
 */
export function describeDays(days: string, firstDay: string): string {
  const on = (letter: DayLetter): string[] =>
    days.split("").flatMap((found, index) => (found === letter ? [dayName(firstDay, index)] : []));
  const parts = (["f", "m"] as const).flatMap((letter) => {
    const found = on(letter);
    return found.length === 0 ? [] : [`${dayWord(letter)} on ${listed(found)}`];
  });
  for (const letter of ["p", "b", "-"] as const) {
    const count = days.split("").filter((found) => found === letter).length;
    if (count > 0) parts.push(`${count} ${dayWord(letter)}`);
  }
  return `Last ${plural(days.length, "day")}: ${parts.join("; ")}.`;
}

const MOST_DAYS = 8;

function listed(days: string[]): string {
  const newest = days.slice(-MOST_DAYS);
  return days.length > MOST_DAYS
    ? `${plural(days.length, "day")}, the last ${newest.at(-1) ?? ""}`
    : newest.join(", ");
}

/** `20 Nov` */
export function dayName(firstDay: string, index: number): string {
  const at = new Date(Date.parse(firstDay) + index * 86_400_000);
  return new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" }).format(at);
}

/** What is queued on an agent's host: `1 backup, 2 receipts`. */
export function spoolText(spool: Schemas["AgentSpool"] | null): string {
  if (spool === null) return home.agents.unknown;
  const parts = [
    [spool.backups, "backup"],
    [spool.receipts, "receipt"],
    [spool.events, "event"],
  ] as const;
  const waiting = parts.flatMap(([count, noun]) => (count === 0 ? [] : [plural(count, noun)]));
  return waiting.length === 0 ? home.agents.nothingWaits : waiting.join(", ");
}

/** A trend for screen readers: `12 min; between 10 min and 14 min over the last 30 days`. */
export function describeTrend(values: readonly number[], format: (value: number) => string): string {
  const last = values.at(-1);
  if (last === undefined) return home.clock.unmeasured;
  if (values.length === 1) return format(last);
  const [least, most] = [format(Math.min(...values)), format(Math.max(...values))];
  const range = least === most ? "the same" : `between ${least} and ${most}`;
  return `${format(last)}; ${range} over the last 30 days`;
}
