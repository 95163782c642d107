/**
 * One text in Prometheus' format from those of several processes. All samples of a metric have to
 * be one group after its HELP and TYPE; which process a sample is of is told by its labels.
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
