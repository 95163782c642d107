/**
 * Merges the metrics of several processes into one text in Prometheus' format. All samples of a
 * metric must be one group after its HELP and TYPE. The labels tell which process a sample is from.
 */
export function mergeExpositions(texts: readonly string[]): string {
  const groups = new Map<string, { header: string; samples: string[] }>();
  for (const text of texts)
    for (const group of text.split(/^(?=# HELP )/m)) {
      const [, header = "", name = "", samples = ""] =
        /^(# HELP (\S+).*\n# TYPE .*\n)((?:.*\n?)*)$/.exec(group) ?? [];
      if (name === "") continue;
      const known = groups.get(name) ?? { header, samples: [] };
      known.samples.push(samples.trimEnd());
      groups.set(name, known);
    }
  return [...groups.values()]
    .map(({ header, samples }) => header + samples.filter((lines) => lines !== "").join("\n"))
    .map((group) => `${group.trimEnd()}\n`)
    .join("\n");
}
