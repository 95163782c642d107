import type { Command } from "../invocation/command.ts";

/** Commands that few people need, and seldom. */
export const FURTHER: readonly Command[] = [
  {
    name: "sync",
    summary: "upload and submit everything that is queued for the service, now",
    flags: ["maxRate", "wait", "json", "root", "quiet", "verbose"],
    examples: [["attestore sync", "upload now what an outage left on this host"]],
    page: "agent.md#what-survives-what",
    load: async () => (await import("../sync.ts")).sync,
  },
  {
    name: "prune",
    summary: "standalone: remove the backups that no keep rule keeps, but never the newest proven one",
    flags: [
      ...(["keepLast", "keepDays", "keepDaily", "keepWeekly", "keepMonthly", "keepYearly"] as const),
      ...(["source", "dryRun", "yes", "wait", "json", "root", "quiet", "verbose"] as const),
    ],
    examples: [
      ["attestore prune --keep-daily 7 --keep-monthly 12 --dry-run", "show which backups would be removed"],
      ["attestore prune --yes", "remove them by the rules of config.yaml"],
    ],
    page: "standalone.md",
    load: async () => (await import("../prune.ts")).prune,
  },
  {
    name: "accept",
    summary: "accept that a source's tables are gone or have fewer rows; signed, with the reason",
    flags: ["because", "wait", "json", "root", "quiet", "verbose"],
    words: [
      { form: "<source>", about: "a source in config.yaml" },
      {
        form: "[tables...]",
        about: "as the restore test names them; * matches any text; default: list what is missing",
      },
    ],
    examples: [
      ["attestore accept shop", "list what the newest backup lacks"],
      [
        'attestore accept shop public.old_orders --because "moved to the archive"',
        "accept that one table is gone",
      ],
      ['attestore accept shop "tmp_*" --because "recreated each night"', "several tables"],
    ],
    page: "checks.md#floors",
    load: async () => (await import("../accept.ts")).accept,
  },
  {
    name: "alarm",
    summary: "show the log's alarm, or clear it once you know what happened",
    flags: ["because", "forgetHead", "json", "root", "quiet", "verbose"],
    words: [{ form: "[show|clear]", about: "show by default" }],
    examples: [
      ["attestore alarm", "show it"],
      [
        'attestore alarm clear --because "restored the service, ticket 4711"',
        "go on, once you know what happened",
      ],
    ],
    page: "agent.md#the-alarm-over-the-log",
    load: async () => (await import("../alarm.ts")).alarm,
  },
];
