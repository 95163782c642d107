/** A key as a PKCS#11 URI (RFC 7512) names it: the token, and the object in it. */
export interface Pkcs11Uri {
  /** As it was written, for messages. */
  text: string;
  /** The token must match all that are given. */
  token: { token?: string; serial?: string; manufacturer?: string; model?: string };
  /** The object's label and id; the key must match those that are given. */
  object?: string;
  id?: Buffer;
}

const OF_TOKEN = ["token", "serial", "manufacturer", "model"] as const;

/**
 * Reads `pkcs11:token=attestore;object=log`. Refuses a PIN or a module in the URI: these have
 * settings of their own.
 * @throws TypeError whose message ends the sentence "It has to be …"
 */
export function parsePkcs11Uri(text: string): Pkcs11Uri {
  const attributes = /^pkcs11:([^?#]+)$/.exec(text)?.[1]?.split(";");
  if (attributes === undefined) throw new TypeError(FORM);
  const uri: Pkcs11Uri = { text, token: {} };
  const seen = new Set<string>();
  for (const attribute of attributes) {
    const [, name, encoded] = /^([a-z-]+)=(.+)$/.exec(attribute) ?? [];
    if (name === undefined || encoded === undefined || seen.has(name)) throw new TypeError(FORM);
    seen.add(name);
    const value = bytesOf(encoded);
    const ofToken = OF_TOKEN.find((known) => known === name);
    if (ofToken !== undefined) uri.token[ofToken] = value.toString("utf8");
    else if (name === "object") uri.object = value.toString("utf8");
    else if (name === "id") uri.id = value;
    // Tools print it; the setting decides which kind of key it must be.
    else if (name !== "type") throw new TypeError(FORM);
  }
  if (Object.keys(uri.token).length === 0 || uri.object === undefined) throw new TypeError(FORM);
  return uri;
}

const FORM =
  "a PKCS#11 URI that names a token (token=, serial=, manufacturer=, model=) and an object (object=, id=), such as pkcs11:token=attestore;object=log, and nothing else";

function bytesOf(encoded: string): Buffer {
  if (!/^(?:[A-Za-z0-9\-._~:[\]@!$'()*+,=&]|%[0-9A-Fa-f]{2})+$/.test(encoded)) throw new TypeError(FORM);
  return Buffer.from(
    encoded.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}
