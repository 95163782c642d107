import { plural } from "@attestore/proof";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeFile, replaceFile } from "@attestore/host/durable-files";
import { isMap, type Document } from "yaml";
import { planConfigEdit, type ConfigEdit } from "../../config/edit-config.ts";
import { readConfig } from "../../config/config.ts";
import { parseSourceConfig, SourceConfigError, type SourceConfig } from "../../config/source-config.ts";
import { UserError } from "../../errors/user-error.ts";
import { openAttachment } from "../../service/attachment.ts";
import { resolveSourceId } from "../../backends/attached/resolve-source.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { canAsk, confirm } from "../terminal/ask.ts";
import { formatDiff } from "../terminal/line-diff.ts";
import type { Call, Run } from "../invocation/command.ts";
import { failureOf } from "../invocation/exit-code.ts";
import { openRoot, type OpenRoot } from "../invocation/open-root.ts";
import { chooseSource, type ChosenSource, describeSource, type DescribedSource } from "./describe-source.ts";
import { TypedAnswers } from "./typed-answers.ts";
import { canaryOffer } from "./canary-offer.ts";
import {
  CHECK_TEMPLATES,
  type CheckTemplate,
  type NotProposed,
  prefixAmong,
  type ProposedCheck,
  templateChecks,
} from "../../checks/index.ts";
import type { SourceMetadata } from "../../engines/engine.ts";
import { tablesOfMetadata } from "../../engines/tables-of-metadata.ts";
import { chosenTemplate, givenPrefix } from "./chosen-template.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

/** Adds a source after trying it, completely or not at all. */
export const sourceAdd: Run = async (call, given) => {
  const { terminal, flags, signal } = call;
  const root = openRoot(call);
  const { layout, config } = root;
  const chosen = await chooseSource(call, given, [...config.sources.keys()]);
  givenPrefix(call, chosenTemplate(call, chosen.engine));
  const { described, source, checks, notProposed, tried } = await describeAndTry(call, root, chosen);
  const { name, secret } = described;
  const entry = { ...described.entry, ...(checks.length === 0 ? {} : { checks }) };
  const edit = await planConfigEdit(layout, (document) => addSource(document, name, entry));

  if (!flags.isOn("json") || canAsk()) {
    for (const line of formatDiff(edit.before, edit.after, terminal.onTalk)) terminal.say(line);
    if (secret !== null)
      terminal.note(`The URL will be stored in ${join(layout.root, secret.file)}, mode 0600.`);
  }
  if (!(await confirm(`Add ${name}?`, { yes: flags.isOn("yes"), signal }))) return 1;
  await make(call, root, edit, secret);
  const registered = await register(call, root, name);

  const canary = flags.isOn("checks", true) ? canaryOffer(source, layout.root) : null;
  if (flags.isOn("json")) {
    const told = { tried, checks, not_proposed: notProposed, canary, registered };
    terminal.data(JSON.stringify({ added: name, engine: source.engine, ...told }));
    return 0;
  }
  const { good } = terminal.onData;
  terminal.data(
    `${good("✓")} ${name} is in ${layout.config}${registered ? ", and the service knows it" : ""}`,
  );
  if (canary !== null) {
    terminal.note(
      "To prove that a backup is of this source, put a secret into it that only you know (docs/checks.md#canaries). Nothing does that for you:",
    );
    for (const step of [canary.make, ...canary.sql, `check: ${JSON.stringify(canary.check)}`])
      terminal.note(`  ${step}`);
  }
  terminal.note(`Next: attestore backup --source ${name} && attestore restore-test --source ${name}`);
  return 0;
};

interface Described extends Tried {
  readonly described: DescribedSource;
  readonly source: SourceConfig;
}

/** If a typed value turns out to be wrong, the user is asked again. */
async function describeAndTry(call: Call, root: OpenRoot, chosen: ChosenSource): Promise<Described> {
  const { signal, terminal } = call;
  const answers = new TypedAnswers(call);
  for (;;) {
    try {
      const described = await describeSource(call, chosen, answers);
      const source = parsed(described, root.layout.root);
      return { described, source, ...(await tryOut(call, root, source, described)) };
    } catch (error) {
      const { exitCode, isDefect, message } = failureOf(error, signal);
      if (!answers.isAny || isDefect || exitCode === 130) throw error;
      terminal.say(terminal.onTalk.bad(message));
      terminal.say("Type it again. Enter keeps what you typed, Ctrl-C cancels.");
    }
  }
}

/**
 * Parses it as the agent will.
 * @throws UserError
 */
function parsed({ name, entry }: DescribedSource, root: string): SourceConfig {
  try {
    return parseSourceConfig(name, entry, root);
  } catch (error) {
    if (!(error instanceof SourceConfigError)) throw error;
    throw new UserError("usage", error.message.replaceAll(`sources.${name}.`, ""), { cause: error });
  }
}

interface Tried {
  readonly checks: readonly ProposedCheck[];
  readonly notProposed: readonly NotProposed[];
  readonly tried: boolean;
}

async function tryOut(
  call: Call,
  { layout }: OpenRoot,
  source: SourceConfig,
  { secret }: DescribedSource,
): Promise<Tried> {
  const { terminal, flags, signal } = call;
  const template = chosenTemplate(call, source.engine);
  if (!flags.isOn("probe", true)) {
    const checks =
      template === null ? [] : templateChecks(template, givenPrefix(call, template) ?? template.prefix);
    return { checks, notProposed: [], tried: false };
  }
  terminal.note(`Trying ${source.slug} (${source.engine}): starting a backup and stopping it.`);
  const { probeSource } = await import("./probe-source.ts");
  // The URL is not on a disk yet.
  const reachable =
    secret !== null && "connection" in source
      ? { ...source, connection: { kind: "url" as const, url: secret.text } }
      : source;
  const { metadata, untried } = await probeSource(reachable, { scratchDir: layout.scratch, signal });
  const { good, warn, faint } = terminal.onTalk;
  const tables = metadata?.["table_count"];
  const found = [
    metadata === null ? null : `${metadata.engine} ${metadata.engine_version}`,
    typeof tables === "number" ? plural(tables, "table") : null,
  ].filter((each) => each !== null);
  terminal.note(`${good("✓")} readable${found.length === 0 ? "" : `: ${found.join(", ")}`}`);
  if (tables === 0)
    terminal.say(
      `${warn("!")} there is no table yet, and no restore test passes without data: check the database's name`,
    );
  if (untried !== null) terminal.say(`${warn("!")} not tried: ${untried}; the first backup will tell`);
  const { proposeChecks } = await import("./propose-checks.ts");
  const { checks: proposed, notProposed } = flags.isOn("checks", true)
    ? await proposeChecks(reachable, metadata, { scratchDir: layout.scratch, signal })
    : { checks: [], notProposed: [] };
  const checks = [...fromTemplate(call, source.engine, template, metadata), ...proposed];
  for (const { query, expect } of checks) terminal.note(`  proposed check: ${query}  ${faint(expect)}`);
  for (const { id, why } of notProposed) terminal.note(faint(`  not proposed: ${id}: ${why}`));
  terminal.note(faint("  Every restore test also runs the engine's built-in checks (docs/checks.md)."));
  return { checks, notProposed, tried: true };
}

/** A template's checks, with the tables' names at the source. */
function fromTemplate(
  call: Call,
  engine: string,
  template: CheckTemplate | null,
  metadata: SourceMetadata | null,
): ProposedCheck[] {
  const { terminal } = call;
  const names = metadata === null ? [] : tablesOfMetadata(metadata).map(({ name }) => name);
  if (template === null) {
    const known = CHECK_TEMPLATES.find(
      (each) => each.engines.includes(engine) && prefixAmong(each, names) !== null,
    );
    if (known !== undefined)
      terminal.note(`  This looks like ${known.application}: --template ${known.name} adds checks for it.`);
    return [];
  }
  const found = prefixAmong(template, names);
  if (found === null && metadata !== null)
    terminal.say(
      `${terminal.onTalk.warn("!")} no tables of ${template.application} were seen: try its checks with attestore check try`,
    );
  return templateChecks(template, givenPrefix(call, template) ?? found ?? template.prefix);
}

function addSource(document: Document, name: string, entry: Readonly<Record<string, unknown>>): void {
  const sources: unknown = document.get("sources");
  if (!isMap(sources)) document.set("sources", document.createNode({}));
  // Otherwise YAML would continue `sources: {}` on one line.
  else if (sources.items.length === 0) sources.flow = false;
  document.setIn(["sources", name], document.createNode(entry));
}

/**
 * Writes the secret first, so that config.yaml never names a missing file. A crash in between
 * leaves a file that nothing names.
 */
async function make(
  { signal, terminal }: Call,
  { layout }: OpenRoot,
  edit: ConfigEdit,
  secret: DescribedSource["secret"],
): Promise<void> {
  using _ = await takeWorkLock(layout, "source add", { signal, wait: true, say: terminal.say });
  // If somebody added the same name in the meantime, their secret stays.
  await edit.requireCurrent();
  if (secret === null) return await edit.write();
  const file = join(layout.root, secret.file);
  const isNew = !existsSync(file);
  await replaceFile(file, `${secret.text}\n`);
  try {
    await edit.write();
  } catch (error) {
    // If config.yaml is as it was, nothing names the password.
    if (isNew && (await isCurrent(edit))) await removeFile(file);
    throw error;
  }
}

async function isCurrent(edit: ConfigEdit): Promise<boolean> {
  try {
    await edit.requireCurrent();
    return true;
  } catch {
    return false;
  }
}

/**
 * Tells the service, as every heartbeat does. If the service can't be reached, the next heartbeat
 * tells it.
 */
async function register(
  { terminal, signal }: Call,
  { layout, config }: OpenRoot,
  name: string,
): Promise<boolean> {
  if (config.service === null || config.agent === null) return false;
  const attachment = await openAttachment(layout, config);
  try {
    await resolveSourceId(attachment, await readConfig(layout.config, layout.root), name, { signal });
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof UserError)) throw error;
    terminal.say(`${terminal.onTalk.warn("!")} not registered yet: ${error.message}`);
    return false;
  } finally {
    attachment.service.close();
  }
}
