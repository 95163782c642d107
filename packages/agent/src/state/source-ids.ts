import type { RegisteredSource } from "@attestore/contract";
import { replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "./layout.ts";
import { readCopy } from "./read-json.ts";

/** Slug to `src_…`, as the service last told it. */
export async function readSourceIds(layout: Layout): Promise<ReadonlyMap<string, string>> {
  const value = await readCopy(layout.sources);
  return new Map(value === null ? [] : Object.entries(value as Record<string, string>));
}

/** Remembers ids. They are a copy of the service's, and are only written if something changed. */
export async function rememberSourceIds(
  layout: Layout,
  told: readonly Pick<RegisteredSource, "id" | "slug">[],
): Promise<void> {
  const known = await readSourceIds(layout);
  if (told.every(({ id, slug }) => known.get(slug) === id)) return;
  const merged = new Map([...known, ...told.map(({ id, slug }): [string, string] => [slug, id])]);
  await replaceJsonFile(layout.sources, Object.fromEntries(merged));
}
