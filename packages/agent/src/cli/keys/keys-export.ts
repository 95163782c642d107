import { replaceFile } from "@attestore/host/durable-files";
import { formatPublicKeyPem, formatSshLine } from "@attestore/proof";
import { readIdentities } from "../../crypto/age-identity.ts";
import { readText } from "../../state/read-json.ts";
import { readSigningKey } from "../../signer/open-signing-keys.ts";
import { SIGNER_DIRECTORY } from "../../signer/command.ts";
import { socketOf } from "../../signer-client/signer-reference.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Call, ExitCode, Run } from "../invocation/command.ts";
import { openRoot, type OpenRoot } from "../invocation/open-root.ts";
import { keepOutput, outputFile, type OutputFile } from "../invocation/output-file.ts";

export const keysExport: Run = async (call) => {
  const root = openRoot(call);
  return call.flags.isOn("secret") ? exportIdentities(call, root) : exportPublic(call, root);
};

/**
 * The public keys that others need to verify this agent's receipts, and to make backups that it can
 * read.
 */
async function exportPublic(call: Call, { layout, config }: OpenRoot): Promise<ExitCode> {
  const { terminal, flags } = call;
  const output = outputOf(call);
  const { publicKey, fingerprint, wire } = await readSigningKey(layout);
  const logKey = (await readText(layout.logKey))?.trim() ?? null;
  if (flags.isOn("json") && output === null) {
    terminal.data(
      JSON.stringify({
        agent_id: config.agent?.id ?? null,
        org_id: config.agent?.orgId ?? null,
        public_key: wire,
        key_fingerprint: fingerprint,
        recipients: config.recipients,
        log_verifier_key: logKey,
      }),
    );
    return 0;
  }
  const lines = [
    `# signs receipts of ${config.agent?.id ?? "this root"} (${fingerprint})`,
    formatPublicKeyPem(publicKey).trim(),
    formatSshLine(publicKey),
    "# backups are encrypted to",
    ...config.recipients,
    ...(logKey === null ? [] : ["# the log's verifier key", logKey]),
  ];
  if (output === null) terminal.block(lines.join("\n"));
  else {
    await replaceFile(output.path, `${lines.join("\n")}\n`);
    await keepOutput(call);
    if (flags.isOn("json")) terminal.data(JSON.stringify({ output: output.name }));
    else terminal.data(`${terminal.onData.good("✓")} ${output.name}`);
  }
  return 0;
}

/** Null if no file was requested. @throws UserError usage */
function outputOf(call: Call): OutputFile | null {
  const text = call.flags.text("output");
  return text === undefined ? null : outputFile(call, text);
}

/** Private keys go into a file that nobody else can read, never to a terminal or a log. */
async function exportIdentities(call: Call, { layout, config }: OpenRoot): Promise<ExitCode> {
  const { terminal, flags } = call;
  const output = outputOf(call);
  if (output === null)
    throw new UserError("usage", "private keys are only written to a file: give --output FILE");
  const identities = await readIdentities(config.identityFiles);
  if (identities.length === 0)
    throw new UserError("key_file", `${layout.config} names no identity_files: this host only encrypts`);
  if (identities.some((each) => socketOf(each) !== null))
    throw new UserError(
      "key_file",
      `the signing process holds the identity and never hands it out: copy ${SIGNER_DIRECTORY}/age*.key as root`,
    );
  const ssh = identities.filter((each) => each.includes("PRIVATE KEY"));
  if (ssh.length > 0)
    throw new UserError(
      "key_file",
      "an SSH private key is a separate file: copy the file that identity_files names",
    );
  await replaceFile(
    output.path,
    `# age identities of ${config.agent?.id ?? layout.root}\n${identities.join("\n")}\n`,
  );
  await keepOutput(call);
  if (flags.isOn("json"))
    terminal.data(JSON.stringify({ output: output.name, identities: identities.length }));
  else terminal.data(`${terminal.onData.good("✓")} ${output.name}  ${identities.length} identities`);
  return 0;
}
