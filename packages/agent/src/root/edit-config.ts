import { Document, parseDocument, type Document as YamlDocument } from "yaml";
import { parseConfig } from "./config.ts";
import { writeDurably } from "./durable-write.ts";
import type { Layout } from "./layout.ts";
import { readText } from "./read-json.ts";

/** A change of config.yaml that is not made yet. */
export interface ConfigEdit {
  readonly before: string;
  readonly after: string;
  /** The whole file at once: the old or the new one survives a crash. */
  write(): Promise<void>;
}

/**
 * Changes config.yaml and keeps what people wrote there, comments too. What comes out is read as the agent will read it: a
 * change that it would not understand is never written. @throws ConfigError
 */
export async function planConfigEdit(
  layout: Layout,
  change: (document: YamlDocument) => void,
): Promise<ConfigEdit> {
  const before = (await readText(layout.config)) ?? "";
  const document = before.trim() === "" ? new Document({}) : parseDocument(before);
  if (document.contents === null) document.contents = document.createNode({});
  change(document);
  const after = document.toString({ lineWidth: 0 });
  parseConfig(after, layout.config, layout.root);
  return { before, after, write: () => writeDurably(layout.config, after) };
}
