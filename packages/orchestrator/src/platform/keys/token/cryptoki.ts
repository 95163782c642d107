import koffi from "koffi";
import { TokenRefusal } from "./token-refusal.ts";

/** The constants of PKCS#11 2.40 and 3.0 that are used here (pkcs11t.h). */
export const CK = {
  CKF_RW_SERIAL: 6,
  CKU_USER: 1,
  CKO_PUBLIC_KEY: 2,
  CKO_PRIVATE_KEY: 3,
  CKO_SECRET_KEY: 4,
  CKK_EC: 3,
  CKK_AES: 0x1f,
  CKK_EC_EDWARDS: 0x40,
  CKA_CLASS: 0,
  CKA_TOKEN: 1,
  CKA_PRIVATE: 2,
  CKA_LABEL: 3,
  CKA_VALUE: 0x11,
  CKA_KEY_TYPE: 0x100,
  CKA_ID: 0x102,
  CKA_SENSITIVE: 0x103,
  CKA_ENCRYPT: 0x104,
  CKA_DECRYPT: 0x105,
  CKA_SIGN: 0x108,
  CKA_VERIFY: 0x10a,
  CKA_VALUE_LEN: 0x161,
  CKA_EXTRACTABLE: 0x162,
  CKA_EC_PARAMS: 0x180,
  CKA_EC_POINT: 0x181,
  CKM_EC_KEY_PAIR_GEN: 0x1040,
  CKM_ECDSA: 0x1041,
  CKM_EC_EDWARDS_KEY_PAIR_GEN: 0x1055,
  CKM_EDDSA: 0x1057,
  CKM_AES_KEY_GEN: 0x1080,
  CKM_AES_GCM: 0x1087,
} as const;

export type Attribute = readonly [type: number, value: boolean | number | Uint8Array];
export interface TokenInfo {
  slot: bigint;
  label: string;
  manufacturer: string;
  model: string;
  serial: string;
}
export interface Gcm {
  iv: Uint8Array;
  aad: Uint8Array;
}

koffi.struct("CK_ATTRIBUTE", { type: "unsigned long", value: "void *", length: "unsigned long" });
koffi.struct("CK_MECHANISM", { mechanism: "unsigned long", parameter: "void *", length: "unsigned long" });
const GCM_PARAMS = koffi.struct("CK_GCM_PARAMS", {
  iv: "void *",
  ivLength: "unsigned long",
  ivBits: "unsigned long",
  aad: "void *",
  aadLength: "unsigned long",
  tagBits: "unsigned long",
});

const N = "unsigned long";
/** Index in CK_FUNCTION_LIST, and the part of the prototype after the name. */
const FUNCTIONS = {
  C_Initialize: [0, "(void *args)"],
  C_GetSlotList: [4, `(uchar present, void *list, void *count)`],
  C_GetTokenInfo: [6, `(${N} slot, void *info)`],
  C_OpenSession: [12, `(${N} slot, ${N} flags, void *application, void *notify, void *session)`],
  C_Login: [18, `(${N} session, ${N} user, void *pin, ${N} length)`],
  C_CreateObject: [20, `(${N} session, CK_ATTRIBUTE *template, ${N} count, void *object)`],
  C_GetAttributeValue: [24, `(${N} session, ${N} object, _Inout_ CK_ATTRIBUTE *template, ${N} count)`],
  C_FindObjectsInit: [26, `(${N} session, CK_ATTRIBUTE *template, ${N} count)`],
  C_FindObjects: [27, `(${N} session, void *objects, ${N} most, void *count)`],
  C_FindObjectsFinal: [28, `(${N} session)`],
  C_EncryptInit: [29, `(${N} session, CK_MECHANISM *mechanism, ${N} key)`],
  C_Encrypt: [30, `(${N} session, void *data, ${N} length, void *out, void *outLength)`],
  C_DecryptInit: [33, `(${N} session, CK_MECHANISM *mechanism, ${N} key)`],
  C_Decrypt: [34, `(${N} session, void *data, ${N} length, void *out, void *outLength)`],
  C_SignInit: [42, `(${N} session, CK_MECHANISM *mechanism, ${N} key)`],
  C_Sign: [43, `(${N} session, void *data, ${N} length, void *out, void *outLength)`],
  C_GenerateKey: [
    58,
    `(${N} session, CK_MECHANISM *mechanism, CK_ATTRIBUTE *template, ${N} count, void *key)`,
  ],
  C_GenerateKeyPair: [
    59,
    `(${N} session, CK_MECHANISM *mechanism, CK_ATTRIBUTE *pub, ${N} pubCount, CK_ATTRIBUTE *priv, ${N} privCount, void *pubKey, void *privKey)`,
  ],
} as const;
type FunctionName = keyof typeof FUNCTIONS;
const FUNCTION_COUNT = 68;
/** After CK_VERSION and its padding. */
const FUNCTIONS_AT = 8;

/**
 * The functions of a PKCS#11 module, called one at a time. Each call blocks this process, which is
 * why it is a process of its own. They throw TokenRefusal with the module's return value.
 */
export class Cryptoki {
  readonly #functions = new Map<FunctionName, (...args: unknown[]) => number>();

  constructor(module: string) {
    const list: [bigint | null] = [null];
    try {
      const library = koffi.load(module);
      const got = library.func("unsigned long C_GetFunctionList(_Out_ void **list)") as (
        l: unknown,
      ) => number;
      if (got(list) !== 0 || list[0] === null) throw new Error("it returned no list of functions");
    } catch (error) {
      throw new TokenRefusal("module", `${module} is not a PKCS#11 module: ${String(error)}`);
    }
    const pointers = koffi.decode(list[0], FUNCTIONS_AT, koffi.array("void *", FUNCTION_COUNT)) as bigint[];
    for (const [name, [index, parameters]] of Object.entries(FUNCTIONS)) {
      const prototype = koffi.proto(`unsigned long ${name}${parameters}`);
      this.#functions.set(name as FunctionName, (...args) =>
        Number(koffi.call(pointers[index], prototype, ...args)),
      );
    }
    this.#call("C_Initialize", null);
  }

  tokens(): TokenInfo[] {
    const count = new BigUint64Array(1);
    this.#call("C_GetSlotList", 1, null, count);
    const slots = new BigUint64Array(Number(count[0]));
    this.#call("C_GetSlotList", 1, slots, count);
    return [...slots.subarray(0, Number(count[0]))].map((slot) => {
      const info = Buffer.alloc(512);
      this.#call("C_GetTokenInfo", slot, info);
      const text = (from: number, to: number): string => info.toString("utf8", from, to).trimEnd();
      return {
        slot,
        label: text(0, 32),
        manufacturer: text(32, 64),
        model: text(64, 80),
        serial: text(80, 96),
      };
    });
  }

  openSession(slot: bigint): bigint {
    const session = new BigUint64Array(1);
    this.#call("C_OpenSession", slot, CK.CKF_RW_SERIAL, null, null, session);
    return session[0] ?? 0n;
  }

  login(session: bigint, pin: Uint8Array): void {
    this.#call("C_Login", session, CK.CKU_USER, pin, pin.length);
  }

  find(session: bigint, template: readonly Attribute[]): bigint[] {
    this.#call("C_FindObjectsInit", session, attributes(template), template.length);
    const found = new BigUint64Array(8);
    const count = new BigUint64Array(1);
    try {
      this.#call("C_FindObjects", session, found, found.length, count);
    } finally {
      this.#call("C_FindObjectsFinal", session);
    }
    return [...found.subarray(0, Number(count[0]))];
  }

  attribute(session: bigint, object: bigint, type: number): Uint8Array {
    const value = Buffer.alloc(512);
    const template = [{ type, value, length: value.length }];
    this.#call("C_GetAttributeValue", session, object, template, 1);
    return value.subarray(0, Number(template[0]?.length));
  }

  create(session: bigint, template: readonly Attribute[]): void {
    this.#call("C_CreateObject", session, attributes(template), template.length, new BigUint64Array(1));
  }

  generateKey(session: bigint, mechanism: number, template: readonly Attribute[]): void {
    const key = new BigUint64Array(1);
    this.#call("C_GenerateKey", session, bare(mechanism), attributes(template), template.length, key);
  }

  generatePair(
    session: bigint,
    mechanism: number,
    publicHalf: readonly Attribute[],
    privateHalf: readonly Attribute[],
  ): void {
    this.#call(
      "C_GenerateKeyPair",
      session,
      bare(mechanism),
      attributes(publicHalf),
      publicHalf.length,
      attributes(privateHalf),
      privateHalf.length,
      new BigUint64Array(1),
      new BigUint64Array(1),
    );
  }

  sign(session: bigint, mechanism: number, key: bigint, data: Uint8Array): Uint8Array {
    this.#call("C_SignInit", session, bare(mechanism), key);
    return this.#output("C_Sign", session, data, 256);
  }

  encrypt(session: bigint, gcm: Gcm, key: bigint, data: Uint8Array): Uint8Array {
    this.#call("C_EncryptInit", session, gcmMechanism(gcm), key);
    return this.#output("C_Encrypt", session, data, data.length + 32);
  }

  decrypt(session: bigint, gcm: Gcm, key: bigint, data: Uint8Array): Uint8Array {
    this.#call("C_DecryptInit", session, gcmMechanism(gcm), key);
    return this.#output("C_Decrypt", session, data, data.length + 32);
  }

  #output(name: FunctionName, session: bigint, data: Uint8Array, most: number): Uint8Array {
    const out = Buffer.alloc(most);
    const length = BigUint64Array.of(BigInt(most));
    this.#call(name, session, data, data.length, out, length);
    return new Uint8Array(out.subarray(0, Number(length[0])));
  }

  #call(name: FunctionName, ...args: unknown[]): void {
    const value = this.#functions.get(name)?.(...args);
    if (value !== 0) throw TokenRefusal.of(name, value ?? -1);
  }
}

function attributes(template: readonly Attribute[]) {
  return template.map(([type, value]) => {
    const bytes =
      typeof value === "boolean"
        ? Buffer.of(value ? 1 : 0)
        : typeof value === "number"
          ? Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
          : value;
    return { type, value: bytes, length: bytes.length };
  });
}

const bare = (mechanism: number) => ({ mechanism, parameter: null, length: 0 });

function gcmMechanism({ iv, aad }: Gcm) {
  const parameter = koffi.as(
    { iv, ivLength: iv.length, ivBits: iv.length * 8, aad, aadLength: aad.length, tagBits: 128 },
    "CK_GCM_PARAMS *",
  );
  return { mechanism: CK.CKM_AES_GCM, parameter, length: koffi.sizeof(GCM_PARAMS) };
}
