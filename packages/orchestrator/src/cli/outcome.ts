import { plainLine, plainMessage, plainText } from "@attestore/proof";

/** The result of a command, for a person and for a program. */
export interface Outcome {
  /** One JSON value, printed with --json instead of everything else. */
  json: unknown;
  /** The output of the command: goes to stdout, so it can be piped. */
  result: string;
  /** Messages for a person: go to stderr. */
  talk?: string[];
  /** The next command to run. */
  next?: string;
}

/** How a person wants to be told. */
export interface PrintOptions {
  json?: boolean;
  quiet?: boolean;
}

export function printOutcome(outcome: Outcome, { json, quiet }: PrintOptions): void {
  if (json === true) {
    process.stdout.write(`${plainText(JSON.stringify(outcome.json, null, 2))}\n`);
    return;
  }
  if (quiet !== true) for (const line of outcome.talk ?? []) process.stderr.write(`${plainMessage(line)}\n`);
  if (outcome.result !== "") process.stdout.write(`${plainText(outcome.result)}\n`);
  if (outcome.next !== undefined && quiet !== true)
    process.stderr.write(`\n${plainMessage(`Next: ${outcome.next}`)}\n`);
}

/** Rows in columns under their names; without rows, only the text for that case. */
export function listing(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): Pick<Outcome, "result" | "talk"> {
  if (rows.length === 0) return { result: "", talk: [empty] };
  const cells = [names, ...rows].map((row) => row.map((cell) => plainLine(cell)));
  const widths = names.map((_name, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return { result: lines.map((line) => line.trimEnd()).join("\n") };
}
