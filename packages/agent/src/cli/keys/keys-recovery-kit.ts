import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { removeFile, replaceFile } from "@attestore/host/durable-files";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { readRecoveryState, writeRecoveryState } from "../../recovery/recovery-state.ts";
import { readSigningKey } from "../../signer/open-signing-keys.ts";
import { kitHtml, kitText, type KitSecret } from "../../recovery/recovery-kit.ts";
import { ShareError, splitSecret } from "../../crypto/shamir.ts";
import { planConfigEdit } from "../../config/edit-config.ts";
import { type Layout, makeLayout } from "../../state/layout.ts";
import { readText } from "../../state/read-json.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Call, ExitCode, Run } from "../invocation/command.ts";
import { configNow, openRoot, type OpenRoot } from "../invocation/open-root.ts";
import { keepOutput, outputFile, type OutputFile, STDOUT } from "../invocation/output-file.ts";
import { testRecoveryKit } from "./test-recovery-kit.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

export const keysRecoveryKit: Run = async (call) => {
  const root = openRoot(call);
  return call.flags.isOn("test") ? testRecoveryKit(call, root) : makeKit(call, root);
};

function requireRecipients({ layout, config }: Pick<OpenRoot, "layout" | "config">): void {
  if (config.recipients.length > 0) return;
  throw new UserError(
    "config_invalid",
    `${layout.config} has no encryption.recipients yet: run \`attestore init\``,
  );
}

/**
 * Makes a separate key for the day when this host is lost. Its private half goes only to paper. Its
 * public half goes into config.yaml, so every backup from now on is encrypted to it.
 */
async function makeKit(call: Call, root: OpenRoot): Promise<ExitCode> {
  const { terminal, flags, signal } = call;
  const { layout } = root;
  requireRecipients(root);
  await makeLayout(layout);
  using _ = await takeWorkLock(layout, "keys recovery-kit", { signal, wait: false, say: terminal.say });
  const config = await configNow(root);
  requireRecipients({ layout, config });
  const before = await readRecoveryState(layout);
  const isInUse = before !== null && config.recipients.includes(before.recipient);
  if (isInUse && !flags.isOn("yes"))
    throw new UserError(
      "usage",
      `there is already a recovery kit, made ${before.made_at}. A new one replaces it for future backups; ` +
        "keep the old one for existing backups. To go ahead, give --yes.",
    );
  const output = outputOf(call);
  const split = splitOf(call);
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const edit = await planConfigEdit(layout, (document) => {
    const others = config.recipients.filter((each) => each !== before?.recipient);
    document.setIn(["encryption", "recipients"], document.createNode([...others, recipient], { flow: true }));
  });
  const made = new Date().toISOString();
  const { fingerprint } = await readSigningKey(layout);
  const facts = { made, host: hostname(), recipient, fingerprint, config };
  const pages = secretsOf(identity, split).map((secret) => kitText(facts, secret));
  // Write the pages first. A crash after that leaves a kit that opens nothing. In the other order
  // it would leave a key that nobody has.
  const files = await writePages(call, output, pages);
  if (output !== null) await keepOutput(call);
  try {
    await edit.write();
  } catch (error) {
    if (await isUnused(layout, recipient)) await discard(call, files);
    throw error;
  }
  await writeRecoveryState(layout, { v: 1, recipient, made_at: made, shares: split, tested_at: null });
  if (flags.isOn("json"))
    terminal.data(JSON.stringify({ recipient, files: files.map(({ name }) => name), shares: split }));
  else if (output !== null)
    for (const { name } of files) terminal.data(`${terminal.onData.good("✓")} ${name}`);
  terminal.say(
    `Print it, ${output === null ? "and store it safely" : "store it safely, and remove the file"}. ` +
      "Future backups are encrypted to it too; existing ones are not.\nThen test it: attestore keys recovery-kit --test",
  );
  return 0;
}

/** Null means stdout, for a printer. */
function outputOf({ flags }: Call): string | null {
  const text = flags.text("output");
  if (text === undefined || text === STDOUT) {
    if (text === undefined && process.stdout.isTTY)
      throw new UserError(
        "usage",
        "--output is missing: give --output kit.html or kit.txt, or pipe it to a printer: … | lp",
      );
    if (flags.isOn("json")) throw new UserError("usage", "with --json give --output FILE");
    return null;
  }
  return text;
}

function splitOf({ flags }: Call): { readonly count: number; readonly threshold: number } | null {
  const count = flags.count("shares", { least: 2, most: 255 });
  const threshold = flags.count("threshold", { least: 2, most: 255 });
  if (count === undefined && threshold === undefined) return null;
  if (count === undefined || threshold === undefined)
    throw new UserError("usage", "--shares and --threshold go together: --shares 5 --threshold 3");
  if (threshold > count)
    throw new UserError("usage", `--threshold ${threshold} is not possible with --shares ${count}`);
  return { count, threshold };
}

function secretsOf(
  identity: string,
  split: { readonly count: number; readonly threshold: number } | null,
): KitSecret[] {
  if (split === null) return [{ kind: "key", identity }];
  try {
    return splitSecret(Buffer.from(`${identity}\n`), split).map((share) => ({
      kind: "share",
      share,
      ...split,
    }));
  } catch (error) {
    if (error instanceof ShareError) throw new UserError("usage", error.message, { cause: error });
    throw error;
  }
}

/**
 * Writes one share per file, so that no file contains the key. Returns none for stdout.
 */
async function writePages(
  call: Call,
  output: string | null,
  pages: readonly string[],
): Promise<OutputFile[]> {
  if (output === null) {
    for (const page of pages) call.terminal.block(page);
    return [];
  }
  const isHtml = /\.html?$/i.test(output);
  const files = pages.map((page, at) => ({
    content: isHtml ? kitHtml([page]) : page,
    ...outputFile(call, pages.length === 1 ? output : output.replace(/(\.[^./]+)?$/, `-${at + 1}$1`)),
  }));
  try {
    for (const { path, content } of files) await replaceFile(path, content);
  } catch (error) {
    // Nothing is encrypted to them yet, and the next call refuses files that exist.
    for (const { path } of files) await rm(path, { force: true });
    throw error;
  }
  return files;
}

/** Whether no backup will be encrypted to it. */
async function isUnused(layout: Layout, recipient: string): Promise<boolean> {
  const config = await readText(layout.config).catch(() => null);
  return config !== null && !config.includes(recipient);
}

/** A kit that opens nothing must not be kept for the real one, and the next call makes another. */
async function discard({ terminal }: Call, files: readonly OutputFile[]): Promise<void> {
  const left = files.length === 0 ? ["the kit that was printed"] : [];
  for (const { name, path } of files)
    // Root may have to put it into its place, and then only root can remove it.
    if (name !== path || !(await isRemoved(path))) left.push(name);
  for (const what of left)
    terminal.say(`${terminal.onTalk.warn("!")} ${what} opens no backup, not even future ones: destroy it`);
}

async function isRemoved(path: string): Promise<boolean> {
  return await removeFile(path).then(
    () => true,
    () => false,
  );
}
