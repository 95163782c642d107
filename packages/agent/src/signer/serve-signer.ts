import type { Server, Socket } from "node:net";
import { errorMessage } from "@attestore/host/errno";
import { equalBytes, ProofError, publicKeyFromBytes, type PublicKey } from "@attestore/proof";
import type { SigningKey } from "./signing-key.ts";
import { UserError } from "../errors/user-error.ts";
import type { KeyDirectory } from "./key-directory.ts";
import type { HeldIdentities } from "./held-identities.ts";
import {
  ANSWER,
  encodeMessage,
  KEY_SIZE,
  type Message,
  MessageReader,
  OPENED,
  OPERATION,
} from "../signer-client/protocol.ts";
import { purposeOf } from "./signable.ts";

const CONNECTIONS = 32;
const REQUEST_MS = 10_000;
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;

/** Refusals, in words for the agent's user. They contain nothing of a key. */
class Refused extends Error {}

/** The keys that the signing process holds for the agent. */
export interface Held {
  readonly keys: KeyDirectory;
  readonly identities: HeldIdentities;
}

/**
 * Answers on a socket that only the agent's user may connect to. Handles one request at a time,
 * because some replace keys.
 */
export function serveSigner(server: Server, held: Held): void {
  let last: Promise<unknown> = Promise.resolve();
  server.maxConnections = CONNECTIONS;
  server.on("connection", (socket) => {
    const reader = new MessageReader();
    socket.setTimeout(REQUEST_MS, () => socket.destroy());
    socket.on("error", () => undefined);
    const giveUp = (): void => void socket.destroy();
    socket.once("end", giveUp);
    socket.on("data", (bytes: Buffer) => {
      let request: Message | null;
      try {
        request = reader.push(bytes);
      } catch {
        socket.destroy();
        return;
      }
      if (request === null) return;
      const whole = request;
      socket.off("end", giveUp);
      // Anything that comes later is ignored.
      socket.removeAllListeners("data").resume();
      last = last.then(() => reply(socket, held, whole));
    });
  });
}

async function reply(socket: Socket, held: Held, request: Message): Promise<void> {
  let answer: Buffer;
  try {
    answer = encodeMessage(ANSWER.done, await answerTo(held, request));
  } catch (error) {
    const isTold = error instanceof Refused || error instanceof UserError || error instanceof ProofError;
    if (!isTold) process.stderr.write(`attestore: ${errorMessage(error)}\n`);
    const why = isTold ? error.message : "something went wrong, see its journal";
    answer = encodeMessage(ANSWER.refused, Buffer.from(why));
  }
  socket.end(answer);
}

/** @throws Refused, UserError `key_file`, ProofError, and errors of the file system */
export async function answerTo({ keys, identities }: Held, { kind, payload }: Message): Promise<Uint8Array> {
  switch (kind) {
    case OPERATION.current:
      requireSize(payload, 0);
      return (await keys.current()).publicKey.bytes;
    case OPERATION.ensure:
      requireSize(payload, 0);
      return (await keys.ensure()).publicKey.bytes;
    case OPERATION.next:
      requireSize(payload, 0);
      return (await keys.next()).publicKey.bytes;
    case OPERATION.sign:
      return sign(keys, payload);
    case OPERATION.takeNext:
      return takeNext(keys, payload);
    case OPERATION.takeBack:
      await keys.takeBack(fingerprintIn(payload));
      return Buffer.alloc(0);
    case OPERATION.forget:
      await forget(keys, fingerprintIn(payload));
      return Buffer.alloc(0);
    case OPERATION.ensureIdentity:
      requireSize(payload, 0);
      return Buffer.from(await identities.ensure());
    case OPERATION.nextIdentity:
      requireSize(payload, 0);
      return Buffer.from(await identities.make());
    case OPERATION.recipients:
      requireSize(payload, 0);
      return Buffer.from((await identities.recipients()).join("\n"));
    case OPERATION.openHeader:
      return openHeader(identities, payload);
    default:
      throw new Refused("there is no such request");
  }
}

async function openHeader(identities: HeldIdentities, header: Buffer): Promise<Uint8Array> {
  const opened = await identities.open(header);
  if (opened === "no identity") return Buffer.of(OPENED.noIdentity);
  if (opened === "damaged") return Buffer.of(OPENED.damaged);
  return Buffer.concat([Buffer.of(OPENED.fileKey), opened.fileKey]);
}

async function sign(keys: KeyDirectory, payload: Buffer): Promise<Uint8Array> {
  if (payload.length <= KEY_SIZE) throw new Refused("there is nothing to sign");
  const wanted = keyIn(payload.subarray(0, KEY_SIZE));
  const message = payload.subarray(KEY_SIZE);
  const [current, next] = [await keys.current(), await keys.preparedNext()];
  const key = [current, next].find((each) => isKey(each, wanted)) ?? null;
  if (key === null) throw new Refused("that key is not in use");
  const purpose = purposeOf(message, wanted, {
    current: current.publicKey,
    next: next?.publicKey ?? null,
  });
  if (purpose === null) throw new Refused("this is nothing that an agent signs");
  return key.sign(new Uint8Array(message));
}

async function takeNext(keys: KeyDirectory, payload: Buffer): Promise<Uint8Array> {
  requireSize(payload, 2 * KEY_SIZE);
  const [before, after] = [keyIn(payload.subarray(0, KEY_SIZE)), keyIn(payload.subarray(KEY_SIZE))];
  const [current, next] = [await keys.current(), await keys.preparedNext()];
  // Done already, by a request whose answer was lost.
  if (isKey(current, after)) return Buffer.alloc(0);
  if (!isKey(current, before) || !isKey(next, after))
    throw new Refused("these are not the key in use and the next one");
  await keys.takeNext(current, next as SigningKey);
  return Buffer.alloc(0);
}

async function forget(keys: KeyDirectory, fingerprint: string): Promise<void> {
  if ((await keys.current()).fingerprint === fingerprint) throw new Refused("that key is in use");
  await keys.forget(fingerprint);
}

function isKey(key: SigningKey | null, publicKey: PublicKey): boolean {
  return key !== null && equalBytes(key.publicKey.bytes, publicKey.bytes);
}

function keyIn(bytes: Buffer): PublicKey {
  return publicKeyFromBytes(new Uint8Array(bytes));
}

function fingerprintIn(payload: Buffer): string {
  const text = payload.toString("latin1");
  if (!FINGERPRINT.test(text)) throw new Refused("that is not a fingerprint");
  return text;
}

function requireSize(payload: Buffer, size: number): void {
  if (payload.length !== size) throw new Refused(`a request of this kind has ${size} bytes`);
}
