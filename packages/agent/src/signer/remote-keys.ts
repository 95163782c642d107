import { concatBytes, publicKeyFromBytes } from "@attestore/proof";
import { signingKey, type SigningKey, type SigningKeys } from "./signing-key.ts";
import { askSigner, signerFailed } from "../signer-client/ask-signer.ts";
import { KEY_SIZE, OPERATION } from "../signer-client/protocol.ts";

const SIGNATURE_SIZE = 64;

/** Keys that a signing process holds. */
export class RemoteKeys implements SigningKeys {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  async current(): Promise<SigningKey> {
    return this.#key(await askSigner(this.#socket, OPERATION.current));
  }

  async ensure(): Promise<SigningKey> {
    return this.#key(await askSigner(this.#socket, OPERATION.ensure));
  }

  async next(): Promise<SigningKey> {
    return this.#key(await askSigner(this.#socket, OPERATION.next));
  }

  async takeNext(old: SigningKey, next: SigningKey): Promise<void> {
    await askSigner(this.#socket, OPERATION.takeNext, concatBytes(old.publicKey.bytes, next.publicKey.bytes));
  }

  async takeBack(fingerprint: string): Promise<void> {
    await askSigner(this.#socket, OPERATION.takeBack, Buffer.from(fingerprint));
  }

  async forget(fingerprint: string): Promise<void> {
    await askSigner(this.#socket, OPERATION.forget, Buffer.from(fingerprint));
  }

  #key(bytes: Buffer): SigningKey {
    if (bytes.length !== KEY_SIZE) throw signerFailed(this.#socket, "returned something that is not a key");
    const publicKey = publicKeyFromBytes(new Uint8Array(bytes));
    return signingKey(publicKey, async (message) => {
      const signature = await askSigner(this.#socket, OPERATION.sign, concatBytes(publicKey.bytes, message));
      if (signature.length !== SIGNATURE_SIZE)
        throw signerFailed(this.#socket, "returned something that is not a signature");
      return new Uint8Array(signature);
    });
  }
}
