import { createHmac, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createFile, replaceFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { Layout } from "./layout.ts";

const HEX = /^[0-9a-f]{64}\n$/;

/**
 * The key under which backups of a source sign what definitions it has. It is the same for each
 * backup, so that two of them can be compared, and only this root has it, so that nobody who reads
 * receipts can guess at a secret in a function's text. If it is lost, another one is made, and the
 * next backup is not compared with the one before. Null if it can be neither read nor made: a
 * backup does not fail for that.
 */
export async function readDefinitionsKey(layout: Layout, slug: string): Promise<Buffer | null> {
  try {
    const key = (await read(layout)) ?? (await make(layout));
    return createHmac("sha256", Buffer.from(key, "hex")).update(slug).digest();
  } catch {
    return null;
  }
}

/** Null if there is none, or another thing. */
async function read(layout: Layout): Promise<string | null> {
  const text = await nullIfMissing(readFile(layout.definitionsKey, "utf8"));
  return text !== null && HEX.test(text) ? text.trim() : null;
}

async function make(layout: Layout): Promise<string> {
  const key = randomBytes(32).toString("hex");
  if (await createFile(layout.definitionsKey, `${key}\n`)) return key;
  // Another run was faster, or the file is damaged.
  const theirs = await read(layout);
  if (theirs !== null) return theirs;
  await replaceFile(layout.definitionsKey, `${key}\n`);
  return key;
}
