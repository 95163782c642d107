import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { Value } from "typebox/value";
import { type Document, LineCounter, parseDocument, visit, type YAMLParseError } from "yaml";
import { ConfigFile, type Defaults } from "./config-schema.ts";
import { normalRecipient } from "../crypto/recipient.ts";
import { credentialPath } from "../secrets/credential.ts";
import { type ConfigIssue, excerptOf } from "./config-excerpt.ts";
import { harmlessSpans, type Span } from "./harmless-spans.ts";
import { positionOf, type ConfigPath } from "./config-position.ts";
import { schemaIssues } from "./schema-issues.ts";
import { reportContradictions } from "./contradictions.ts";
import { layoutOf } from "../state/layout.ts";
import { DEFAULT_LIMITS, parseLimits } from "./source-limits.ts";
import { readText } from "../state/read-json.ts";
import { parseSourceConfig, SourceConfigError, type SourceConfig } from "./source-config.ts";
import { standaloneConfig, type StandaloneConfig } from "./storage-config.ts";
import { uploadConfig, type UploadConfig } from "./upload-config.ts";
import { UserError } from "../errors/user-error.ts";

/** How every message about a field begins that this program does not know. */
const UNKNOWN_FIELD = /^(is )?not a (known )?field/;

/** config.yaml, validated; paths are absolute. */
export interface Config {
  /** Null until the host is attached. */
  readonly service: { readonly url: URL; readonly caFile: string | null } | null;
  /** Null unless this root deliberately has no service. */
  readonly standalone: StandaloneConfig | null;
  readonly upload: UploadConfig;
  readonly agent: { readonly id: string; readonly orgId: string; readonly name: string | null } | null;
  readonly recipients: readonly string[];
  readonly identityFiles: readonly string[];
  readonly defaults: Defaults;
  /** Whether people of the organisation may add sources and checks over the service. */
  readonly allowRemoteConfig: boolean;
  /** Absolute: directories below which they may pick files and SQLite databases. */
  readonly remoteConfigPaths: readonly string[];
  readonly sources: ReadonlyMap<string, SourceConfig>;
  /** By the source's name: whose backups of it this host tests and restores besides its own. */
  readonly testFor: ReadonlyMap<string, TrustedMakers>;
}

/** The agents of other hosts whose signed receipts count here. */
export interface TrustedMakers {
  /** Fingerprints of signing keys, as `ssh-keygen -lf` prints them. */
  readonly keys: readonly string[];
  /** Which of their sources it is; null if the name that they sign is enough. */
  readonly sourceId: string | null;
}

/** All mistakes in config.yaml, in the order of the file. */
export class ConfigError extends UserError {
  readonly issues: readonly ConfigIssue[];
  /** The message with each mistake's line and a caret: for this host, never for the service. */
  readonly shown: string;

  /** `harmless`: what in the text may be shown, if it could be parsed. */
  constructor(file: string, issues: readonly ConfigIssue[], text: string, harmless: readonly Span[] = []) {
    const ordered = issues.toSorted((a, b) => a.line - b.line || a.column - b.column);
    const told = ordered.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
    super("config_invalid", told.join("\n"));
    this.name = "ConfigError";
    this.issues = ordered;
    this.shown = ordered.map((issue, at) => `${told[at]}\n${excerptOf(text, issue, harmless)}`).join("\n");
  }
}

/**
 * @throws ConfigError; UserError config_invalid if there is no such file, root_unusable if it can't
 * be read.
 */
export async function readConfig(file: string, root: string): Promise<Config> {
  // Whoever reads a pipe waits for its writer.
  if ((await stat(file).catch(() => null))?.isFIFO() === true)
    throw new UserError("root_unusable", `${file} is a pipe: it must be a file`);
  const text = await readText(file);
  if (text === null) {
    throw new UserError(
      "config_invalid",
      `${file} does not exist. Attach this host with \`attestore init --service URL\`.`,
    );
  }
  return parseConfig(text, file, root);
}

const MAX_CONFIG_CHARACTERS = 1024 * 1024;

/**
 * `file` is only for messages; relative paths in the text are relative to `root`. @throws
 * ConfigError
 */
export function parseConfig(text: string, file: string, root: string): Config {
  if (text.length > MAX_CONFIG_CHARACTERS)
    throw new ConfigError(file, [{ line: 1, column: 1, message: "is larger than 1 MiB" }], text);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    throw new ConfigError(
      file,
      document.errors.map((error) => {
        const { line, col } = lines.linePos(error.pos[0]);
        return { line, column: col, message: withoutQuotation(error) };
      }),
      text,
    );
  }
  const issues: ConfigIssue[] = [];
  const report = (path: ConfigPath, message: string): void => {
    issues.push({
      ...positionOf(document, lines, path),
      message: `${formatPath(path)}${message}`,
      isUnknownField: UNKNOWN_FIELD.test(message),
    });
  };

  const value = withoutEmptyBlocks(valueOf(document, lines, file, text));
  const isValid = Value.Check(ConfigFile, value);
  // Finding a fault takes far longer than seeing that there is none.
  if (!isValid) for (const issue of schemaIssues(value)) report(issue.path, issue.message);
  if (issues.length > 0 || !isValid) throw new ConfigError(file, issues, text, harmlessSpans(document));

  const limits = parseLimits(value.limits, DEFAULT_LIMITS, (field, message) =>
    report(field === "" ? ["limits"] : ["limits", field], message),
  );
  const sources = new Map<string, SourceConfig>();
  for (const [slug, entry] of Object.entries(value.sources ?? {})) {
    try {
      sources.set(slug, parseSourceConfig(slug, entry, root, limits));
    } catch (error) {
      if (!(error instanceof SourceConfigError)) throw error;
      for (const issue of error.issues) report(sourcePath(slug, issue.path), issue.message);
    }
  }
  reportContradictions(value, report);
  const upload = uploadConfig(value.upload ?? {}, (path, message) => report(["upload", ...path], message));
  if (issues.length > 0) throw new ConfigError(file, issues, text, harmlessSpans(document));

  const { service, standalone, agent, encryption } = value;
  return {
    service:
      service === undefined
        ? null
        : {
            url: new URL(service.url),
            caFile: service.ca_file === undefined ? null : resolve(root, service.ca_file),
          },
    standalone:
      standalone === undefined ? null : standaloneConfig(standalone, root, layoutOf(root).storedBackups),
    upload,
    agent: agent === undefined ? null : { id: agent.id, orgId: agent.org_id, name: agent.name ?? null },
    recipients: (encryption?.recipients ?? []).map(normalRecipient),
    identityFiles: (encryption?.identity_files ?? []).map((path) => identityFile(path, root)),
    defaults: value.defaults ?? {},
    allowRemoteConfig: value.allow_remote_config ?? false,
    remoteConfigPaths: (value.remote_config_paths ?? []).map((path) => resolve(path)),
    sources,
    testFor: new Map(
      Object.entries(value.test_for ?? {}).map(([slug, { keys, source_id }]) => [
        slug,
        { keys, sourceId: source_id ?? null },
      ]),
    ),
  };
}

/** @throws ConfigError for an alias without a target, and for more aliases than anybody writes */
function valueOf(document: Document.Parsed, lines: LineCounter, file: string, text: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    let offset = 0;
    visit(document, {
      Alias: (_, alias) => {
        if (alias.resolve(document) !== undefined) return undefined;
        offset = alias.range?.[0] ?? 0;
        return visit.BREAK;
      },
    });
    const { line, col } = lines.linePos(offset);
    throw new ConfigError(file, [{ line, column: col, message: withoutQuotation(error) }], text);
  }
}

/** The parser's message without the text that it quotes, which may be a secret. */
function withoutQuotation({ message }: YAMLParseError | ReferenceError): string {
  return message.replace(/(?<=[\w)]):\s[\s\S]*$/, "").replace(/(?<=^Invalid escape sequence)[\s\S]*$/, "");
}

/** A path, or a systemd credential. */
function identityFile(text: string, root: string): string {
  const name = /^credential:(.*)$/s.exec(text)?.[1];
  return name === undefined ? resolve(root, text.replace(/^file:/, "")) : credentialPath(name);
}

/** `sources:` with nothing below it means the same as no `sources:` at all. */
function withoutEmptyBlocks(value: unknown): unknown {
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, block]) => block !== null));
}

/** `sources.<slug>.checks[0].expect` of parseSourceConfig as a path. */
function sourcePath(slug: string, path: string): ConfigPath {
  const rest = path.slice(`sources.${slug}`.length);
  const steps = [...rest.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index));
  return ["sources", slug, ...steps];
}

function formatPath(path: ConfigPath): string {
  if (path.length === 0) return "";
  const steps = path.map((step, at) =>
    typeof step === "number"
      ? `[${step}]`
      : `${at === 0 ? "" : "."}${/^[\w-]{1,64}$/.test(step) ? step : "…"}`,
  );
  return `${steps.join("")} `;
}
