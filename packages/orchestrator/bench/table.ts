/** What one run came to. CPU time in µs a request. */
export interface Measured {
  /** Requests a second. */
  rate: number;
  p50_ms: number;
  p99_ms: number;
  client_us: number;
  server_us: number;
  postgres_us: number;
  /** The last answer's body. */
  sample: string;
}

interface Row {
  name: string;
  /** The rounds of all rows are adjacent runs. */
  rounds: readonly Measured[];
}

/**
 * A line for each row with the medians of its rounds, and how its rate compares with that of each
 * row above: the median of the rounds' ratios. "All CPU" tells what the machine's cores allow at
 * most, however well they are used, and changes less than a rate when others use them too.
 */
export function markdownTable(rows: readonly Row[]): string {
  const head = ["", "a second", "p50 ms", "p99 ms", "CPU µs: client", "server", "PostgreSQL", "all CPU"];
  const baselines = rows.slice(0, -1);
  const lines = [
    [...head, ...baselines.map(({ name }) => `of the ${name}`), `by CPU, of the ${rows[0]?.name ?? ""}`],
    [...head, ...baselines, ""].map(() => "---"),
    ...rows.map(({ name, rounds }) => {
      const of = (value: (run: Measured) => number): number => median(rounds.map(value));
      const against = ({ rounds: theirs }: Row, value: (run: Measured) => number): string =>
        median(rounds.map((run, n) => value(run) / value(theirs[n] ?? run))).toFixed(2);
      return [
        name,
        of(({ rate }) => rate).toFixed(0),
        of(({ p50_ms }) => p50_ms).toFixed(0),
        of(({ p99_ms }) => p99_ms).toFixed(0),
        of(({ client_us }) => client_us).toFixed(0),
        of(({ server_us }) => server_us).toFixed(0),
        of(({ postgres_us }) => postgres_us).toFixed(0),
        of(allCpu).toFixed(0),
        ...baselines.map((row) => against(row, ({ rate }) => rate)),
        ...rows.slice(0, 1).map((row) => against(row, (run) => 1 / allCpu(run))),
      ];
    }),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function allCpu({ client_us, server_us, postgres_us }: Measured): number {
  return client_us + server_us + postgres_us;
}
