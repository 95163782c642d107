import { generateKeyPairSync, type KeyObject } from "node:crypto";

/** An Ed25519 key pair, the public half as it goes over the wire. */
export function newKeyPair(): { privateKey: KeyObject; publicKeyWire: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return { privateKey, publicKeyWire: raw.toString("base64") };
}

/** What an agent with this key, or with a new one, sends to be attached. */
export function attachBody(publicKeyWire = newKeyPair().publicKeyWire): Record<string, string> {
  return {
    name: "host-1",
    public_key: publicKeyWire,
    hostname: "host-1.example.org",
    platform: "linux-x64",
    agent_version: "0.1.0",
  };
}
