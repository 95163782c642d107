import type { Layout } from "../state/layout.ts";
import { readText } from "../state/read-json.ts";
import type { SigningKey } from "./signing-key-file.ts";
import { KeyDirectory } from "./key-directory.ts";
import { RemoteKeys } from "./remote-keys.ts";

/** Whoever holds the private halves of the agent's signing keys: the one in use, the next one, and one that a rotation may have to give back. */
export interface SigningKeys {
  /** @throws UserError `key_file`, `signer` */
  current(): Promise<SigningKey>;
  /** The same, made if there is none. */
  ensure(): Promise<SigningKey>;
  /** The one that a rotation takes into use: made if there is none. */
  next(): Promise<SigningKey>;
  /** The key in use is kept aside, and the next one takes its place, in one step. Repeats are harmless. */
  takeNext(old: SigningKey, next: SigningKey): Promise<void>;
  /** Undoes that. */
  takeBack(fingerprint: string): Promise<void>;
  /** One that was kept aside, for good. */
  forget(fingerprint: string): Promise<void>;
}

/** Where a signing process holds the root's keys its file says so; else they are files of the root. */
export async function openSigningKeys(layout: Layout): Promise<SigningKeys> {
  const socket = await signerSocket(layout);
  return socket === null ? new KeyDirectory(layout.keys) : new RemoteKeys(socket);
}

/** The signing process's socket; null where this process signs itself. */
export async function signerSocket(layout: Layout): Promise<string | null> {
  const path = (await readText(layout.signer))?.trim() ?? "";
  return path === "" ? null : path;
}
