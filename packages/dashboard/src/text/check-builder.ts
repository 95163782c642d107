import { plural } from "./format.ts";

export const formatCount = (count: number): string => count.toLocaleString("en-GB");

export const checkBuilder = {
  title: (source: string) => `New check of ${source}`,
  open: "New check",
  lead: "The agent writes the query, tries it on a restored backup and on ruined copies, and adds it to config.yaml. A query of your own is for the host: attestore check try.",
  onlyManagers: "Only owners and admins can add a check.",
  gone: "The agent that makes the backups of this source is not there any more.",
  measureTitle: "What to measure",
  tryTitle: "Try it",
  addTitle: "Add it",
  look: "List tables and columns",
  looking: "The agent lists the tables and columns of the source…",
  cut: "There are more tables or columns than are shown.",
  measure: "Measure",
  measures: {
    rows: "Number of rows",
    distinct: "Number of different values",
    filled: "Number of values that are not null",
    newest: "Age of the newest time",
  },
  table: "Table",
  column: "Column",
  none: "Nothing like that",
  noTimes: "This table has no column of times.",
  atLeast: "At least",
  youngerThan: "Younger than (hours)",
  thresholdWrong: "Enter a whole number from 1.",
  incomplete: "Choose what to measure first",
  start: "Try the check",
  running:
    "The agent restores the newest backup into a throw-away place and measures it. That may take a while…",
  value: "Value in the newest backup",
  noValue: "none",
  held: "The check holds.",
  failed: "The check does not hold on the newest backup, so it cannot be added. Choose another limit.",
  noticed: "It failed, as it has to, on",
  notNoticed: "It would not notice",
  notTried: "Not tried",
  cannotFail:
    "It noticed nothing when the copy was ruined. A check that cannot fail proves nothing, so it cannot be added.",
  past: "Past values",
  pastOf: (count: number, low: string, high: string) =>
    `${plural(count, "restore test")}: from ${low} to ${high}. The dashed line is the limit.`,
  noPast: "Restore tests have not measured this yet.",
  name: "Name of the check",
  add: "Add the check",
  added: (name: string) => `The check ${name} was added. The next restore test runs it.`,
} as const;
