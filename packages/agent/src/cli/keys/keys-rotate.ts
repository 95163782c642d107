import { join } from "node:path";
import { replaceFile } from "@attestore/host/durable-files";
import { isSeq } from "yaml";
import { identityToRecipient, generateX25519Identity } from "age-encryption";
import { recipientsOf } from "../../crypto/identity.ts";
import { normalRecipient } from "../../crypto/recipient.ts";
import { requireRecipient } from "./choose-recipients.ts";
import { readRecoveryState } from "../../recovery/recovery-state.ts";
import { requirePastRuns } from "../../key-rotation/require-past-runs.ts";
import {
  forgetOldKey,
  prepareSigningKey,
  takeIntoUse,
  undoRotation,
  type PreparedKey,
  type SwitchedKey,
} from "../../key-rotation/rotate-signing-key.ts";
import { keepRotation, signRotation } from "../../key-rotation/rotation.ts";
import { identityText, readIdentities } from "../../crypto/age-identity.ts";
import { planConfigEdit } from "../../config/edit-config.ts";
import { makeLayout, type Layout } from "../../state/layout.ts";
import { readSigningKey, signerSocket } from "../../signer/open-signing-keys.ts";
import { SIGNER_DIRECTORY } from "../../signer/command.ts";
import { signerReferenceFile } from "../../signer-client/signer-reference.ts";
import { makeHeldIdentity } from "../../signer-client/remote-identities.ts";
import { UserError } from "../../errors/user-error.ts";
import { openAttachment, type Attachment } from "../../service/attachment.ts";
import { isPermanentRefusal, ServiceError } from "../../transport/service-error.ts";
import { announceRotation } from "../../backends/attached/announce-rotation.ts";
import { confirm } from "../terminal/ask.ts";
import type { Call, ExitCode, Run } from "../invocation/command.ts";
import { configNow, openRoot, type OpenRoot } from "../invocation/open-root.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

export const keysRotate: Run = async (call, which) => {
  const opened = openRoot(call);
  requireAgent(opened.config.agent, opened.layout.config);
  if (which === "signing" && call.flags.typed("recipient") !== undefined)
    throw new UserError(
      "usage",
      "--recipient belongs to keys rotate encryption: a signing key is always made on this host",
    );
  await makeLayout(opened.layout);
  using _ = await takeWorkLock(opened.layout, "keys rotate", {
    signal: call.signal,
    wait: false,
    say: call.terminal.say,
  });
  const root = { ...opened, config: await configNow(opened) };
  if (which === "encryption") return await rotateEncryption(call, root);
  if (which === "signing") return await rotateSigning(call, root);
  throw new UserError("usage", `keys rotate takes encryption or signing, not "${which ?? ""}"`);
};

/**
 * Encrypts future backups to a new key. Existing ones stay readable with the old key, which is
 * kept.
 */
async function rotateEncryption(call: Call, { layout, config }: OpenRoot): Promise<ExitCode> {
  const { flags, terminal, signal } = call;
  const agent = requireAgent(config.agent, layout.config);
  const recovery = (await readRecoveryState(layout))?.recipient;
  const given = flags.text("recipient");
  const wanted = given === undefined ? null : normalRecipient(given);
  if (wanted !== null) requireRecipient(wanted);
  const identities = await readIdentities(config.identityFiles);
  const own = (await Promise.all(identities.map((each) => recipientsOf(each)))).flat();
  // With --recipient: everyone but the recovery kit. Without: the keys that this host itself holds.
  const leaving = config.recipients.filter((each) =>
    wanted === null ? own.includes(each) && each !== recovery : each !== recovery,
  );
  if (leaving.length === 0)
    throw new UserError(
      "usage",
      "this root holds no identity for the backups' recipients: make the new key on the host that has the old one, and give its public half with --recipient",
    );
  const yes = flags.isOn("yes");
  if (!(await confirm(`Replace ${leaving.join(", ")} for future backups?`, { yes, signal }))) return 1;

  const at = new Date().toISOString();
  let recipient = wanted;
  let identityFile: string | null = null;
  if (recipient === null) {
    identityFile = join("keys", `age-${at.slice(0, 19).replaceAll(/[-:]/g, "").toLowerCase()}.key`);
    const made = await makeIdentity(layout);
    recipient = made.recipient;
    await replaceFile(join(layout.root, identityFile), made.text);
  }
  const after = [
    recipient,
    ...config.recipients.filter((each) => !leaving.includes(each) && each !== recipient),
  ];
  const edit = await planConfigEdit(layout, (document) => {
    document.setIn(["encryption", "recipients"], document.createNode(after, { flow: true }));
    if (identityFile !== null) {
      const files = document.getIn(["encryption", "identity_files"]);
      const before = isSeq(files) ? (files.toJS(document) as unknown[]) : [];
      document.setIn(
        ["encryption", "identity_files"],
        document.createNode([identityFile, ...before], { flow: true }),
      );
    }
  });
  // The new key is on disk before anything is encrypted to it, and signed for before config.yaml
  // names it.
  const change = { key: "encryption", before: config.recipients, after } as const;
  const key = await readSigningKey(layout);
  const statement = await keepRotation(
    layout,
    await signRotation({ ...agent, at, change }, key, null),
    "encryption",
  );
  await edit.write();
  if (flags.isOn("json"))
    terminal.data(JSON.stringify({ recipients: after, identity_file: identityFile, statement }));
  else terminal.data(`${terminal.onData.good("✓")} backups are encrypted to ${after.join(", ")}`);
  if (identityFile !== null)
    terminal.say(
      `Copy ${(await signerSocket(layout)) === null ? join(layout.root, identityFile) : `the new file in ${SIGNER_DIRECTORY}, as root,`} to wherever you keep the old identity. Keep the old one too: existing backups need it.`,
    );
  return 0;
}

/**
 * The content of a new identity's file: the identity, or a line saying that the signing process
 * holds it.
 */
async function makeIdentity(layout: Layout): Promise<{ readonly recipient: string; readonly text: string }> {
  const signer = await signerSocket(layout);
  if (signer !== null) {
    const recipient = await makeHeldIdentity(signer);
    return { recipient, text: signerReferenceFile(signer, recipient) };
  }
  const identity = await generateX25519Identity();
  return { recipient: await identityToRecipient(identity), text: await identityText(identity) };
}

async function rotateSigning(call: Call, root: OpenRoot): Promise<ExitCode> {
  const { terminal, signal } = call;
  const { layout, config } = root;
  const agent = requireAgent(config.agent, layout.config);
  await requirePastRuns(layout);
  if (config.standalone !== null) {
    const prepared = await prepareSigningKey(layout);
    if (!(await confirmed(call, prepared))) return 1;
    const switched = await takeIntoUse(layout, prepared, agent);
    await forgetOldKey(layout, prepared.old.fingerprint);
    printRotated(call, layout, prepared, { ...switched, isAccepted: null });
    return 0;
  }
  const attachment = await openAttachment(layout, config);
  try {
    // Finish what an earlier call could not, because each key vouches for the next.
    if (await announceRotation(attachment, { signal, once: false }))
      terminal.say("The service now knows the key from an earlier rotation.");
    const prepared = await prepareSigningKey(layout);
    if (!(await confirmed(call, prepared))) return 1;
    // Without the service, the new key would sign what nobody accepts.
    await attachment.service.logHead({ signal });
    const switched = await takeIntoUse(layout, prepared, agent);
    printRotated(call, layout, prepared, {
      ...switched,
      isAccepted: await announce(attachment, prepared, switched, call),
    });
    return 0;
  } finally {
    attachment.service.close();
  }
}

async function confirmed({ flags, signal }: Call, { next }: PreparedKey): Promise<boolean> {
  return confirm(`Sign with ${next.fingerprint} from now on?`, { yes: flags.isOn("yes"), signal });
}

/**
 * False if the service did not answer; it is told again with the next submission. A refusal undoes
 * the rotation and is thrown.
 */
async function announce(
  attachment: Attachment,
  prepared: PreparedKey,
  switched: SwitchedKey,
  { terminal, signal }: Call,
): Promise<boolean> {
  try {
    return await announceRotation(attachment, { signal, once: false });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (isPermanentRefusal(error)) {
      await undoRotation(attachment.layout, prepared, switched);
      throw error;
    }
    terminal.say(
      `${terminal.onTalk.warn("!")} the service does not know the new key yet, so receipts are queued: ${error.message}`,
    );
    return false;
  }
}

function printRotated(
  { flags, terminal }: Call,
  layout: Layout,
  { old, next }: PreparedKey,
  { statement, retired, isAccepted }: SwitchedKey & { readonly isAccepted: boolean | null },
): void {
  if (flags.isOn("json"))
    terminal.data(
      JSON.stringify({
        in_use: next.fingerprint,
        before: old.fingerprint,
        retired,
        statement,
        accepted: isAccepted,
      }),
    );
  else
    terminal.data(
      `${terminal.onData.good("✓")} receipts are now signed with ${next.fingerprint}; earlier ones verify with ${retired}`,
    );
  terminal.note(`Give ${layout.publicKey} and ${statement} to everyone who verifies your receipts.`);
}

function requireAgent(
  agent: { readonly id: string; readonly orgId: string } | null,
  file: string,
): { readonly agentId: string; readonly orgId: string } {
  if (agent !== null) return { agentId: agent.id, orgId: agent.orgId };
  throw new UserError("not_attached", `${file} names no agent: run \`attestore init\` first`);
}
