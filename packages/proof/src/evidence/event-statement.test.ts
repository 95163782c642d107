import { expect, test } from "vitest";
import { ids } from "../../test/receipt-fixture.ts";
import { ed25519Key } from "../../test/signing-keys.ts";
import { toBase64 } from "../base64.ts";
import { utf8 } from "../bytes.ts";
import { envelopeToJson, type EnvelopeJson } from "../dsse/envelope.ts";
import { signEnvelope } from "../dsse/sign.ts";
import { toHex } from "../hex.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import type { Leaf } from "../log/leaf.ts";
import { PAYLOAD_TYPE } from "../receipts/statement.ts";
import { sha256 } from "#sha256";
import {
  formatEventStatement,
  parseEventStatement,
  requireEventLeaf,
  type EventPredicate,
  type LoggedEvent,
} from "./event-statement.ts";

const agent = await ed25519Key(1);
const event: LoggedEvent = {
  kind: "backup_failed",
  source_id: ids.source,
  occurred_at: "2026-11-20T02:00:00.000Z",
  detail: { reason: "no space left", nested: { b: 1, a: [null, "ü"] } },
};
const predicate: EventPredicate = {
  ...event,
  org_id: ids.org,
  agent_id: ids.agent,
  agent_version: "0.1.0",
  previous_receipt_sha256: "ab".repeat(32),
};

async function signed(
  said: EventPredicate,
): Promise<{ leaf: Leaf; envelope: EnvelopeJson; payload: Uint8Array }> {
  const payload = formatEventStatement(said);
  const { publicKey, sign } = agent;
  const envelope = await signEnvelope({
    payloadType: PAYLOAD_TYPE,
    payload,
    keyid: sshFingerprint(publicKey),
    sign,
  });
  const leaf: Leaf = {
    v: 1,
    kind: said.kind,
    org_id: said.org_id,
    id: "evt_01jd3gqq8zb14p1s0a5r2h0y8f",
    actor_id: said.agent_id,
    recorded_at: "2026-11-20T02:00:01.000Z",
    body_sha256: toHex(sha256(payload)),
    signature: toBase64(envelope.signature),
  };
  return { leaf, envelope: envelopeToJson(envelope), payload };
}

const good = await signed(predicate);

test("a signed event matches the leaf that covers it", () => {
  expect(requireEventLeaf(good.leaf, event, good.envelope)).toEqual(predicate);
});

test.each<[string, () => Promise<[Leaf, LoggedEvent, EnvelopeJson | undefined]>]>([
  ["another detail", () => Promise.resolve([good.leaf, { ...event, detail: {} }, good.envelope])],
  ["a backup more", () => Promise.resolve([good.leaf, { ...event, backup_id: ids.backup }, good.envelope])],
  ["no envelope", () => Promise.resolve([good.leaf, event, undefined])],
  ["another leaf's kind", () => Promise.resolve([{ ...good.leaf, kind: "x" }, event, good.envelope])],
  ["another actor", () => Promise.resolve([{ ...good.leaf, actor_id: "service" }, event, good.envelope])],
  [
    "another organisation",
    () => Promise.resolve([{ ...good.leaf, org_id: ids.otherOrg }, event, good.envelope]),
  ],
  [
    "no signature in the leaf",
    () => {
      const { signature: _signature, ...leaf } = good.leaf;
      return Promise.resolve([leaf, event, good.envelope]);
    },
  ],
  [
    "an envelope of another place in the chain",
    async () => {
      const { envelope } = await signed({ ...predicate, previous_receipt_sha256: null });
      return [good.leaf, event, envelope];
    },
  ],
])("with %s it is not", async (_what, make) => {
  const given = await make();
  expect(() => requireEventLeaf(...given)).toThrow(expect.objectContaining({ code: "malformed_event" }));
});

test.each<[string, (text: string) => string]>([
  ["a subject of another event", (text) => text.replace("no space left", "enough space")],
  ["a field more", (text) => text.replace('"agent_version"', '"more":1,"agent_version"')],
  ["another predicate's type", (text) => text.replace("event/v1", "event/v2")],
  ["no kind", (text) => text.replace('"kind":"backup_failed",', "")],
])("a statement with %s is refused", (_what, change) => {
  const text = new TextDecoder().decode(good.payload);
  expect(change(text)).not.toBe(text);
  expect(() => parseEventStatement({ payloadType: PAYLOAD_TYPE, payload: utf8(change(text)) })).toThrow(
    expect.objectContaining({ code: "malformed_event" }),
  );
});

test("a payload of another type is refused", () => {
  expect(() => parseEventStatement({ payloadType: "text/plain", payload: good.payload })).toThrow(
    expect.objectContaining({ code: "malformed_event" }),
  );
});
