import { resolve } from "node:path";
import { requireUnused } from "../../state/hand-over.ts";
import type { Call } from "./command.ts";

/** As `--output`: to stdout, and nothing else goes there. A file of that name is `./-`. */
export const STDOUT = "-";

/** The file of `--output`, or one of its pages. */
export interface OutputFile {
  /** As people know it. */
  readonly name: string;
  /** Where to write it until `keepOutput`; often the same. */
  readonly path: string;
}

/** @throws UserError usage if it exists already */
export function outputFile({ cwd, root }: Pick<Call, "cwd" | "root">, output: string): OutputFile {
  const name = resolve(cwd, output);
  const path = root.handOver?.pathFor(name) ?? name;
  requireUnused(path, name);
  return { name, path };
}

/** Once it is whole. @throws RunError `output_unwritable` */
export async function keepOutput({ root }: Pick<Call, "root">): Promise<void> {
  await root.handOver?.keep();
}
