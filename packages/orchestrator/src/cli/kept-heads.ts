import { join } from "node:path";
import { errorMessage } from "@attestore/host/errno";
import { readMarkedHeads } from "../features/installation/pairing.ts";
import type { KeptHead } from "../log/fsck/check-kept-heads.ts";
import { orgOfOrigin } from "../log/heads/missing-heads.ts";
import { readSignedHeads } from "../log/checkpoints/signed-heads.ts";
import type { Config } from "../platform/config/read-config.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import { objectStore } from "../service/open-objects.ts";

/** Signed heads that are kept outside the database. */
export interface KeptHeads {
  /** By organisation. */
  heads: Map<string, KeptHead[]>;
  /** Places that could not be read, and why. */
  unread: string[];
}

/** Signed heads that this machine and the object store know of. */
export async function readKeptHeads(config: Config): Promise<KeptHeads> {
  const heads = new Map<string, KeptHead[]>();
  const unread: string[] = [];
  const add = (head: KeptHead): void => {
    const org = orgOfOrigin(head.origin);
    heads.set(org, [...(heads.get(org) ?? []), head]);
  };
  for (const head of (await readSignedHeads(join(config.data, "signed-heads"))).values())
    add({ ...head, where: "signed-heads" });
  try {
    const marked = await readMarkedHeads(objectStore(config, Buffer.alloc(32), silentLogger));
    for (const [origin, { size, root }] of marked)
      add({ origin, size, rootHash: Buffer.from(root, "hex"), where: "the object store's marker" });
  } catch (error) {
    unread.push(`the object store's marker (${errorMessage(error)})`);
  }
  return { heads, unread };
}
