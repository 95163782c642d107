import { concatBytes, utf8 } from "../bytes.ts";

/** The bytes that are signed: the pre-authentication encoding of DSSE protocol.md. */
export function pae(payloadType: string, payload: Uint8Array): Uint8Array {
  const typeLength = utf8(payloadType).length;
  return concatBytes(utf8(`DSSEv1 ${typeLength} ${payloadType} ${payload.length} `), payload);
}
