import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@attestore/host/errno";
import { concatBytes, publicKeyFromBytes } from "@attestore/proof";
import { signingKey, type SigningKey } from "../root/signing-key-file.ts";
import { UserError } from "../root/user-error.ts";
import { ANSWER, encodeMessage, KEY_SIZE, type Message, MessageReader, OPERATION } from "./protocol.ts";
import type { SigningKeys } from "./signing-keys.ts";

const SIGNATURE_SIZE = 64;
const ANSWER_MS = 30_000;
/** It is started anew by an upgrade: a receipt is not lost over that. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 250;

/** Keys that a signing process holds. */
export class RemoteKeys implements SigningKeys {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  async current(): Promise<SigningKey> {
    return this.#key(await this.#ask(OPERATION.current));
  }

  async ensure(): Promise<SigningKey> {
    return this.#key(await this.#ask(OPERATION.ensure));
  }

  async next(): Promise<SigningKey> {
    return this.#key(await this.#ask(OPERATION.next));
  }

  async takeNext(old: SigningKey, next: SigningKey): Promise<void> {
    await this.#ask(OPERATION.takeNext, concatBytes(old.publicKey.bytes, next.publicKey.bytes));
  }

  async takeBack(fingerprint: string): Promise<void> {
    await this.#ask(OPERATION.takeBack, Buffer.from(fingerprint));
  }

  async forget(fingerprint: string): Promise<void> {
    await this.#ask(OPERATION.forget, Buffer.from(fingerprint));
  }

  #key(bytes: Buffer): SigningKey {
    if (bytes.length !== KEY_SIZE) throw this.#failed("gave something that is no key");
    const publicKey = publicKeyFromBytes(new Uint8Array(bytes));
    return signingKey(publicKey, async (message) => {
      const signature = await this.#ask(OPERATION.sign, concatBytes(publicKey.bytes, message));
      if (signature.length !== SIGNATURE_SIZE) throw this.#failed("gave something that is no signature");
      return new Uint8Array(signature);
    });
  }

  /** Every request can be repeated: what was done already is done. */
  async #ask(operation: number, payload: Uint8Array = Buffer.alloc(0)): Promise<Buffer> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        const { kind, payload: answer } = await this.#once(encodeMessage(operation, payload));
        if (kind === ANSWER.done) return answer;
        throw this.#failed(`refused: ${answer.toString("utf8").slice(0, 500)}`);
      } catch (error) {
        if (error instanceof UserError) throw error;
        const code = errorCode(error);
        if (code === "EACCES" || code === "EPERM" || performance.now() >= until)
          throw this.#failed(`does not answer (${code ?? "it hung up"})`, error);
        await delay(PAUSE_MS);
      }
    }
  }

  async #once(request: Buffer): Promise<Message> {
    const socket = connect(this.#socket);
    try {
      await once(socket, "connect", { signal: AbortSignal.timeout(ANSWER_MS) });
      socket.write(request);
      socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error("it took too long")));
      const reader = new MessageReader();
      for await (const bytes of socket) {
        const answer = reader.push(bytes as Buffer);
        if (answer !== null) return answer;
      }
      throw new Error("it hung up");
    } finally {
      socket.destroy();
    }
  }

  #failed(what: string, cause?: unknown): UserError {
    return new UserError(
      "signer",
      `the signing process at ${this.#socket} ${what}. Look at: systemctl status attestore-signer`,
      { cause },
    );
  }
}
