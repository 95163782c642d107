import { concatBytes, utf8 } from "../bytes.ts";

/** DSSE protocol.md, pre-authentication encoding: the bytes that are signed. */
export function pae(payloadType: string, payload: Uint8Array): Uint8Array {
  const typeLength = utf8(payloadType).length;
  return concatBytes(utf8(`DSSEv1 ${typeLength} ${payloadType} ${payload.length} `), payload);
}
