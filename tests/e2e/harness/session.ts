import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { api, ownAddress } from "./https.ts";
import type { Server } from "./server.ts";
import { until } from "./wait.ts";

/**
 * Somebody who signed up, with an organisation of their own. Whichever replica has sent the mail
 * keeps a copy of it.
 */
export async function signUp(
  replicas: readonly [Server, ...Server[]],
): Promise<{ token: string; orgId: string }> {
  const [server] = replicas;
  const email = "owner@example.org";
  const from = ownAddress();
  const json = { email, org_name: "Two replicas" };
  const asked = await api(server, { method: "POST", path: "/api/auth/signup", json, from });
  if (asked.status !== 202) throw new Error(`signup: ${asked.status} ${asked.body.toString()}`);
  const code = await until("the code is mailed", () =>
    replicas.map(({ data }) => codeIn(join(data, "mail"))).find((found) => found !== null),
  );
  const path = "/api/auth/signup/verify";
  const verified = await api(server, { method: "POST", path, json: { email, code }, from });
  if (verified.status !== 200) throw new Error(`verify: ${verified.status} ${verified.body.toString()}`);
  const { session_token: token, org } = verified.json<{ session_token: string; org: { id: string } }>();
  return { token, orgId: org.id };
}

function codeIn(directory: string): string | null {
  try {
    const mails = readdirSync(directory).filter((name) => name.endsWith(".eml"));
    const texts = mails.map((name) => readFileSync(join(directory, name), "utf8"));
    return (
      texts.map((text) => /^ {4}([A-Z0-9]{4}-[A-Z0-9]{4})/m.exec(text)?.[1]).find((code) => code) ?? null
    );
  } catch {
    return null; // No mail yet.
  }
}
