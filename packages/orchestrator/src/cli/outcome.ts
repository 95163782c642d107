/** What a command found or did, for a person and for a program. */
export interface Outcome {
  /** One JSON value, printed with --json in place of all the rest. */
  json: unknown;
  /** What the command is asked for: goes to stdout, so it can be piped. */
  result: string;
  /** What a person wants to know besides: goes to stderr. */
  talk?: string[];
  /** The next command to run. */
  next?: string;
}

export function printOutcome(outcome: Outcome, asJson: boolean): void {
  if (asJson) {
    process.stdout.write(`${JSON.stringify(outcome.json, null, 2)}\n`);
    return;
  }
  for (const line of outcome.talk ?? []) process.stderr.write(`${line}\n`);
  if (outcome.result !== "") process.stdout.write(`${outcome.result}\n`);
  if (outcome.next !== undefined) process.stderr.write(`\nNext: ${outcome.next}\n`);
}

/** Columns under their names, or `empty` where there is no row. */
export function table(names: readonly string[], rows: readonly (readonly string[])[], empty: string): string {
  if (rows.length === 0) return empty;
  const cells = [names, ...rows].map((row) => row.map((cell) => printable(cell)));
  const widths = names.map((_name, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Without what a terminal would obey: names come from hosts that nobody has let in yet. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, "�");
}
