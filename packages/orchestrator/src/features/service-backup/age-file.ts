import { type FileHandle, open } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { Readable } from "node:stream";
import { Decrypter, Encrypter } from "age-encryption";
import { UserError } from "../../platform/errors/user-error.ts";

/**
 * Encrypts a stream to a new file, which is on the disk when this resolves.
 * @returns its size in bytes
 */
export async function encryptFile(
  path: string,
  source: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): Promise<number> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const file = await open(path, "wx", 0o600);
  try {
    const stream = Readable.toWeb(Readable.from(source)) as ReadableStream<Uint8Array>;
    let size = 0;
    for await (const chunk of await encrypter.encrypt(stream)) {
      await file.writeFile(chunk);
      size += chunk.length;
    }
    await file.sync();
    return size;
  } finally {
    await file.close();
  }
}

/**
 * The content of an encrypted file. Each piece is authentic, but only the end shows that it is
 * complete.
 * @throws UserError `invalid_argument` if none of the identities fits, or the file is damaged
 */
export async function* decryptFile(
  path: string,
  identities: readonly string[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  const file = await openToRead(path);
  try {
    const pieces = file.createReadStream({ highWaterMark: 1024 * 1024, autoClose: false });
    const source = Readable.toWeb(pieces) as ReadableStream<Uint8Array>;
    for await (const chunk of await decrypter.decrypt(source)) yield chunk;
  } catch (error) {
    if (error instanceof UserError || (error instanceof Error && "syscall" in error)) throw error;
    throw cannotDecrypt(path, error);
  } finally {
    await file.close();
  }
}

function cannotDecrypt(path: string, cause: unknown): UserError {
  const message = cause instanceof Error ? cause.message : "";
  const text = message.startsWith("no identity matched")
    ? `${path} was not encrypted to this identity. Give the one whose recipient the backup was made for.`
    : `${path} is damaged, or not an age file. Take another copy, or an older backup.`;
  return new UserError("invalid_argument", text, { cause });
}

async function openToRead(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    throw new UserError("invalid_argument", `${path} cannot be read (${errorCode(error) ?? ""}).`, {
      cause: error,
    });
  }
}
