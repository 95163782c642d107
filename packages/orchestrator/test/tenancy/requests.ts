/**
 * What the schemas' own examples cannot say: bodies that have to be signed or new, or that a
 * schema's example is no sensible one of.
 */
import { parsePublicKeyWire, sshFingerprint } from "@attestore/proof";
import { randomUUID } from "node:crypto";
import type { Route } from "../../src/platform/http/route/route.ts";
import { restoreTestStatement, signedEnvelope } from "../log/signed-receipt.ts";
import { signedRotation } from "../log/signed-rotation.ts";
import type { Call } from "../client.ts";
import { newKeyPair } from "../service.ts";
import { fill, nameOf, type Filled, type Pick } from "./fill.ts";
import type { World } from "./world.ts";

type Body = Record<string, unknown>;
/** Changes the example of a body. `about` is whose things it names, `by` who sends it. */
type Adjust = (body: Body, about: World, by: World) => Body;

const anAddress = (): string => `${randomUUID()}@example.org`;

function without(body: Body, ...names: string[]): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

const ADJUST: Readonly<Record<string, Adjust>> = {
  "POST /api/auth/signup": (body) => ({ ...body, email: anAddress() }),
  "POST /api/auth/login": (body) => ({ ...body, email: anAddress() }),
  "POST /api/orgs": (body) => ({ ...body, name: `Org ${randomUUID()}`, owner_email: anAddress() }),
  "PATCH /api/orgs/:orgID": () => ({ name: "Renamed" }),
  "POST /api/orgs/:orgID/users": (body) => ({ ...body, email: anAddress(), role: "auditor" }),
  // Owners are made by owners only.
  "PATCH /api/orgs/:orgID/users/:userID": (body) => ({ ...body, role: "auditor" }),
  "POST /api/orgs/:orgID/sources/:sourceID/trigger": (body) => ({ ...body, kind: "restore_test" }),
  "POST /api/orgs/:orgID/notifications/channels": (body, about) => ({
    ...body,
    email: about.users.owner.email,
  }),
  "PATCH /api/orgs/:orgID/notifications/channels/:channelID": (body) => without(body, "weekly_evidence"),
  "POST /v1/heartbeat": (body) => without(body, "log_head", "cosignature"),
  // As whoever signs nothing sends it: the example's envelope is another agent's.
  "POST /v1/events": (body) => without(body, "envelope"),
  "POST /v1/backups/upload-url": (body, about) => ({ ...body, ...about.upload }),
  "POST /v1/backups": (body, about) => ({ ...without(body, "parts"), ...about.upload }),
  "POST /api/orgs/:orgID/sources": (body) => ({ ...body, slug: `s-${randomUUID().slice(0, 8)}` }),
  "POST /api/bootstrap/attach": (body) => ({ ...body, public_key: newKeyPair().publicKeyWire }),
};

/** In place of the query that the schema's examples give: every log has had a head of one leaf. */
const QUERIES: Readonly<Record<string, string>> = {
  "GET /api/orgs/:orgID/log/proof": "leaf=0&tree_size=1",
  "GET /v1/log/proof": "leaf=0&tree_size=1",
};

const RAW: Readonly<Record<string, (about: World, by: World) => Call["body"]>> = {
  // Receipts of what ended before go on under the old key.
  "POST /v1/agent/key": (about, by) =>
    Buffer.from(
      JSON.stringify(signedRotation({ id: by.agent.id, orgId: about.org.id }, by.agent, newKeyPair())),
    ),
  "POST /v1/receipts": (about, by) => {
    const publicKey = parsePublicKeyWire(by.agent.publicKeyWire);
    const signer = {
      id: by.agent.id,
      orgId: about.org.id,
      publicKey: publicKey.bytes,
      keyFingerprint: sshFingerprint(publicKey),
      token: by.agent.token,
      privateKey: by.agent.privateKey,
    };
    return signedEnvelope(signer, restoreTestStatement(signer, { ...about.backup, sizeBytes: 64 }));
  },
};

/** The request of a route that `by` sends about what `about` has. */
export function requestAbout(
  route: Route,
  { about, by, pick }: { about: World; by: World; pick: Pick },
): Filled {
  const filled = withAnswer(route, fill(route, pick));
  const raw = RAW[nameOf(route)]?.(about, by);
  if (raw !== undefined) {
    const { json: _, ...call } = filled.call;
    return { ...filled, call: { ...call, body: raw, headers: { "content-type": "application/json" } } };
  }
  const query = QUERIES[nameOf(route)];
  if (query !== undefined)
    return { ...filled, call: { ...filled.call, path: `${filled.call.path.split("?")[0]}?${query}` } };
  const adjust = ADJUST[nameOf(route)];
  if (adjust === undefined) return filled;
  const json = adjust((filled.call.json ?? {}) as Body, about, by);
  return { ...filled, call: { ...filled.call, json } };
}

function withAnswer(route: Route, { call, ...rest }: Filled): Filled {
  const isEndless = route.answers[200] === "text/event-stream";
  return { ...rest, call: { ...call, isEndless } };
}
