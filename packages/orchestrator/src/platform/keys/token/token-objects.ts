import { type Attribute, CK, type Cryptoki } from "./cryptoki.ts";
import { parsePkcs11Uri, type Pkcs11Uri } from "../../config/pkcs11-uri.ts";
import type { FoundKey, KeyKind, PrivateMaterial, TokenLogin } from "./token-calls.ts";
import { TokenRefusal } from "./token-refusal.ts";

const CLASS = { ed25519: CK.CKO_PRIVATE_KEY, p256: CK.CKO_PRIVATE_KEY, aes256: CK.CKO_SECRET_KEY };
const TYPE = { ed25519: CK.CKK_EC_EDWARDS, p256: CK.CKK_EC, aes256: CK.CKK_AES };
/** Object identifiers in DER: id-Ed25519 (RFC 8410), prime256v1 (RFC 5480). */
const CURVE = { ed25519: Buffer.from("06032b6570", "hex"), p256: Buffer.from("06082a8648ce3d030107", "hex") };
const POINT_BYTES = { ed25519: 32, p256: 65 };

/** A key, and the session to use it in. */
export interface Handle {
  session: bigint;
  object: bigint;
}

/** Keys in a module's tokens, by URI. Logs in to each token once. */
export class TokenObjects {
  readonly #cryptoki: Cryptoki;
  readonly #pin: Uint8Array;
  readonly #sessions = new Map<bigint, bigint>();
  readonly #handles = new Map<string, Handle>();

  constructor(cryptoki: Cryptoki, { pin }: Pick<TokenLogin, "pin">) {
    this.#cryptoki = cryptoki;
    this.#pin = Buffer.from(pin);
  }

  /**
   * Null if the token has no such key. @throws TokenRefusal `key` for several, and for a key that
   * could be extracted from the token
   */
  find(text: string, kind: KeyKind): FoundKey {
    const handle = this.#findHandle(text, kind);
    if (handle === null) return null;
    const { session, object } = handle;
    const flag = (type: number): boolean => this.#cryptoki.attribute(session, object, type)[0] === 1;
    if (!flag(CK.CKA_SENSITIVE) || flag(CK.CKA_EXTRACTABLE))
      throw new TokenRefusal(
        "key",
        `${text} can be read out of the token: it must be sensitive and not extractable`,
      );
    if (kind === "aes256") return { publicKey: new Uint8Array() };
    return { publicKey: this.publicHalf(text, kind) };
  }

  /** @throws TokenRefusal `key` if there is none, or more than one */
  handle(text: string, kind: KeyKind): Handle {
    const handle = this.#handles.get(text) ?? this.#findHandle(text, kind);
    if (handle === null) throw new TokenRefusal("key", `${text}: the token has no such key`);
    this.#handles.set(text, handle);
    return handle;
  }

  publicHalf(text: string, kind: "ed25519" | "p256"): Uint8Array {
    const uri = parsePkcs11Uri(text);
    const session = this.#session(uri);
    const wanted: Attribute[] = [
      [CK.CKA_CLASS, CK.CKO_PUBLIC_KEY],
      [CK.CKA_KEY_TYPE, TYPE[kind]],
      ...names(uri),
    ];
    const [object, ...more] = this.#cryptoki.find(session, wanted);
    if (object === undefined || more.length > 0)
      throw new TokenRefusal(
        "key",
        `${text}: the token has ${more.length + (object === undefined ? 0 : 1)} such public keys instead of one`,
      );
    // A DER octet string; some tokens return only the point.
    const point = this.#cryptoki.attribute(session, object, CK.CKA_EC_POINT);
    if (point.length !== POINT_BYTES[kind] && point.length !== POINT_BYTES[kind] + 2)
      throw new TokenRefusal("key", `${text} is on another curve than ${kind}`);
    return new Uint8Array(point.subarray(point.length - POINT_BYTES[kind]));
  }

  generate(text: string, kind: KeyKind): void {
    const uri = parsePkcs11Uri(text);
    const session = this.#session(uri);
    if (kind === "aes256")
      return this.#cryptoki.generateKey(session, CK.CKM_AES_KEY_GEN, [
        ...kept(uri),
        [CK.CKA_VALUE_LEN, 32],
        [CK.CKA_ENCRYPT, true],
        [CK.CKA_DECRYPT, true],
      ]);
    const mechanism = kind === "ed25519" ? CK.CKM_EC_EDWARDS_KEY_PAIR_GEN : CK.CKM_EC_KEY_PAIR_GEN;
    const publicHalf: Attribute[] = [
      [CK.CKA_TOKEN, true],
      [CK.CKA_VERIFY, true],
      [CK.CKA_EC_PARAMS, CURVE[kind]],
      ...names(uri),
    ];
    this.#cryptoki.generatePair(session, mechanism, publicHalf, [...kept(uri), [CK.CKA_SIGN, true]]);
  }

  /**
   * The public half first: the key counts as present once its private half is there, and an attempt
   * that was cut off is completed by the next one.
   */
  import(text: string, kind: "ed25519" | "p256", { secret, publicKey }: PrivateMaterial): void {
    const uri = parsePkcs11Uri(text);
    const session = this.#session(uri);
    const of: Attribute[] = [
      [CK.CKA_KEY_TYPE, TYPE[kind]],
      [CK.CKA_EC_PARAMS, CURVE[kind]],
    ];
    const found = this.#cryptoki.find(session, [
      [CK.CKA_CLASS, CK.CKO_PUBLIC_KEY],
      [CK.CKA_KEY_TYPE, TYPE[kind]],
      ...names(uri),
    ]);
    if (found.length === 0)
      this.#cryptoki.create(session, [
        [CK.CKA_CLASS, CK.CKO_PUBLIC_KEY],
        [CK.CKA_TOKEN, true],
        [CK.CKA_VERIFY, true],
        [CK.CKA_EC_POINT, Buffer.concat([Buffer.of(4, publicKey.length), publicKey])],
        ...of,
        ...names(uri),
      ]);
    else if (!Buffer.from(this.publicHalf(text, kind)).equals(publicKey))
      throw new TokenRefusal("key", `${text} is already another key`);
    this.#cryptoki.create(session, [
      [CK.CKA_CLASS, CK.CKO_PRIVATE_KEY],
      [CK.CKA_SIGN, true],
      [CK.CKA_VALUE, secret],
      ...of,
      ...kept(uri),
    ]);
  }

  #findHandle(text: string, kind: KeyKind): Handle | null {
    const uri = parsePkcs11Uri(text);
    const session = this.#session(uri);
    const wanted: Attribute[] = [[CK.CKA_CLASS, CLASS[kind]], [CK.CKA_KEY_TYPE, TYPE[kind]], ...names(uri)];
    const [object, ...more] = this.#cryptoki.find(session, wanted);
    if (more.length > 0) throw new TokenRefusal("key", `${text}: the token has several such keys`);
    return object === undefined ? null : { session, object };
  }

  #session(uri: Pkcs11Uri): bigint {
    const { token, serial, manufacturer, model } = uri.token;
    const fitting = this.#cryptoki
      .tokens()
      .filter(
        (one) =>
          (token ?? one.label) === one.label &&
          (serial ?? one.serial) === one.serial &&
          (manufacturer ?? one.manufacturer) === one.manufacturer &&
          (model ?? one.model) === one.model,
      );
    const [only] = fitting;
    if (only === undefined || fitting.length > 1)
      throw new TokenRefusal(
        "token",
        `${uri.text}: the module has ${fitting.length} such tokens instead of one`,
      );
    const open = this.#sessions.get(only.slot);
    if (open !== undefined) return open;
    const session = this.#cryptoki.openSession(only.slot);
    this.#cryptoki.login(session, this.#pin);
    this.#sessions.set(only.slot, session);
    return session;
  }
}

function names({ object, id }: Pkcs11Uri): Attribute[] {
  return [
    ...(object === undefined ? [] : [[CK.CKA_LABEL, Buffer.from(object)] as const]),
    ...(id === undefined ? [] : [[CK.CKA_ID, id] as const]),
  ];
}

/** Attributes of a key that never leaves the token. */
function kept(uri: Pkcs11Uri): Attribute[] {
  return [
    [CK.CKA_TOKEN, true],
    [CK.CKA_PRIVATE, true],
    [CK.CKA_SENSITIVE, true],
    [CK.CKA_EXTRACTABLE, false],
    ...names(uri),
  ];
}
