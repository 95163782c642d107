import { parseVerifierKey } from "@attestore/proof";
import { api } from "../../api/client.ts";
import { browserStorage } from "../../verification/browser-storage.ts";
import { readHeldHead } from "../../verifier/held-head.ts";
import type { Keys } from "../../verifier/verify-in-browser.ts";

/** The log's key: the one this browser stored before, else the one the service gives now. */
export async function knownLogKey(orgID: string): Promise<NonNullable<Keys["log"]>> {
  const remembered = readHeldHead(browserStorage(), orgID)?.verifier_key;
  if (remembered !== undefined) return { key: parseVerifierKey(remembered), origin: "remembered" };
  const { verifier_key } = (await api.call("get", "/api/orgs/{orgID}/log", { path: { orgID } })).body;
  return { key: parseVerifierKey(verifier_key), origin: "served" };
}
