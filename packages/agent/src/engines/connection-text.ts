import { readFile } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import type { SecretReference } from "../secrets/secret-reference.ts";
import { RunError } from "../errors/run-error.ts";

/** The text that a reference leads to, and where it was found, for messages. */
export interface ReferredText {
  readonly text: string;
  readonly from: string;
}

/**
 * `holds` says what should be there, such as "the database's postgresql:// URL".
 * @throws RunError `connection_reference`. The message never quotes the text.
 */
export async function referredText(reference: SecretReference, holds: string): Promise<ReferredText> {
  if (reference.kind === "env") {
    const value = process.env[reference.name];
    if (value !== undefined && value !== "")
      return { text: value, from: `the environment variable ${reference.name}` };
    throw new RunError(
      "connection_reference",
      `the environment variable ${reference.name} is not set: set it to ${holds}`,
    );
  }
  let text: string;
  try {
    text = await readFile(reference.path, "utf8");
  } catch (error) {
    throw new RunError(
      "connection_reference",
      `the file ${reference.path} cannot be read (${errorCode(error)}): put ${holds} there`,
      { cause: error },
    );
  }
  const [line = ""] = text.split(/\r?\n/);
  if (line !== "") return { text: line, from: reference.path };
  throw new RunError(
    "connection_reference",
    `the first line of ${reference.path} is empty: put ${holds} there`,
  );
}
