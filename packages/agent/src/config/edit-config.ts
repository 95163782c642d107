import { replaceFile } from "@attestore/host/durable-files";
import { Document, parseDocument, type Document as YamlDocument } from "yaml";
import { parseConfig } from "./config.ts";
import type { Layout } from "../state/layout.ts";
import { waitForLock } from "../state/lock.ts";
import { readText } from "../state/read-json.ts";
import { UserError } from "../errors/user-error.ts";

const NEVER = new AbortController().signal;

/** A change of config.yaml that is not written yet. */
export interface ConfigEdit {
  readonly before: string;
  readonly after: string;
  /** @throws UserError config_changed if the file has changed since it was read */
  requireCurrent(): Promise<void>;
  /**
   * Writes the whole file at once, so the old or the new one survives a crash. If somebody edited
   * it since it was read, while a person thought about the change, nothing is written. @throws
   * UserError config_changed
   */
  write(): Promise<void>;
}

/**
 * Changes config.yaml and keeps what people wrote there, including comments. The result is read as
 * the agent will read it: a change that it would not understand is never written. @throws
 * ConfigError
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
  const requireCurrent = async (): Promise<void> => {
    if (((await readText(layout.config)) ?? "") !== before)
      throw new UserError(
        "config_changed",
        `${layout.config} was changed in the meantime, so nothing was written. Run the command again.`,
      );
  };
  const write = async (): Promise<void> => {
    // Two programs that both found it unchanged would lose what the first one wrote.
    using _ = await waitForLock(layout, "config", "edit config.yaml", { signal: NEVER });
    await requireCurrent();
    await replaceFile(layout.config, after);
  };
  return { before, after, requireCurrent, write };
}
