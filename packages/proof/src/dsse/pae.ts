import { concatBytes, utf8 } from "../bytes.ts";

/** DSSE protocol.md, pre-authentication encoding: the bytes that are signed. */
export function pae(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = utf8(payloadType);
  return concatBytes(utf8(`DSSEv1 ${type.length} `), type, utf8(` ${payload.length} `), payload);
}
