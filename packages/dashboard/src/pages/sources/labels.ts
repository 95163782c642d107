/** What the agent's config.yaml says about a source for people. */
export interface Labels {
  readonly tags: readonly string[];
  readonly environment: string | null;
}

export interface LabelFilter {
  tag?: string | undefined;
  environment?: string | undefined;
}

/** All labels that some source has, sorted, each once. */
export function labelsOf(sources: readonly Labels[]): { tags: string[]; environments: string[] } {
  return {
    tags: sorted(sources.flatMap(({ tags }) => tags)),
    environments: sorted(sources.flatMap(({ environment }) => environment ?? [])),
  };
}

export function hasLabels(source: Labels, { tag, environment }: LabelFilter): boolean {
  return (
    (tag === undefined || source.tags.includes(tag)) &&
    (environment === undefined || source.environment === environment)
  );
}

/** `production · billing, shop`; empty without labels. */
export function labelWords({ tags, environment }: Labels): string {
  return [environment ?? "", tags.join(", ")].filter((part) => part !== "").join(" · ");
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted((a, b) => a.localeCompare(b, "en"));
}
